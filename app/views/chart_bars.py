"""A panel of bars: names at the left, bars with their samples and intervals, values at the right."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPen

from ..charts.figure import Bar, Bars, Published
from ..charts.wording import time_text
from .chart_axis import axis_height, draw_axis
from .chart_ink import Ink, draw_sign, wrapped
from .chart_ticks import Scale, log_range

BAR, LEAST = 40, 15  # pixels of a bar, and of the smallest pitch
ROW = 44  # pixels that a bar with its name would like to have
LEVELS = 13  # heights at which the dots of a bar stand
FAR = 0.98  # the share of a bar's samples that its axis must hold
Hits = list[tuple[QRectF, str]]


@dataclass(frozen=True)
class Rows:
    """The places of a panel: where the names, the plot and the values stand, and how high a bar's row is."""

    names: QRectF
    plot: QRectF
    values: QRectF
    pitch: float


def height_of(panel: Bars, ink: Ink) -> float:
    """Return the height that a panel would like to have."""
    return len(panel.bars) * ink.px(ROW) + axis_height(ink)


def draw_bars(ink: Ink, panel: Bars, box: QRectF) -> Hits:
    """Draw a panel in a box and return what is to be told where."""
    rows = _rows(ink, panel, box)
    scale = _scale(panel, rows.plot)
    draw_axis(ink, panel.axis, scale, rows.plot, QRectF(box.left(), rows.plot.bottom(), box.width(), 0))
    hits: Hits = []
    for number, bar in enumerate(panel.bars):
        top = rows.plot.top() + number * rows.pitch
        first = number == 0 or panel.bars[number - 1].datum.name != bar.datum.name
        _draw_name(ink, bar, QRectF(rows.names.left(), top, rows.names.width(), rows.pitch), first)
        _draw_bar(ink, bar, scale, QRectF(rows.plot.left(), top, rows.plot.width(), rows.pitch))
        value = QRectF(rows.values.left(), top, rows.values.width(), rows.pitch)
        ink.text(value, bar.text, _size(ink, rows.pitch), bold=True, align=Qt.AlignmentFlag.AlignRight)
        hits.append((QRectF(box.left(), top, box.width(), rows.pitch), told(bar, panel)))
    if panel.reference is not None:
        x = scale.at(panel.reference)
        ink.line(x, rows.plot.top(), x, rows.plot.bottom(), "text", 1.5)
    return hits


def told(bar: Bar, panel: Bars) -> str:
    """Return a bar in words."""
    name = ", ".join(filter(None, (bar.datum.name, bar.part)))
    if panel.axis.label != "time":
        return f"{name}: {bar.text} (95 % interval {bar.low:.3g} to {bar.high:.3g})\n{bar.datum.origin}, measured"
    ends = f"95 % interval {time_text(bar.low)} to {time_text(bar.high)}, {len(bar.datum.samples):,} samples"
    lines = [f"{name}: {bar.text}", ends, f"{bar.datum.origin}, measured"]
    return "\n".join([*lines, *(f"published: {mark.told}" for mark in bar.published)])


def _size(ink: Ink, pitch: float) -> float:
    """Return the size of a row's text: smaller where there are many rows."""
    return 13 * min(1.0, pitch / ink.px(LEAST))


def _rows(ink: Ink, panel: Bars, box: QRectF) -> Rows:
    bars = panel.bars
    names = max((ink.width(bar.datum.name, bold=True) for bar in bars), default=0)
    parts = max((ink.width(bar.part, 12) for bar in bars), default=0)
    left = min(max(names, parts) + ink.px(14), 0.4 * box.width())
    right = max((ink.width(bar.text, bold=True) for bar in bars), default=0) + ink.px(14)
    plot = QRectF(box.left() + left, box.top(), box.width() - left - right, box.height() - axis_height(ink))
    pitch = min(plot.height() / max(len(bars), 1), ink.px(120))
    plot.setHeight(pitch * max(len(bars), 1))
    beside = QRectF(box.left(), box.top(), left - ink.px(14), plot.height())
    return Rows(beside, plot, QRectF(plot.right(), box.top(), right, plot.height()), pitch)


def _scale(panel: Bars, plot: QRectF) -> Scale:
    """Return an axis that holds the intervals, nearly all samples and what was published."""
    ends = [1.0] if panel.reference else []
    for bar in panel.bars:
        ordered = sorted(bar.dots)
        far = [ordered[int(share * (len(ordered) - 1))] for share in (1 - FAR, FAR)] if ordered else []
        ends += [bar.low, bar.high, *far, *(mark.microseconds for mark in bar.published)]
    if panel.axis.log:
        return Scale(*log_range(ends or [1.0], 1.4), plot.left(), plot.right(), True)
    return Scale(0.0, 1.04 * max(ends, default=1.0), plot.left(), plot.right())


def beyond(panel: Bars) -> int:
    """Return how many samples lie outside the axis."""
    scale = _scale(panel, QRectF(0, 0, 1, 1))
    return sum(not scale.low <= sample <= scale.high for bar in panel.bars for sample in bar.dots)


