"""The static part of a timeline, which does not depend on the moment: layout, bands, rows, blocks and axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
from msgspec import Struct, field
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen, QPixmap, QPolygonF

from ....tracer.hardware.moment_clock import MomentClock
from ....tracer.model.array_types import Ints
from ...model.session import Session
from ...widgets.patterns import image
from ...widgets.theme import Theme
from ..common.activity import BlockActivity, block_activity
from ..common.drawing import LEFT, MIDDLE, clipped
from ..common.wording import block_text, phase_text, plural
from .axis import draw_axis
from .image import Codes, rows_image, strip_pixels
from .stretched import stretched_image
from .timeline_layout import MomentRange, TimelineLayout

PARTS = 8, 8, 14, 15  # pixels: the height of strip, handle, bands, axis
SLIM = 6, 7, 14, 3  # the same for a lecture, without the numbers of the axis
ROW = 22  # pixels: the largest height of a warp's row
NAMES = 105, 150  # pixels: the smallest and the largest width of the names at the left
MARK = 6  # pixels: the width of the marker at the selected warp's row
SHORTEST = 16  # pixels: the smallest width for a label
CROWDED = 4  # pixels: narrower phases are drawn without the line of their barrier


class TimelineViewData(Struct, frozen=True, eq=False):
    """The data of the static part of a timeline."""

    session: Session  # the session of the launch
    block: BlockActivity  # the selected block
    codes: Codes  # (warps, moments), the activity of its warps
    lane: Ints  # (blocks,), the lane of each in the strip
    warp: int  # the selected warp
    title: str  # of the launch; after a comma its difference from the other pane's launch
    cycles: Mapping[int, int] = field(default_factory=dict)  # measured cycles by phase of the block
    measured: str = ""  # the GPU and date of the measurement
    stretch_problem: str = ""  # the reason why moments are not stretched as requested


def height_without_rows(theme: Theme, slim: bool = False) -> int:
    """Compute the height of everything except the rows, in logical pixels."""
    return sum(map(theme.px, (5, *(SLIM if slim else PARTS), 1)))


def rows_height(warps: int, theme: Theme) -> int:
    """Compute the preferred height of the rows: 12 pixels for each of 2 warps, 8 for each of 8, 3 for each of 32."""
    return max(min(theme.px(66), theme.px(8 + 8 * warps)), 3 * warps)


def timeline_layout(
    size: QSize,
    warps: int,
    x_range: MomentRange,
    theme: Theme,
    ratio: float,
    slim: bool = False,
    clock: MomentClock | None = None,
) -> TimelineLayout:
    """Compute the layout in a widget of this size; each row gets an integer number of device pixels.

    clock: stretches the moments; None makes all equally wide.
    """
    left, top = theme.px(min(max(NAMES[0], 0.1 * size.width() / theme.scale), NAMES[1])), theme.px(5)
    width = max(1.0, size.width() - left - theme.px(12))
    strip, handle, band, axis = map(theme.px, SLIM if slim else PARTS)
    available = min(size.height() - height_without_rows(theme, slim), warps * theme.px(ROW))
    rows_height = max(2, math.floor(available * ratio / warps)) * warps / ratio
    y = top + strip + handle + band
    return TimelineLayout(
        QRectF(left, top, width, strip), QRectF(left, top + strip, width, handle),
        QRectF(left, top + strip + handle, width, band),
        QRectF(left, y, width, rows_height), QRectF(left, y + rows_height, width, axis), x_range, clock,
    )  # fmt: skip


def draw_static_picture(
    draw: Callable[[QPainter, float], None],
    size: QSize,
    theme: Theme,
    ratio: float,
    below: QPixmap | None = None,
) -> QPixmap:
    """Draw a part of a timeline over a copy of `below`, at `ratio` device pixels per logical pixel."""
    if below is not None:
        pixmap = below.copy()
    else:
        pixmap = QPixmap(QSize(math.ceil(size.width() * ratio), math.ceil(size.height() * ratio)))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(theme.colour("panel"))
    painter = QPainter(pixmap)
    draw(painter, ratio)
    painter.end()
    return pixmap


def draw_static(
    painter: QPainter, data: TimelineViewData, layout: TimelineLayout, theme: Theme, ratio: float
) -> None:
    """Draw the static part of a timeline; images have `ratio` device pixels per logical pixel."""
    draw_shared(painter, data, layout, theme, ratio)
    draw_block(painter, data, layout, theme, ratio)


def draw_shared(
    painter: QPainter, data: TimelineViewData, layout: TimelineLayout, theme: Theme, ratio: float
) -> None:
    """Draw the part that all blocks share: the title, the selected warp and the strip of all blocks."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _draw_title(painter, data, layout, theme)
    _draw_strip(painter, data, layout.strip, theme, ratio)


