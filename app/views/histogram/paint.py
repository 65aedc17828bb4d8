"""Drawing functions of the histogram view: bars, stacked lanes, the lanes of a warp, axes, the legend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPolygonF

from ....tracer.model.array_types import Ints
from ....tracer.model.grouping import group_starts, positions_in_group
from ...widgets.patterns import mixed
from ...widgets.theme import Theme, contrasting
from ..common.colour_scales import HEAT
from ..common.dimming import shade
from ..common.drawing import (
    CENTRE,
    LEFT,
    MIDDLE,
    RIGHT,
    draw_badge,
    draw_hatch,
    draw_text,
    draw_veil,
    panel_line_colour,
    pen,
    rect,
    text_width,
)
from ..common.geometry import integer_step, round_step
from ..common.wording import count_text
from .bins import BinArray, CurrentAdditions
from .layout import HistogramLayout, Plot, bin_middle

LEGEND_TEXTS = (  # from the longest to the shortest: of the scale, which begins at 1, and of the lanes of the moment
    ("lanes that met in a bin: 1", "lanes adding now"),
    ("lanes in a bin: 1", "adding now"),
    ("lanes: 1", "now"),
)
HEADROOM = 0.86  # height of the largest count as a share of the field: lanes arrive from above the bars
SMALL = 10.5


class BarAxes(NamedTuple):
    """The axes of an array's chart: from bins and counts to pixels."""

    plot: Plot  # the chart's title and field
    bins: int  # the number of bins
    top: int  # the largest count

    def x(self, bins: NDArray[np.integer]) -> NDArray[np.float64]:
        """Compute the left edge of bins."""
        return self.plot.field.x + bins.astype(np.float64) * (self.plot.field.width / self.bins)

    def y(self, count: NDArray[np.number]) -> NDArray[np.float64]:
        """Compute the y of counts."""
        field = self.plot.field
        return np.asarray(field.bottom - np.maximum(count, 0) * (HEADROOM * field.height / self.top))


def contention_colour(lanes: int, warmest: int, theme: Theme) -> QColor:
    """Compute the colour of a number of lanes of one request in a bin: more lanes are stronger."""
    scale = HEAT["dark" if theme.name == "dark" else "light"]
    position = (lanes - 1) / max(warmest - 1, 1) * (len(scale) - 1)
    channels = (round(float(np.interp(position, range(len(scale)), scale[:, c]))) for c in range(3))
    return shade(QColor(*channels), theme)


def draw_bars(
    painter: QPainter, axes: BarAxes, bars: BinArray, counts: Ints, warmest: int, theme: Theme
) -> None:
    """Draw bars of these counts, coloured by the most lanes of one request that added to the bin.

    Bins narrower than a pixel share one.
    """
    field = axes.plot.field
    if (bars.values < 0).all():
        draw_hatch(painter, rect(field), theme)
        return
    share = max(1, int(np.ceil(axes.bins / max(field.width, 1))))
    first = np.arange(0, axes.bins, share)
    values, most = np.maximum.reduceat(counts, first), np.maximum.reduceat(bars.most, first)
    left, right, top = axes.x(first), axes.x(np.minimum(first + share, axes.bins)), axes.y(values)
    gap = 1.0 if right[0] - left[0] >= 4 else 0.0
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for lanes in np.unique(most).tolist():
        colour = contention_colour(lanes, warmest, theme) if lanes else theme.colour("cell_unread")
        for i in np.flatnonzero((most == lanes) & (values > 0)).tolist():
            box = QRectF(left[i], min(top[i], field.bottom - 1), right[i] - left[i] - gap, 0)
            box.setBottom(field.bottom)
            painter.fillRect(box, colour)


def draw_outline(painter: QPainter, axes: BarAxes, expected: Ints, theme: Theme) -> None:
    """Draw NumPy's counts as a line over the bars."""
    x = np.repeat(axes.x(np.arange(axes.bins + 1)), 2)[1:-1]
    y = np.repeat(axes.y(expected), 2)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen(theme.palette.muted, 1.0))
    painter.drawPolyline(QPolygonF([QPointF(*point) for point in zip(x.tolist(), y.tolist(), strict=True)]))


def draw_axes(
    painter: QPainter, axes: BarAxes, edges: tuple[float, float] | None, is_last: bool, theme: Theme
) -> None:
    """Draw the axis of counts at the left, and below the last chart the axis of bins."""
    field, small, muted = axes.plot.field, theme.font(SMALL), theme.colour("muted")
    line = QFontMetricsF(small).height()
    step = integer_step(axes.top, max(1.0, HEADROOM * field.height / (2.5 * line)))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for count in range(0, axes.top + 1, step):
        y = float(axes.y(np.array(count)))
        painter.setPen(pen(theme.palette.border, 1.0))
        painter.drawLine(QLineF(field.x, y, field.right, y))
        box = QRectF(0, y - line / 2, field.x - theme.px(5), line)
        draw_text(painter, box, count_text(count), small, muted, RIGHT | MIDDLE)
    for x, text in _ticks(axes, edges, theme) if is_last else ():
        painter.fillRect(QRectF(x, field.bottom, 1, theme.px(4)), muted)
        width = QFontMetricsF(small).horizontalAdvance(text) + 2
        left = min(max(x - width / 2, field.x), field.right - width)
        draw_text(painter, QRectF(left, field.bottom + theme.px(4), width, line), text, small, muted, LEFT)


