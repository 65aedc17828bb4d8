"""What of a timeline stands still while the moment moves: its places, bands, rows, blocks and axis."""

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
from .places import MomentRange, TimelineLayout
from .stretched import stretched_image

PARTS = 8, 8, 14, 15  # pixels: the height of strip, handle, bands, axis
SLIM = 6, 7, 14, 3  # the same for a lecture, without the numbers of the axis
ROW = 22  # pixels: the largest height of a warp's row
NAMES = 105, 150  # pixels: the least and the largest width of the names at the left
MARK = 6  # pixels: the width of the mark at the selected warp's row
SHORTEST = 16  # pixels that a label needs
CROWDED = 4  # pixels; a phase that has less goes without the line of its barrier


class TimelineViewData(Struct, frozen=True, eq=False):
    """Everything that the still part of a timeline shows."""

    session: Session  # whose launch it is
    block: BlockActivity  # the selected block
    codes: Codes  # (warps, moments), what each warp of it does
    lane: Ints  # (blocks,), the lane of each in the strip
    warp: int  # the selected one
    title: str  # of the launch; after a comma what tells it from another
    cycles: Mapping[int, int] = field(default_factory=dict)  # measured, of the block's phases
    measured: str = ""  # on which GPU and when
    by_moments: str = ""  # why moments are not stretched, where they are to be


def beside_rows(theme: Theme, slim: bool = False) -> int:
    """Return the height that all but the rows takes, in logical pixels."""
    return sum(map(theme.px, (5, *(SLIM if slim else PARTS), 1)))


def rows_height(warps: int, theme: Theme) -> int:
    """Return the height that so many warps are to have: 2 have 12 pixels each, 8 have 8, and 32 have 3."""
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
    """Return the places in a widget of this size; the rows get a whole number of device pixels each.

    clock: what the moments are stretched by, None where all are equally wide.
    """
    left, top = theme.px(min(max(NAMES[0], 0.1 * size.width() / theme.scale), NAMES[1])), theme.px(5)
    width = max(1.0, size.width() - left - theme.px(12))
    strip, handle, band, axis = map(theme.px, SLIM if slim else PARTS)
    room = min(size.height() - beside_rows(theme, slim), warps * theme.px(ROW))
    tall = max(2, math.floor(room * ratio / warps)) * warps / ratio
    y = top + strip + handle + band
    return TimelineLayout(
        QRectF(left, top, width, strip), QRectF(left, top + strip, width, handle),
        QRectF(left, top + strip + handle, width, band),
        QRectF(left, y, width, tall), QRectF(left, y + tall, width, axis), x_range, clock,
    )  # fmt: skip


def still_picture(
    draw: Callable[[QPainter, float], None],
    size: QSize,
    theme: Theme,
    ratio: float,
    below: QPixmap | None = None,
) -> QPixmap:
    """Return what `draw` draws of a timeline, sharp at `ratio` device pixels to a logical one, over what is below."""
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


def draw_still(
    painter: QPainter, data: TimelineViewData, at: TimelineLayout, theme: Theme, ratio: float
) -> None:
    """Draw the still part of a timeline; of what is made of pixels, `ratio` are drawn to a logical one."""
    draw_shared(painter, data, at, theme, ratio)
    draw_block(painter, data, at, theme, ratio)


def draw_shared(
    painter: QPainter, data: TimelineViewData, at: TimelineLayout, theme: Theme, ratio: float
) -> None:
    """Draw what is the same for every block: the title, the selected warp and the strip of all blocks."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _draw_title(painter, data, at, theme)
    _draw_strip(painter, data, at.strip, theme, ratio)


def draw_block(
    painter: QPainter, data: TimelineViewData, at: TimelineLayout, theme: Theme, ratio: float
) -> None:
    """Draw the selected block over that: its name, its place in the strip, its warps, phases and moments."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _draw_name(painter, data, at, theme)
    _draw_place(painter, data, at, theme)
    _draw_rows(painter, data, at, theme, ratio)
    _draw_bands(painter, data, at, theme, ratio)
    if at.axis.height() > theme.px(SLIM[-1]):
        draw_axis(painter, at, data.measured if at.clock is not None else data.by_moments, theme)


def _device(rect: QRectF, ratio: float) -> tuple[int, int]:
    return max(1, round(rect.width() * ratio)), max(1, round(rect.height() * ratio))


def _name_box(at: TimelineLayout, top: float, theme: Theme) -> QRectF:
    """Return where a line of text stands beside strip and rows."""
    left = theme.px(12)
    return QRectF(left, top, at.rows.left() - left - theme.px(MARK + 5), theme.px(16))


def _draw_name(painter: QPainter, data: TimelineViewData, at: TimelineLayout, theme: Theme) -> None:
    """Write the block beside the strip."""
    box = _name_box(at, at.strip.center().y() - theme.px(16) / 2, theme)
    block, small = theme.say(block_text(data.session.trace, data.block.block)), theme.font(10.5)
    if QFontMetricsF(small).horizontalAdvance(block) > box.width():
        block = block.removeprefix("work-")
    _text(painter, box, block, small, theme, "muted")