def draw_block(
    painter: QPainter, data: TimelineViewData, layout: TimelineLayout, theme: Theme, ratio: float
) -> None:
    """Draw the selected block over the shared part: its name, bar in the strip, warps, phases and moments."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _draw_name(painter, data, layout, theme)
    _draw_position(painter, data, layout, theme)
    _draw_rows(painter, data, layout, theme, ratio)
    _draw_bands(painter, data, layout, theme, ratio)
    if layout.axis.height() > theme.px(SLIM[-1]):
        draw_axis(painter, layout, data.measured if layout.clock is not None else data.stretch_problem, theme)


def _device_size(rect: QRectF, ratio: float) -> tuple[int, int]:
    return max(1, round(rect.width() * ratio)), max(1, round(rect.height() * ratio))


def _name_box(layout: TimelineLayout, top: float, theme: Theme) -> QRectF:
    """Compute the box of a line of text at the left of strip and rows."""
    left = theme.px(12)
    return QRectF(left, top, layout.rows.left() - left - theme.px(MARK + 5), theme.px(16))


def _draw_name(painter: QPainter, data: TimelineViewData, layout: TimelineLayout, theme: Theme) -> None:
    """Write the block's name at the left of the strip."""
    box = _name_box(layout, layout.strip.center().y() - theme.px(16) / 2, theme)
    block, small = theme.translate(block_text(data.session.trace, data.block.block)), theme.font(10.5)
    if QFontMetricsF(small).horizontalAdvance(block) > box.width():
        block = block.removeprefix("work-")
    _draw_text(painter, box, block, small, theme, "muted")


def _draw_title(painter: QPainter, data: TimelineViewData, layout: TimelineLayout, theme: Theme) -> None:
    """Write the title at the left of the rows, in as many lines as fit, and mark the selected warp."""
    small, bold, line = theme.font(10.5), theme.font(13, bold=True), theme.px(16)
    top, bottom = layout.handle.top(), layout.axis.bottom()
    lines = name_lines(data, int((bottom - top) / line), _name_box(layout, top, theme).width(), theme)
    middle = (layout.rows.top() + layout.rows.bottom()) / 2 - len(lines) * line / 2
    top = min(max(top, middle), bottom - len(lines) * line)
    for number, (text, is_title) in enumerate(lines):
        box = _name_box(layout, top + number * line, theme)
        _draw_text(painter, box, text, bold if is_title else small, theme, "text" if is_title else "muted")
    if data.session.trace.warps > 1:
        row = layout.rows.height() / len(data.codes)
        middle = layout.rows.top() + (data.warp + 0.5) * row
        _draw_marker(painter, QPointF(layout.rows.left() - theme.px(2), middle), theme)


def name_lines(data: TimelineViewData, limit: int, width: float, theme: Theme) -> list[tuple[str, bool]]:
    """Break the title, the details after its comma and the selected warp into at most `limit` lines.

    Each line is (text, whether it belongs to the title itself); the last line of a text may exceed the width.
    """
    return _name_lines(data.title, data.warp, data.session.trace.warps, limit, width, theme)


@lru_cache(maxsize=16)  # all blocks have the same lines
def _name_lines(
    name: str, warp: int, warps: int, limit: int, width: float, theme: Theme
) -> list[tuple[str, bool]]:
    warp_text = f"warp {warp} of 0–{warps - 1}" if warps > 1 else plural(warps, "warp")
    title, comma, rest = name.partition(", ")
    bold, small = QFontMetricsF(theme.font(13, bold=True)), QFontMetricsF(theme.font(10.5))
    below = [(theme.translate(warp_text), False)]
    title_limit = max(1, limit - len(below) - bool(comma))
    titles = _wrap_words(title, bold, width, title_limit)
    details = _wrap_at_commas(rest, small, width, max(1, limit - len(below) - len(titles))) if comma else []
    return [*((text, True) for text in titles), *((text, False) for text in details), *below][: max(1, limit)]