def _ticks(axes: BarAxes, edges: tuple[float, float] | None, theme: Theme) -> list[tuple[float, str]]:
    """Compute the ticks of the bins as (x, text): the samples' values if known, else the bins' numbers."""
    field = axes.plot.field
    tick_count = max(2.0, field.width / theme.px(70))
    if edges is None:
        step = integer_step(axes.bins, tick_count)
        return [(bin_middle(field, axes.bins, i), count_text(i)) for i in range(0, axes.bins, step)]
    low, high = edges
    interval = round_step((high - low) / tick_count)
    marks = np.arange(np.ceil(low / interval), np.floor(high / interval) + 1) * interval
    positions = field.x + (marks - low) / (high - low) * field.width
    texts = [f"{mark:.6g}".replace("-", "−") for mark in marks.tolist()]
    return list(zip(positions.tolist(), texts, strict=True))


def draw_title(painter: QPainter, axes: BarAxes, bars: BinArray, theme: Theme) -> None:
    """Write the array's name and the sum of its counts."""
    title, counts = rect(axes.plot.title), bars.values[bars.values >= 0]
    array = theme.translate(bars.title)
    total = f"adds up to {count_text(int(counts.sum()))}" if len(counts) else "not written yet"
    total_width, bold = text_width(total, theme.font(12)), theme.font(12, bold=True)
    right = QRectF(title.right() - total_width - 2, title.top(), total_width + 2, title.height())
    left = title.adjusted(0, 0, -total_width - theme.px(8), 0)
    name_width = min(text_width(array, bold), left.width())
    for box in (right, QRectF(left.left(), left.top(), name_width, left.height())):
        draw_veil(painter, box, theme)
    draw_text(painter, right, total, theme.font(12), theme.colour("muted"), RIGHT | MIDDLE)
    draw_text(painter, left, array, bold, theme.colour("text"), MIDDLE)


class Towers(NamedTuple):
    """Boxes of the currently adding lanes, stacked from the earlier to the later count of their bin."""

    middle: NDArray[np.float64]  # (n, 2)
    width: float
    height: NDArray[np.float64]  # (n,), at least 1 pixel


def towers_of(axes: BarAxes, bars: BinArray, theme: Theme) -> Towers:
    """Stack the boxes of the moment's lanes, with the selected warp's lanes below the others.

    The lanes of a bin share the height by which its count grows, even if some of their additions are lost.
    """
    adding, field = bars.adding, axes.plot.field
    order = np.lexsort((adding.lane, ~adding.own, adding.bin))
    level = np.empty(len(order), np.int64)
    level[order] = positions_in_group(group_starts(adding.bin[order]), len(order))
    lanes = np.bincount(adding.bin, minlength=axes.bins)[adding.bin]
    low, high = axes.y(bars.before[adding.bin]), axes.y(bars.values[adding.bin])
    step = (low - high) / np.maximum(lanes, 1)
    height = np.maximum(step, 1.0)
    y = np.minimum(low - (level + 0.5) * step, field.bottom - height / 2)
    bin_width = field.width / axes.bins
    width = float(min(max(bin_width, theme.px(3)), theme.px(8)))
    return Towers(np.stack([axes.x(adding.bin) + bin_width / 2, y], axis=1), width, height)


def draw_towers(
    painter: QPainter,
    towers: Towers,
    adding: CurrentAdditions,
    start: NDArray[np.float64],
    progress: float,
    look: str,
    theme: Theme,
) -> None:
    """Draw the lanes of a moment on their way from `start` to their bins; progress: 0 to 1."""
    middle = start + (towers.middle - start) * progress
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    width = max(towers.width - (0.5 if towers.width > 3 else 0), 1)
    height = np.maximum(towers.height - np.where(towers.height > 3, 0.5, 0), 1)
    boxes = [
        QRectF(x - width / 2, y - box_height / 2, width, box_height)
        for (x, y), box_height in zip(middle.tolist(), height.tolist(), strict=True)
    ]
    for own, colour in ((False, mixed(theme.colour("panel"), theme.colour(look).name(), 0.4)),
                        (True, theme.colour(look))):  # fmt: skip
        for i in np.flatnonzero(adding.own == own).tolist():
            painter.fillRect(boxes[i], colour)
    for i in np.flatnonzero(adding.chosen).tolist():
        painter.setPen(pen(theme.palette.text, 1.5))
        painter.drawRect(boxes[i].adjusted(-1, -1, 1, 1))