def _draw_title(painter: QPainter, data: TimelineViewData, at: TimelineLayout, theme: Theme) -> None:
    """Write the title beside the rows, over as many lines as there is room for, and mark the selected warp."""
    small, bold, line = theme.font(10.5), theme.font(13, bold=True), theme.px(16)
    top, bottom = at.handle.top(), at.axis.bottom()
    lines = name_lines(data, int((bottom - top) / line), _name_box(at, top, theme).width(), theme)
    middle = (at.rows.top() + at.rows.bottom()) / 2 - len(lines) * line / 2
    top = min(max(top, middle), bottom - len(lines) * line)
    for place, (text, is_title) in enumerate(lines):
        box = _name_box(at, top + place * line, theme)
        _text(painter, box, text, bold if is_title else small, theme, "text" if is_title else "muted")
    if data.session.trace.warps > 1:
        row = at.rows.height() / len(data.codes)
        middle = at.rows.top() + (data.warp + 0.5) * row
        _draw_mark(painter, QPointF(at.rows.left() - theme.px(2), middle), theme)


def name_lines(data: TimelineViewData, most: int, width: float, theme: Theme) -> list[tuple[str, bool]]:
    """Return at most so many lines of a title and what follows its comma, and the selected of the warps.

    Each is (text, whether it is of the title itself); the last line of a text may be too long for the width.
    """
    return _name_lines(data.title, data.warp, data.session.trace.warps, most, width, theme)


@lru_cache(maxsize=16)  # of one block they are those of the others
def _name_lines(
    name: str, warp: int, warps: int, most: int, width: float, theme: Theme
) -> list[tuple[str, bool]]:
    which = f"warp {warp} of {warps}" if warps > 1 else plural(warps, "warp")
    title, comma, rest = name.partition(", ")
    bold, small = QFontMetricsF(theme.font(13, bold=True)), QFontMetricsF(theme.font(10.5))
    below = [(theme.say(which), False)]
    room = max(1, most - len(below) - bool(comma))
    titles = _wrapped(title, bold, width, room)
    more = _parted(rest, small, width, max(1, most - len(below) - len(titles))) if comma else []
    return [*((text, True) for text in titles), *((text, False) for text in more), *below][: max(1, most)]


def _parted(text: str, metrics: QFontMetricsF, width: float, most: int) -> list[str]:
    """Return a text over at most so many lines, broken at its commas where its parts fit, else between words."""
    lines: list[str] = []
    for part in text.split(", "):
        longer = f"{lines[-1]}, {part}" if lines else part
        if lines and (metrics.horizontalAdvance(longer) <= width or len(lines) >= most):
            lines[-1] = longer
        else:
            lines += _wrapped(part, metrics, width, most - len(lines))
    return lines


def _wrapped(text: str, metrics: QFontMetricsF, width: float, most: int) -> list[str]:
    """Return a text over at most so many lines, broken between words; the last takes all that is left."""
    lines, words = [""], text.split(" ")
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(lines) < most and metrics.horizontalAdvance(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _draw_mark(painter: QPainter, tip: QPointF, theme: Theme) -> None:
    """Draw what points at the row of the selected warp."""
    wide, half = theme.px(MARK), theme.px(MARK) * 0.75
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("text"))
    left = tip.x() - wide
    painter.drawPolygon(QPolygonF([tip, QPointF(left, tip.y() - half), QPointF(left, tip.y() + half)]))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _text(painter: QPainter, box: QRectF, text: str, font: QFont, theme: Theme, colour: str) -> None:
    painter.setFont(font)
    painter.setPen(theme.colour(colour))
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(box.width()))
    painter.drawText(box, LEFT | MIDDLE, shown)


def _draw_strip(painter: QPainter, data: TimelineViewData, strip: QRectF, theme: Theme, ratio: float) -> None:
    requests = data.session.requests
    start, end = requests.block_spans
    key = _device(strip, ratio), theme, ratio
    pixels = strip_pixels(start, end, data.lane, max(1, requests.end), *key)
    box = QRectF(strip.topLeft(), QPointF(strip.right(), strip.top() + len(pixels) / ratio))
    painter.drawImage(box, image(pixels))


def _draw_place(painter: QPainter, data: TimelineViewData, at: TimelineLayout, theme: Theme) -> None:
    """Draw the selected block in the strip, and which part of the launch the rows show."""
    strip, moments = at.strip, max(1, data.session.requests.end)
    if data.block.present:
        painter.fillRect(bar_of(data, strip, data.block.block), theme.colour("accent"))
    shown = _along(strip, at.x_range[0] - 1, at.x_range[1] - 1, moments, 5).adjusted(-1, -1.5, 1, 1.5)
    painter.setPen(QPen(theme.colour("text"), 1.2))
    painter.drawRoundedRect(shown, 2, 2)