def _wrap_at_commas(text: str, metrics: QFontMetricsF, width: float, limit: int) -> list[str]:
    """Break a text into at most `limit` lines, at commas if the parts fit, else between words."""
    lines: list[str] = []
    for part in text.split(", "):
        longer = f"{lines[-1]}, {part}" if lines else part
        if lines and (metrics.horizontalAdvance(longer) <= width or len(lines) >= limit):
            lines[-1] = longer
        else:
            lines += _wrap_words(part, metrics, width, limit - len(lines))
    return lines


def _wrap_words(text: str, metrics: QFontMetricsF, width: float, limit: int) -> list[str]:
    """Break a text between words into at most `limit` lines; the last line takes the rest."""
    lines, words = [""], text.split(" ")
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(lines) < limit and metrics.horizontalAdvance(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _draw_marker(painter: QPainter, tip: QPointF, theme: Theme) -> None:
    """Draw the marker of the selected warp's row."""
    width, half = theme.px(MARK), theme.px(MARK) * 0.75
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("text"))
    left = tip.x() - width
    painter.drawPolygon(QPolygonF([tip, QPointF(left, tip.y() - half), QPointF(left, tip.y() + half)]))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _draw_text(painter: QPainter, box: QRectF, text: str, font: QFont, theme: Theme, colour: str) -> None:
    painter.setFont(font)
    painter.setPen(theme.colour(colour))
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(box.width()))
    painter.drawText(box, LEFT | MIDDLE, shown)


def _draw_strip(painter: QPainter, data: TimelineViewData, strip: QRectF, theme: Theme, ratio: float) -> None:
    requests = data.session.requests
    start, end = requests.block_spans
    key = _device_size(strip, ratio), theme, ratio
    pixels = strip_pixels(start, end, data.lane, max(1, requests.end), *key)
    box = QRectF(strip.topLeft(), QPointF(strip.right(), strip.top() + len(pixels) / ratio))
    painter.drawImage(box, image(pixels))


def _draw_position(painter: QPainter, data: TimelineViewData, layout: TimelineLayout, theme: Theme) -> None:
    """Draw the selected block in the strip, and a frame around the moments that the rows show."""
    strip, moments = layout.strip, max(1, data.session.requests.end)
    if data.block.present:
        painter.fillRect(block_bar(data, strip, data.block.block), theme.colour("accent"))
    shown = _strip_part(strip, layout.x_range[0] - 1, layout.x_range[1] - 1, moments, 5).adjusted(
        -1, -1.5, 1, 1.5
    )
    painter.setPen(QPen(theme.colour("text"), 1.2))
    painter.drawRoundedRect(shown, 2, 2)


def block_bar(data: TimelineViewData, strip: QRectF, block: int) -> QRectF:
    """Compute the bar of a block in the strip; empty for a block that the trace does not hold."""
    activity = data.block if data.block.block == block else block_activity(data.session, block)
    if not activity.present:
        return QRectF()
    first, last = activity.span
    rows = int(data.lane.max()) + 1
    lane = int(data.lane[np.searchsorted(data.session.trace.blocks, block)])
    bar = _strip_part(strip, first - 1, last, max(1, data.session.requests.end), 3)
    height = max(strip.height() / rows, 2.0)
    top = min(strip.top() + strip.height() * lane / rows, strip.bottom() - height)
    return QRectF(bar.left(), top, bar.width(), height)


def _strip_part(strip: QRectF, first: float, last: float, moments: int, minimum: float) -> QRectF:
    """Compute the part of the strip for the moments first < m <= last, at least `minimum` pixels wide."""
    left, right = (strip.left() + strip.width() * min(max(m / moments, 0), 1) for m in (first, last))
    return QRectF(left, strip.top(), max(right - left, minimum), strip.height())