def draw_lane_lines(
    painter: QPainter,
    layout: HistogramLayout,
    adding: CurrentAdditions,
    ends: NDArray[np.float64],
    look: str,
    theme: Theme,
) -> None:
    """Draw a line from each lane of the selected warp to its bin, a bold one for the selected thread."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for chosen, width, alpha in ((False, 1.0, 110), (True, 2.0, 255)):
        painter.setPen(pen(panel_line_colour(look, theme), width, alpha))
        for i in np.flatnonzero(adding.own & (adding.chosen == chosen)).tolist():
            box = layout.lane(int(adding.lane[i]))
            painter.drawLine(QLineF(box.x + box.width / 2, box.bottom, *ends[i].tolist()))


def draw_lanes(
    painter: QPainter,
    layout: HistogramLayout,
    adding: CurrentAdditions,
    look: str,
    warmest: int,
    chosen: int,
    theme: Theme,
) -> None:
    """Draw the lanes of the selected warp, with the number of lanes that add to the same bin."""
    small, unit, lanes = theme.font(9.5), theme.px(1), layout.lanes
    line = QRectF(0, lanes.y, lanes.x - theme.px(5), lanes.height)
    draw_text(painter, line, "lanes", theme.font(SMALL), theme.colour("muted"), RIGHT | MIDDLE)
    together = dict(zip(adding.lane[adding.own].tolist(), adding.together[adding.own].tolist(), strict=True))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for lane in range(layout.drawn):
        box = rect(layout.lane(lane)).adjusted(0, 0, -unit, 0)
        count = together.get(lane, 0)
        colour = theme.colour("cell_unread") if not count else contention_colour(count, warmest, theme)
        painter.fillRect(box, colour)
        if count:
            painter.fillRect(
                QRectF(box.left(), box.bottom() - 2 * unit, box.width(), 2 * unit), theme.colour(look)
            )
        if count > 1 and box.width() >= theme.px(9):
            draw_text(painter, box, str(count), small, contrasting(colour), CENTRE)
        if lane == chosen:
            painter.setPen(pen(theme.palette.text, 1.5))
            painter.drawRect(box)


def draw_differing(painter: QPainter, axes: BarAxes, bins: Ints, theme: Theme) -> None:
    """Mark bins whose final counts are wrong below the axis."""
    field, side = axes.plot.field, theme.px(4)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("bad"))
    for index in bins.tolist():
        x = bin_middle(field, axes.bins, index)
        points = [
            QPointF(x, field.bottom),
            QPointF(x - side, field.bottom + 2 * side),
            QPointF(x + side, field.bottom + 2 * side),
        ]
        painter.drawPolygon(QPolygonF(points))


def draw_legend(
    painter: QPainter, box: QRectF, warmest: int, look: str, has_numpy: bool, mark: str, theme: Theme
) -> None:
    """Write the legend of the colours, and the mark of the numbers' source."""
    small, muted, gap, height = theme.font(12), theme.colour("muted"), theme.px(5), theme.px(10)
    x, y = box.left(), box.center().y() - height / 2

    def write_label(text: str) -> None:
        nonlocal x
        width = QFontMetricsF(small).horizontalAdvance(text)
        draw_text(painter, QRectF(x, box.top(), width + 1, box.height()), text, small, muted, MIDDLE)
        x += width + gap

    steps = max(warmest, 2) if warmest <= 8 else 8
    squares = steps * theme.px(7) + height + 6 * gap
    met, adding = next(
        (
            texts
            for texts in LEGEND_TEXTS
            if text_width(f"{texts[0]}{warmest}{texts[1]}", small) + squares <= box.width()
        ),
        LEGEND_TEXTS[-1],
    )
    write_label(met)
    for step in range(steps):
        lanes = 1 + step * (warmest - 1) / (min(max(warmest, 2), 8) - 1)
        painter.fillRect(QRectF(x, y, theme.px(7), height), contention_colour(round(lanes), warmest, theme))
        x += theme.px(7)
    x += gap
    write_label(f"{warmest}")
    x += gap
    painter.fillRect(QRectF(x, y + 1, height - 2, height - 2), theme.colour(look))
    x += height + gap
    write_label(adding)
    if has_numpy and box.right() - x > 5 * gap + text_width("NumPy", small):
        x += gap
        painter.setPen(pen(theme.palette.muted, 1.0))
        painter.drawPolyline(
            QPolygonF(
                [
                    QPointF(x, y + height),
                    QPointF(x + gap, y + height),
                    QPointF(x + gap, y),
                    QPointF(x + 3 * gap, y),
                ]
            )
        )
        x += 4 * gap
        write_label("NumPy")
    badge_width = QFontMetricsF(small).horizontalAdvance(mark) + theme.px(12)
    if box.right() - x > badge_width:
        badge = QRectF(x + gap, box.center().y() - theme.px(8), badge_width, theme.px(16))
        draw_badge(painter, badge, theme)
        draw_text(painter, badge, mark, small, muted, CENTRE)
