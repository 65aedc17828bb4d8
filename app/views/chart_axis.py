"""The axes of a chart: lines of the grid, numbers, what they are, and the marks of where they come from."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt

from ..charts.figure import Axis
from .chart_ink import Ink
from .chart_ticks import Scale, powers_of_two, tick_text, ticks

APART = 64  # pixels between two numbers, about


def axis_height(ink: Ink) -> float:
    """Return the height of the numbers and the label below a plot."""
    return ink.height(12) + ink.height(13) + ink.px(14)


def _values(ink: Ink, axis: Axis, scale: Scale, apart: float) -> list[float]:
    """Return where ticks stand, in the axis's values."""
    count = int(abs(scale.end - scale.start) / ink.px(apart))
    if axis.label.startswith("N"):
        powers = powers_of_two(scale.low, scale.high)
        return powers[:: max(1, -(-len(powers) // max(count, 1)))]
    unit = axis.per_unit
    return [tick * unit for tick in ticks(scale.low / unit, scale.high / unit, axis.log, count)]


def draw_axis(ink: Ink, axis: Axis, scale: Scale, plot: QRectF, below: QRectF) -> None:
    """Draw the horizontal axis of a plot; `below` says how far its label may reach to both sides."""
    for value in _values(ink, axis, scale, APART):
        x = scale.at(value)
        ink.line(x, plot.top(), x, plot.bottom())
        text = tick_text(value / axis.per_unit)
        width = ink.width(text, 12) + 2
        box = QRectF(x - width / 2, plot.bottom() + ink.px(4), width, ink.height(12))
        ink.text(box, text, 12, ink="muted", align=Qt.AlignmentFlag.AlignHCenter)
    ink.line(plot.left(), plot.bottom(), plot.right(), plot.bottom(), "muted")
    y = plot.bottom() + ink.px(10) + ink.height(12) + ink.height(13) / 2
    label_width = _label_width(ink, axis)
    left = max(below.left(), min(plot.left(), below.right() - label_width))
    _draw_label(ink, axis, QPointF(left, y))


def draw_upright_axis(ink: Ink, axis: Axis, scale: Scale, plot: QRectF) -> None:
    """Draw the vertical axis of a plot, its label above it."""
    for value in _values(ink, axis, scale, 38):
        y = scale.at(value)
        ink.line(plot.left(), y, plot.right(), y)
        text = tick_text(value / axis.per_unit)
        width = ink.width(text, 12) + 2
        box = QRectF(plot.left() - width - ink.px(8), y - ink.height(12) / 2, width, ink.height(12))
        ink.text(box, text, 12, ink="muted", align=Qt.AlignmentFlag.AlignRight)
    ink.line(plot.left(), plot.top(), plot.left(), plot.bottom(), "muted")


def draw_upright_label(ink: Ink, axis: Axis, box: QRectF) -> None:
    """Write what a vertical axis shows into a line above its plot."""
    _draw_label(ink, axis, QPointF(box.left(), box.center().y()))


def number_width(ink: Ink, axis: Axis, scale: Scale) -> float:
    """Return the room that the numbers of a vertical axis take."""
    texts = [tick_text(value / axis.per_unit) for value in _values(ink, axis, scale, 38)]
    return max((ink.width(text, 12) for text in texts), default=0) + ink.px(12)


def _texts(axis: Axis) -> tuple[str, list[str]]:
    label = f"{axis.label}, {axis.unit}" if axis.unit else axis.label
    label += " (log)" if axis.log else ""
    return label, [": ".join(filter(None, (what, mark))) for mark, what in axis.marks]


def _label_width(ink: Ink, axis: Axis) -> float:
    label, marks = _texts(axis)
    return ink.width(label) + sum(ink.width(mark, 11) + ink.px(16) for mark in marks) + ink.px(4)


def _draw_label(ink: Ink, axis: Axis, place: QPointF) -> None:
    label, marks = _texts(axis)
    width = ink.width(label) + 2
    ink.text(QRectF(place.x(), place.y() - ink.height() / 2, width, ink.height()), label)
    x = place.x() + width + ink.px(8)
    for mark in marks:
        x += ink.badge(QPointF(x, place.y()), mark) + ink.px(6)