def _draw_rows(
    painter: QPainter, data: TimelineViewData, layout: TimelineLayout, theme: Theme, ratio: float
) -> None:
    warps = len(data.codes)
    width, height = _device_size(layout.rows, ratio)
    size = width, max(2, height // warps) * warps
    if layout.clock is not None:
        first = data.block.span[0]
        painter.drawImage(
            layout.rows, stretched_image(data.codes, first, layout.x_range, layout.clock, size, theme, ratio)
        )
        return
    begin, end = layout.x_range
    # Relative to the block's start, so that similar blocks share a cached image.
    bounds = round(begin - data.block.span[0], 6), round(end - begin, 6)
    painter.drawImage(layout.rows, rows_image(data.codes.tobytes(), warps, *bounds, size, theme, ratio))
    if not data.block.present:
        _draw_text(
            painter,
            layout.bands.adjusted(4, 0, 0, 0),
            theme.translate("The trace holds no accesses of this block."),
            theme.font(10.5, bold=True),
            theme,
            "muted",
        )


def _draw_bands(
    painter: QPainter, data: TimelineViewData, layout: TimelineLayout, theme: Theme, ratio: float
) -> None:
    block, font = data.block, theme.font(10.5, bold=True)
    metrics, muted = QFontMetricsF(font), theme.colour("muted")
    painter.setFont(font)
    with clipped(painter, layout.bands.united(layout.rows)):
        for phase in _visible_phases(block, layout) if block.present else ():
            painter.setPen(muted)
            _draw_band(painter, data, layout, theme, ratio, phase, metrics)


def _visible_phases(block: BlockActivity, layout: TimelineLayout) -> list[int]:
    """List the visible phases with room for a label or the line of a barrier."""
    left, right = layout.all_x(block.start + 1), layout.all_x(block.end + 1)
    is_visible = (right > layout.rows.left()) & (left < layout.rows.right())
    return np.flatnonzero(is_visible & (right - left >= CROWDED)).tolist()


def _draw_band(
    painter: QPainter,
    data: TimelineViewData,
    layout: TimelineLayout,
    theme: Theme,
    ratio: float,
    phase: int,
    metrics: QFontMetricsF,
) -> None:
    """Draw a phase's label, in the painter's font and pen, and the line of its barrier."""
    block, rows = data.block, layout.rows
    left, right = layout.x(float(block.start[phase] + 1)), layout.x(float(block.end[phase] + 1))
    cycles = data.cycles.get(phase) if layout.clock is not None else None
    room = max(left, rows.left()), right
    if room[1] - room[0] >= SHORTEST and (
        label := band_label(data.session, block, phase, *room, metrics, cycles)
    ):
        box = QRectF(max(left, rows.left()) + 4, layout.bands.top(), rows.width(), layout.bands.height())
        painter.drawText(box, LEFT | MIDDLE, label)
    if block.arrived[:, phase].any() and right - left >= CROWDED:
        painter.fillRect(_barrier_line(layout, right, ratio), theme.colour("text"))


def _barrier_line(layout: TimelineLayout, x: float, ratio: float) -> QRectF:
    """Compute the line of a barrier, aligned to device pixels, before the next phase's first pixel."""
    narrow = layout.column(layout.moment(x - 1 / ratio)) * ratio < 1
    right = (math.floor(x * ratio) if narrow else math.ceil(x * ratio - 0.5)) / ratio
    width = max(1, round(1.6 * ratio)) / ratio
    top = layout.bands.top() + 2
    return QRectF(right - width, top, width, layout.rows.bottom() - top)


def band_label(
    session: Session,
    block: BlockActivity,
    phase: int,
    left: float,
    right: float,
    metrics: QFontMetricsF,
    cycles: int | None = None,
) -> str:
    """Return the label of a phase, its first word or "", whichever fits between two positions.

    cycles: measured on a GPU, added to the label if they fit; None for a timeline of moments.
    """
    label = phase_text(session.scenario, phase, block.phases).label
    with_cycles = [f"{label}: {cycles_text(cycles)}", f"{label}: {cycles:,}"] if cycles is not None else []
    texts = (*with_cycles, label, label.split()[0])
    return next((t for t in texts if metrics.horizontalAdvance(t) + 8 <= right - left), "")


def cycles_text(cycles: int) -> str:
    """Format measured cycles in words."""
    return f"{plural(cycles, 'cycle')} \u00b7 measured"
