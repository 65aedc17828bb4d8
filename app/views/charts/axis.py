"""The axes of a chart: grid lines, numbers, labels, and marks of the source."""

from __future__ import annotations

from itertools import pairwise
from math import inf

from PySide6.QtCore import QPointF, QRectF, Qt

from ...charts.figure import Axis
from ..common.geometry import Scale, powers_of_two, tick_text, ticks
from .ink import Ink

APART, UPRIGHT = 64, 38  # approximate pixels between two numbers: of a horizontal axis, of a vertical one
MINIMUM_TICKS = 4  # numbers of an axis, if there is room
BETWEEN = 10  # pixels that stay free between two numbers
LabelPart = tuple[str, bool, float]  # a text, whether it is a mark, and its width


def axis_height(ink: Ink, axis: Axis, width: float) -> float:
    """Return the height of the numbers and the label below a plot, for a label of this width."""
    return ink.height(12) + ink.px(14) + label_height(ink, axis, width)


def label_height(ink: Ink, axis: Axis, width: float) -> float:
    """Return the height of an axis label with its marks, in lines of this width."""
    return len(_lines(ink, axis, width)) * _line_height(ink)


def _line_height(ink: Ink) -> float:
    return ink.height(13) + ink.px(3)


def _values(ink: Ink, axis: Axis, scale: Scale, apart: float) -> list[float]:
    """Return the values with ticks."""
    count = max(MINIMUM_TICKS, int(abs(scale.end - scale.start) / ink.px(apart)))
    if axis.doubles:
        powers = powers_of_two(scale.low, scale.high)
        return powers[:: -(-len(powers) // count) or 1]
    unit = axis.per_unit
    return [tick * unit for tick in ticks(scale.low / unit, scale.high / unit, axis.log, count)]


def _roomy_values(ink: Ink, axis: Axis, scale: Scale) -> list[float]:
    """Return the tick values of a horizontal axis, as many as fit."""
    if axis.values:
        return _fitting_values(ink, axis, scale)
    widest = max(ink.width(tick_text(v / axis.per_unit), 12) for v in _values(ink, axis, scale, APART))
    values = _values(ink, axis, scale, max(APART, widest / ink.px(1) + BETWEEN))
    while min(
        (scale.to_pixel(b) - scale.to_pixel(a) for a, b in pairwise(values)), default=inf
    ) < widest + ink.px(BETWEEN):
        values = values[::2]
    return values


def _fitting_values(ink: Ink, axis: Axis, scale: Scale) -> list[float]:
    """Return those of the axis's own values whose numbers don't touch."""
    shown: list[float] = []
    end = -inf
    for value in axis.values:
        width, middle = ink.width(tick_text(value / axis.per_unit), 12), scale.to_pixel(value)
        if middle - width / 2 >= end:
            shown.append(value)
            end = middle + width / 2 + ink.px(BETWEEN)
    return shown


def draw_axis(ink: Ink, axis: Axis, scale: Scale, plot: QRectF, below: QRectF) -> None:
    """Draw the horizontal axis of a plot; `below` limits the width of its label."""
    for value in _roomy_values(ink, axis, scale):
        x = scale.to_pixel(value)
        ink.line(x, plot.top(), x, plot.bottom())
        text = tick_text(value / axis.per_unit)
        width = ink.width(text, 12) + 2
        box = QRectF(x - width / 2, plot.bottom() + ink.px(4), width, ink.height(12))
        ink.text(box, text, 12, ink="muted", align=Qt.AlignmentFlag.AlignHCenter)
    ink.line(plot.left(), plot.bottom(), plot.right(), plot.bottom(), "muted")
    label_width = sum(width for *_, width in _pieces(ink, axis))
    left = max(below.left(), min(plot.left(), below.right() - label_width))
    top = plot.bottom() + ink.px(8) + ink.height(12)
    _draw_label(ink, axis, QRectF(left, top, below.right() - left, 0))


def draw_upright_axis(ink: Ink, axis: Axis, scale: Scale, plot: QRectF) -> None:
    """Draw the vertical axis of a plot, without its label."""
    for value in _values(ink, axis, scale, UPRIGHT):
        y = scale.to_pixel(value)
        ink.line(plot.left(), y, plot.right(), y)
        text = tick_text(value / axis.per_unit)
        width = ink.width(text, 12) + 2
        box = QRectF(plot.left() - width - ink.px(8), y - ink.height(12) / 2, width, ink.height(12))
        ink.text(box, text, 12, ink="muted", align=Qt.AlignmentFlag.AlignRight)
    ink.line(plot.left(), plot.top(), plot.left(), plot.bottom(), "muted")


def draw_upright_label(ink: Ink, axis: Axis, box: QRectF) -> None:
    """Write the label of a vertical axis above its plot."""
    _draw_label(ink, axis, box)


def number_width(ink: Ink, axis: Axis, scale: Scale) -> float:
    """Return the width of the numbers of a vertical axis."""
    texts = [tick_text(value / axis.per_unit) for value in _values(ink, axis, scale, UPRIGHT)]
    return max((ink.width(text, 12) for text in texts), default=0) + ink.px(12)


def _pieces(ink: Ink, axis: Axis) -> list[LabelPart]:
    """Return the label of an axis and its marks. The label of a ratio needs no unit."""
    label = f"{axis.label}, {axis.unit}" if axis.unit not in ("", "×") else axis.label
    label += " (log)" if axis.log else ""
    marks = [": ".join(filter(None, (quantity, mark))) for mark, quantity in axis.marks]
    widths = [(mark, True, ink.width(mark, 11) + ink.px(16)) for mark in marks]
    return [(label, False, ink.width(label) + ink.px(12)), *widths]


def _lines(ink: Ink, axis: Axis, width: float) -> list[list[LabelPart]]:
    """Wrap the parts of a label into lines of this width."""
    lines: list[list[LabelPart]] = [[]]
    for piece in _pieces(ink, axis):
        if lines[-1] and sum(used for *_, used in lines[-1]) + piece[2] > width + ink.px(6):
            lines.append([])
        lines[-1].append(piece)
    return lines


def _draw_label(ink: Ink, axis: Axis, box: QRectF) -> None:
    for number, line in enumerate(_lines(ink, axis, box.width())):
        x, y = box.left(), box.top() + (number + 0.5) * _line_height(ink)
        for text, is_mark, width in line:
            if is_mark:
                ink.badge(QPointF(x, y), text)
            else:
                ink.text(QRectF(x, y - ink.height() / 2, min(width, box.width()), ink.height()), text)
            x += width
