"""Axes with round numbers in our units, and their labels with fidelity marks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf, log10

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from ...model.axis import Axis
from ...model.visible_text import escape_controls
from ...widgets.theme import Theme
from ..common.geometry import powers_of_two, tick_text, ticks
from .library import pg
from .style import pen_of

APART, UPRIGHT, BETWEEN = 64, 38, 10  # pixels: from number to number across and upright, and free between two
MINIMUM_TICKS = 4
LARGEST_EXPONENT = 300.0  # of a number on a logarithmic axis


class UnitAxis(pg.AxisItem):
    """An axis with a line across the plot at each number. pyqtgraph's own logarithmic ticks are powers of ten only."""

    def __init__(self, orientation: str, axis: Axis, theme: Theme) -> None:
        super().__init__(orientation)
        self.axis, self.theme = axis, theme
        self.metrics = QFontMetricsF(theme.font(12))
        self.enableAutoSIPrefix(False)
        self.setPen(pen_of(theme, "muted"))
        self.setTextPen(theme.colour("muted"))
        self.setTickPen(pen_of(theme, "border"))
        self.setTickFont(theme.font(12))
        self.setGrid(255)
        self.setStyle(
            tickLength=0,
            tickAlpha=255,
            tickTextOffset=theme.px(6 if orientation == "left" else 3),
            maxTextLevel=0,
        )
        if orientation == "bottom":
            self.setHeight(self.metrics.height() + theme.px(4))

    def boundingRect(self) -> QRectF:
        """Return the area with room for the numbers at both ends."""
        room = self.theme.px(40)
        return QRectF(super().boundingRect()).adjusted(-room, -room, room, room)

    def value_of(self, place: float) -> float:
        """Return the value at a coordinate of the view."""
        return coordinate_value(self.axis, place)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Return as many round numbers as fit, as coordinates of the view."""
        return [(1.0, [coordinate_of(self.axis, value) for value in self.values(low, high, size)])]

    def values(self, low: float, high: float, size: float) -> list[float]:
        """Return the values with ticks between two coordinates of the view."""
        low, high = sorted((self.value_of(low), self.value_of(high)))
        if self.axis.values:
            return self._fitting([v for v in self.axis.values if low <= v <= high], low, high, size)
        apart = UPRIGHT if self.orientation == "left" else APART
        values = self._round(low, high, size, apart)
        if self.orientation == "left" or not values:
            return values
        widest = max(self._width(value) for value in values)
        values = self._round(low, high, size, max(APART, widest / self.theme.scale + BETWEEN))
        while self._least_gap(values, low, high, size) < widest + self.theme.px(BETWEEN):
            values = values[::2]
        return values

    def _round(self, low: float, high: float, size: float, apart: float) -> list[float]:
        """Return powers of two, or multiples of 1, 2 or 5 times a power of ten."""
        count = max(MINIMUM_TICKS, int(size / (apart * self.theme.scale)))
        if self.axis.doubles and high > 0:
            powers = powers_of_two(max(low, 1e-9), high)
            if len(powers) > 1:
                return powers[:: -(-len(powers) // count) or 1]
        unit = self.axis.per_unit
        return [tick * unit for tick in ticks(low / unit, high / unit, self.axis.log, count)]

    def _pixels(self, values: Sequence[float], low: float, high: float, size: float) -> list[float]:
        start, end = (coordinate_of(self.axis, value) for value in (low, high))
        return [(coordinate_of(self.axis, value) - start) / (end - start) * size for value in values]

    def _least_gap(self, values: Sequence[float], low: float, high: float, size: float) -> float:
        return min((b - a for a, b in pairwise(self._pixels(values, low, high, size))), default=inf)

    def _fitting(self, values: list[float], low: float, high: float, size: float) -> list[float]:
        """Return those of the axis's own values whose numbers don't touch."""
        shown, taken = [], -inf
        for value, middle in zip(values, self._pixels(values, low, high, size), strict=True):
            half = self._width(value) / 2
            if middle - half >= taken:
                shown.append(value)
                taken = middle + half + self.theme.px(BETWEEN)
        return shown

    def _width(self, value: float) -> float:
        return self.metrics.horizontalAdvance(tick_text(value / self.axis.per_unit))

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """Return decimal numbers without exponents."""
        return [tick_text(self.value_of(value) / self.axis.per_unit) for value in values]

    def fit_width(self, low: float, high: float, size: float) -> None:
        """Take the width that the numbers between two coordinates of the view need."""
        widths = [self._width(value) for value in self.values(low, high, size)]
        self.setWidth(max(widths, default=0.0) + self.theme.px(12))

    def paint(self, painter: QPainter, option: object, widget: object) -> None:
        """Draw without the QPicture in between, so that files get text as text."""
        painter.save()
        specs = self.generateDrawSpecs(painter)
        if specs is not None:
            self.drawPicture(painter, *specs)
        painter.restore()


def coordinate_of(axis: Axis, value: float) -> float:
    """Return the coordinate of a value in the view: its logarithm on a logarithmic axis."""
    return log10(value) if axis.log else value


def coordinate_value(axis: Axis, place: float) -> float:
    """Return the value at a coordinate of the view."""
    return float(10 ** min(max(place, -LARGEST_EXPONENT), LARGEST_EXPONENT)) if axis.log else place


class AxisLabel(pg.GraphicsWidget):
    """The quantity and the unit of an axis, followed by badges that state the source of its numbers."""

    def __init__(self, axis: Axis, theme: Theme) -> None:
        super().__init__()
        self.theme, self.axis = theme, axis
        self.metrics, self.small = QFontMetricsF(theme.font(13)), QFontMetricsF(theme.font(11))
        label = f"{axis.label}, {axis.unit}" if axis.unit not in ("", "×") else axis.label
        self.label = escape_controls(label + " (log)" * axis.log)
        self.badges = [escape_controls(": ".join(filter(None, (part, mark)))) for mark, part in axis.marks]
        self.full_width = self._label_width() + sum(map(self._badge_width, self.badges))

    def _label_width(self) -> float:
        return self.metrics.horizontalAdvance(self.label) + self.theme.px(12)

    def _badge_width(self, text: str) -> float:
        return self.small.horizontalAdvance(text) + self.theme.px(16)

    def _lines(self, width: float) -> list[list[tuple[str, float]]]:
        """Wrap label and badges; return the texts and widths of each line."""
        pieces = [
            (self.label, self._label_width()),
            *((text, self._badge_width(text)) for text in self.badges),
        ]
        lines: list[list[tuple[str, float]]] = [[]]
        for text, own in pieces:
            if lines[-1] and sum(used for _, used in lines[-1]) + own > width + self.theme.px(6):
                lines.append([])
            lines[-1].append((text, own))
        return lines

    def height_for(self, width: float) -> float:
        """Return the height of the lines in this width."""
        return len(self._lines(width)) * (self.metrics.height() + self.theme.px(3))

    def paint(self, painter: QPainter, option: object, widget: object) -> None:
        """Draw the label and its badges."""
        step = self.metrics.height() + self.theme.px(3)
        for number, line in enumerate(self._lines(self.size().width())):
            x, middle = 0.0, (number + 0.5) * step
            for index, (text, width) in enumerate(line):
                is_badge = number > 0 or index > 0
                box = QRectF(x, middle - step / 2, width, step)
                if is_badge:
                    self._draw_badge(painter, text, QPointF(x, middle))
                else:
                    painter.setFont(self.theme.font(13))
                    painter.setPen(self.theme.colour("text"))
                    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
                x += width

    def _draw_badge(self, painter: QPainter, text: str, place: QPointF) -> None:
        theme = self.theme
        width, height = self._badge_width(text) - theme.px(6), self.small.height() + theme.px(2)
        box = QRectF(place.x(), place.y() - height / 2, width, height)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("badge"))
        painter.drawRoundedRect(box, theme.px(4), theme.px(4))
        painter.setFont(theme.font(11))
        painter.setPen(theme.colour("muted"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
