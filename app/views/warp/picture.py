"""The picture of a warp's request: a widget that draws it and tells what the pointer is on."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ....tracer.model.trace import WARP
from ...widgets.theme import Theme
from ..common.exchange_paint import LANES, ExchangeData, draw_exchange
from ..common.geometry import Box
from ..common.view import guarded
from .lanes import Lanes
from .layout import WarpLayout, warp_layout
from .paint import paint_captions, paint_legend, paint_scene
from .scene import CAPTION, FOOT, WarpScene, column_widths

MINIMUM_ROW, MOST_ROW = 5.5, 19.0  # heights of a lane


class WarpPicture(QWidget):
    """32 lanes and what they touch.

    lane_asked: a lane was clicked. pointed: (lane, sector or bank), -1 for none, under the pointer.
    """

    lane_asked = Signal(int)
    pointed = Signal(int, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.lanes: Lanes | None = None
        self.exchange: ExchangeData | None = None
        self.chosen, self.lane, self.target = -1, -1, -1
        self.bright = frozenset[int]()
        self._layout: tuple[object, WarpLayout] | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Lanes and the memory that they touch")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_lanes(self, lanes: Lanes | None, chosen: int) -> None:
        """Draw these lanes, with the selected one framed; -1 for none."""
        if lanes is not self.lanes:
            self._point(-1, -1)
        self.lanes, self.chosen = lanes, chosen
        self.update()

    def light(self, lanes: frozenset[int]) -> None:
        """Let these lanes stand out while the pointer is elsewhere; without any all do."""
        if lanes != self.bright:
            self.bright = lanes
            self.update()

    def show_exchange(self, exchange: ExchangeData | None) -> None:
        """Draw what lanes give each other in place of a request; None for the request again."""
        self.exchange = exchange
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme, self._layout = theme, None
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the room in which every lane still has a few pixels; it takes what more there is."""
        return QSize(self.theme.px(180), self.theme.px(CAPTION + FOOT + WARP * MINIMUM_ROW))

    def minimumSizeHint(self) -> QSize:
        """Return the same."""
        return self.sizeHint()

    def layout_now(self) -> WarpLayout:
        """Return where everything stands; only while lanes are shown."""
        assert self.lanes
        key = (self.lanes, self.width(), self.height())
        if self._layout is None or self._layout[0] != key:
            top = float(self.theme.px(CAPTION))
            tall = min(self.height() - top - self.theme.px(FOOT), WARP * self.theme.px(MOST_ROW))
            row = min(tall / self.lanes.session.lanes, float(self.theme.px(MOST_ROW)))
            widths = column_widths(self.lanes, row, self.theme)
            self._layout = key, warp_layout(self.lanes, self.width(), top, tall, row, widths)
        return self._layout[1]

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the request."""
        if self.lanes is None:
            return
        painter = QPainter(self)
        if self.exchange is not None:
            high = min(float(self.height()), self.theme.px(17) * 1.6 * LANES)
            draw_exchange(painter, Box(0, 0, self.width() - 1, high), self.exchange, self.theme)
            painter.end()
            return
        scene = WarpScene(self.lanes, self.layout_now(), self.theme, self.chosen, *self._stressed())
        paint_scene(painter, scene)
        paint_captions(painter, scene)
        foot = scene.layout.bottom + self.theme.px(4)
        paint_legend(painter, scene, QRectF(0, foot, self.width(), self.theme.px(FOOT - 4)))
        if self.hasFocus():
            painter.setPen(self.theme.colour("accent"))
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()

    def _stressed(self) -> tuple[frozenset[int], frozenset[int]]:
        """Return the lanes under the pointer, and these with all that meet them, else those that stand out."""
        lanes, none = self.lanes, frozenset[int]()
        if lanes is not None and self.target >= 0:
            there = frozenset(lane for p in lanes.touched if p.target == self.target for lane in p.lanes)
            return there, there
        if lanes is None or self.lane < 0 or lanes.row[self.lane] < 0:
            return none, self.bright
        return frozenset([self.lane]), frozenset([self.lane, *lanes.beside(self.lane)])

    def _point(self, lane: int, target: int) -> None:
        if (lane, target) != (self.lane, self.target):
            self.lane, self.target = lane, target
            self.pointed.emit(lane, target)
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Stress what is under the pointer."""
        if self.lanes is not None and self.exchange is None:
            x, y = event.position().toTuple()
            lane, target = self.layout_now().lane_at(x, y), self.layout_now().target_at(x, y)
            self._point(-1 if lane is None else lane, -1 if target is None else target)

    def leaveEvent(self, event: QEvent) -> None:
        """Stress nothing."""
        self._point(-1, -1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Ask for the lane that was clicked, or for the first that touches the clicked place."""
        lane = self.lane_under(event.position())
        if lane >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.lane_asked.emit(lane)

    def lane_under(self, position: QPointF) -> int:
        """Return the lane with a thread at a position, -1 for none."""
        if self.lanes is None or self.exchange is not None:
            return -1
        x, y = position.toTuple()
        lane, piece = self.layout_now().lane_at(x, y), self.layout_now().slice_at(x, y)
        if lane is None and piece is not None:
            lane = self.lanes.touched[piece].lanes[0]
        return lane if lane is not None and self.lanes.present[lane] else -1

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ask for the lane above or below with Up and Down."""
        way = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        lane = self.chosen + way
        if way and self.lanes is not None and 0 <= lane < WARP and self.lanes.present[lane]:
            self.lane_asked.emit(lane)
        else:
            super().keyPressEvent(event)
