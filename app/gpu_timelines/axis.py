"""The time axis that the charts of all panes share, in microseconds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ..views.common.drawing import CENTRE, LEFT, MIDDLE, RIGHT, draw_text
from ..views.common.geometry import round_step, tick_text
from ..views.common.view import guard_handler
from ..widgets.theme import Theme
from .layout import FREE, NAMES, TimeRange
from .legend import LegendEntry, draw_legend, legend_width

HEIGHT = 34  # pixels
APART = 90  # approximate pixels between two numbers


class AxisRequests(NamedTuple):
    """What an axis calls when the user asks for something."""

    move: Callable[[float], object]  # by a share of the visible range
    zoom: Callable[[float, float], object]  # by a factor, around a centre in nanoseconds
    show_all: Callable[[], object]


class GpuAxis(QWidget):
    """The numbers below the charts. Dragging pans, the wheel zooms, and a double click shows everything.

    ask: called for what the user asks for.
    """

    def __init__(self, theme: Theme, ask: AxisRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ask = ask
        self.theme, self.origin = theme, ""
        self.span: TimeRange = (0.0, 1.0)
        self.legend: list[LegendEntry] = []
        self._drag_position: QPointF | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.SizeHorCursor)
        self.setAccessibleName("Microseconds")

    def show_range(self, span: TimeRange, origin: str) -> None:
        """Show a range in nanoseconds; `origin` describes where they start to count."""
        self.span, self.origin = span, origin
        self.update()

    def show_legend(self, entries: list[LegendEntry]) -> None:
        """Show the legend at the right."""
        self.legend = entries
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme = theme
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the room for the numbers and the legend."""
        return QSize(self.theme.px(300), self.theme.px(HEIGHT))

    def _plot(self) -> tuple[float, float]:
        left = self.theme.px(NAMES)
        return left, max(1.0, self.width() - left - self.theme.px(FREE))

    def ticks(self) -> list[float]:
        """List the microseconds that have a number."""
        first, last = (edge / 1000 for edge in self.span)
        step = round_step((last - first) * self.theme.px(APART) / self._plot()[1])
        return [n * step for n in range(math.ceil(first / step - 1e-9), math.floor(last / step + 1e-9) + 1)]

    @guard_handler
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the numbers, the unit and the legend."""
        painter, theme = QPainter(self), self.theme
        painter.fillRect(self.rect(), theme.colour("panel"))
        left, width = self._plot()
        muted, font = theme.colour("muted"), theme.font(10.5)
        painter.fillRect(QRectF(left, 0, width, 1), theme.colour("border"))
        painter.setFont(font)
        first, last = (edge / 1000 for edge in self.span)
        for tick in self.ticks():
            x = left + (tick - first) / (last - first) * width
            painter.fillRect(QRectF(x, 1, 1, theme.px(4)), muted)
            painter.setPen(muted)
            text = tick_text(tick)
            half = painter.fontMetrics().horizontalAdvance(text) / 2 + 2
            x = min(max(x, left + half), left + width - half) if tick else x
            painter.drawText(QRectF(x - half, theme.px(4), 2 * half, theme.px(14)), CENTRE, text)
        below = QRectF(left, theme.px(18), width, theme.px(15))
        room = below.width() - legend_width(self.legend, theme)
        draw_text(
            painter, below.adjusted(0, 0, room - below.width(), 0), self.origin, font, muted, LEFT | MIDDLE
        )
        draw_text(
            painter,
            QRectF(0, theme.px(4), left - theme.px(8), theme.px(14)),
            "µs",
            font,
            muted,
            RIGHT | MIDDLE,
        )
        draw_legend(painter, self.legend, below, theme)
        painter.end()

    @guard_handler
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start to pan."""
        self._drag_position = event.position()

    @guard_handler
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan the charts."""
        if self._drag_position is not None:
            share = (self._drag_position.x() - event.position().x()) / self._plot()[1]
            self._drag_position = event.position()
            self.ask.move(share)

    @guard_handler
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stop panning."""
        self._drag_position = None

    @guard_handler
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show everything."""
        self.ask.show_all()

    @guard_handler
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer."""
        left, width = self._plot()
        first, last = self.span
        around = first + (event.position().x() - left) / width * (last - first)
        self.ask.zoom(0.8 ** (event.angleDelta().y() / 120), around)
        event.accept()