def bar_of(data: TimelineViewData, strip: QRectF, block: int) -> QRectF:
    """Return where the bar of a block stands in the strip; empty for one that the trace does not hold."""
    activity = data.block if data.block.block == block else block_activity(data.session, block)
    if not activity.present:
        return QRectF()
    first, last = activity.span
    rows = int(data.lane.max()) + 1
    lane = int(data.lane[np.searchsorted(data.session.trace.blocks, block)])
    bar = _along(strip, first - 1, last, max(1, data.session.requests.end), 3)
    tall = max(strip.height() / rows, 2.0)
    top = min(strip.top() + strip.height() * lane / rows, strip.bottom() - tall)
    return QRectF(bar.left(), top, bar.width(), tall)


def _along(strip: QRectF, first: float, last: float, moments: int, minimum: float) -> QRectF:
    """Return the part of the strip that the moments first < m <= last take, at least so many pixels wide."""
    a, b = (strip.left() + strip.width() * min(max(m / moments, 0), 1) for m in (first, last))
    return QRectF(a, strip.top(), max(b - a, minimum), strip.height())


def _draw_rows(
    painter: QPainter, data: TimelineViewData, at: TimelineLayout, theme: Theme, ratio: float
) -> None:
    warps = len(data.codes)
    width, height = _device(at.rows, ratio)
    size = width, max(2, height // warps) * warps
    if at.clock is not None:
        first = data.block.span[0]
        painter.drawImage(
            at.rows, stretched_image(data.codes, first, at.x_range, at.clock, size, theme, ratio)
        )
        return
    begin, end = at.x_range
    # so that blocks that do the same have one picture
    placed = round(begin - data.block.span[0], 6), round(end - begin, 6)
    painter.drawImage(at.rows, rows_image(data.codes.tobytes(), warps, *placed, size, theme, ratio))
    if not data.block.present:
        _text(
            painter,
            at.bands.adjusted(4, 0, 0, 0),
            theme.say("The trace holds no accesses of this block."),
            theme.font(10.5, bold=True),
            theme,
            "muted",
        )


def _draw_bands(
    painter: QPainter, data: TimelineViewData, at: TimelineLayout, theme: Theme, ratio: float
) -> None:
    block, font = data.block, theme.font(10.5, bold=True)
    metrics, muted = QFontMetricsF(font), theme.colour("muted")
    painter.setFont(font)
    with clipped(painter, at.bands.united(at.rows)):
        for phase in _wide_phases(block, at) if block.present else ():
            painter.setPen(muted)
            _draw_band(painter, data, at, theme, ratio, phase, metrics)


def _wide_phases(block: BlockActivity, at: TimelineLayout) -> list[int]:
    """Return the phases in sight that have room for a label or the line of a barrier: of hundreds often none."""
    left, right = at.all_x(block.start + 1), at.all_x(block.end + 1)
    seen = (right > at.rows.left()) & (left < at.rows.right())
    return np.flatnonzero(seen & (right - left >= CROWDED)).tolist()


def _draw_band(
    painter: QPainter,
    data: TimelineViewData,
    at: TimelineLayout,
    theme: Theme,
    ratio: float,
    phase: int,
    metrics: QFontMetricsF,
) -> None:
    """Draw a phase's label, in the painter's font and pen, and the line of its barrier."""
    block, rows = data.block, at.rows
    left, right = at.x(float(block.start[phase] + 1)), at.x(float(block.end[phase] + 1))
    cycles = data.cycles.get(phase) if at.clock is not None else None
    room = max(left, rows.left()), right
    if room[1] - room[0] >= SHORTEST and (
        label := band_label(data.session, block, phase, *room, metrics, cycles)
    ):
        box = QRectF(max(left, rows.left()) + 4, at.bands.top(), rows.width(), at.bands.height())
        painter.drawText(box, LEFT | MIDDLE, label)
    if block.arrived[:, phase].any() and right - left >= CROWDED:
        painter.fillRect(_barrier(at, right, ratio), theme.colour("text"))


def _barrier(at: TimelineLayout, x: float, ratio: float) -> QRectF:
    """Return the line of a barrier: whole device pixels that leave the next phase's first one free."""
    narrow = at.column(at.moment(x - 1 / ratio)) * ratio < 1
    right = (math.floor(x * ratio) if narrow else math.ceil(x * ratio - 0.5)) / ratio
    width = max(1, round(1.6 * ratio)) / ratio
    top = at.bands.top() + 2
    return QRectF(right - width, top, width, at.rows.bottom() - top)


def band_label(
    session: Session,
    block: BlockActivity,
    phase: int,
    left: float,
    right: float,
    metrics: QFontMetricsF,
    cycles: int | None = None,
) -> str:
    """Return the label of a phase, or its first word, or nothing: what fits between two places.

    cycles: that it took on a GPU, which follow where there is room; None for a timeline of moments.
    """
    label = phase_text(session.scenario, phase, block.phases).label
    timed = [f"{label}: {cycles_text(cycles)}", f"{label}: {cycles:,}"] if cycles is not None else []
    texts = (*timed, label, label.split()[0])
    return next((t for t in texts if metrics.horizontalAdvance(t) + 8 <= right - left), "")


def cycles_text(cycles: int) -> str:
    """Return cycles that were measured, in words."""
    return f"{plural(cycles, 'cycle')} \u00b7 measured"