def _draw_name(ink: Ink, bar: Bar, box: QRectF, first: bool) -> None:
    size = _size(ink, box.height())
    right = Qt.AlignmentFlag.AlignRight
    both = bar.part and box.height() >= ink.height(size) + ink.height(size - 1)
    if both and first:
        half = ink.height(size) / 2
        ink.text(box.translated(0, -half + ink.px(1)), bar.datum.name, size, bold=True, align=right)
        ink.text(box.translated(0, half - ink.px(1)), bar.part, size - 1, ink="muted", align=right)
    elif first and not bar.part:
        _draw_lines(ink, bar.datum.name, box, size)
    elif first:
        ink.text(box, f"{bar.datum.name}, {bar.part}", size, bold=True, align=right)
    else:
        ink.text(box, bar.part or bar.datum.name, size - bool(both), ink="muted", align=right)


def _draw_lines(ink: Ink, name: str, box: QRectF, size: float) -> None:
    """Write a name, in two lines where it is too long and there is room."""
    lines = wrapped(ink, name, box.width(), size, bold=True)
    high = ink.height(size)
    if len(lines) < 2 or box.height() < 2 * high:
        lines = [name]
    shown = [lines[0], " ".join(lines[1:])] if len(lines) > 1 else lines
    for number, line in enumerate(shown):
        place = box.translated(0, (number - (len(shown) - 1) / 2) * high)
        ink.text(place, line, size, bold=True, align=Qt.AlignmentFlag.AlignRight)


def _draw_bar(ink: Ink, bar: Bar, scale: Scale, row: QRectF) -> None:
    colour, painter = ink.colour(bar.slot), ink.painter
    below = ink.height(12) if bar.published and _is_roomy(ink, row) else 0.0
    high = min(0.62 * row.height(), ink.px(BAR), row.height() - below - ink.px(8))
    top = row.center().y() - (high + below) / 2
    body = QRectF(scale.start, top, scale.at(bar.value) - scale.start, high)
    tint = QColor(colour)
    tint.setAlphaF(0.28)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(tint)
    painter.drawRect(body)
    _draw_dots(ink, bar, scale, body, colour)
    _draw_median(ink, bar, scale, body, colour)
    for mark in bar.published:
        _draw_published(ink, mark, scale, row, body)


def _draw_dots(ink: Ink, bar: Bar, scale: Scale, body: QRectF, colour: QColor) -> None:
    """Draw every sample at its value, spread over the bar's height; dots that would cover each other once."""
    inside = [(n, value) for n, value in enumerate(bar.dots) if scale.low <= value <= scale.high]
    step = body.height() / (LEVELS + 1)
    places = {
        (round(2 * scale.at(value)) / 2, body.top() + step * (1 + n * 5 % LEVELS)): None
        for n, value in inside
    }
    tint = QColor(colour)
    tint.setAlphaF(0.55)
    ink.painter.setPen(Qt.PenStyle.NoPen)
    ink.painter.setBrush(tint)
    for place in places:
        ink.painter.drawEllipse(QPointF(*place), ink.px(1.5), ink.px(1.5))


def _draw_median(ink: Ink, bar: Bar, scale: Scale, body: QRectF, colour: QColor) -> None:
    x, y, reach = body.right(), body.center().y(), body.height() * 0.22
    ink.painter.setPen(QPen(colour, ink.px(2.5)))
    ink.painter.drawLine(QLineF(x, body.top(), x, body.bottom()))
    low, high = scale.at(max(bar.low, scale.low)), scale.at(bar.high)
    ink.painter.setPen(QPen(ink.theme.colour("text"), ink.px(1.4)))
    for line in (QLineF(low, y, high, y), *(QLineF(e, y - reach, e, y + reach) for e in (low, high))):
        ink.painter.drawLine(line)


def _draw_published(ink: Ink, mark: Published, scale: Scale, row: QRectF, body: QRectF) -> None:
    """Draw a diamond where somebody else's figure lies, with whose it is beside it where there is room."""
    roomy, x = _is_roomy(ink, row), scale.at(mark.microseconds)
    y = body.bottom() + ink.height(12) / 2 + ink.px(2) if roomy else row.center().y()
    ink.painter.setPen(QPen(ink.theme.colour("panel"), ink.px(1)))
    ink.painter.setBrush(ink.theme.colour("text"))
    draw_sign(ink.painter, "diamond", QPointF(x, y), ink.px(5))
    if roomy:
        away, width = ink.px(10), ink.width(mark.told, 12) + 2
        left = x + away if x + away + width <= scale.end else x - away - width
        ink.text(QRectF(left, y - ink.height(12) / 2, width, ink.height(12)), mark.told, 12)


def _is_roomy(ink: Ink, row: QRectF) -> bool:
    """Whether a line of text fits below a bar."""
    return row.height() > ink.px(36)
