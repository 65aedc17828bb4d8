"""The widget that draws a request, and reports what the pointer is on."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ....tracer.model.trace import WARP
from ...model.nothing import nothing
from ...widgets.theme import Theme
from ..common.exchange_paint import LANES, ExchangeData, draw_exchange
from ..common.geometry import Box
from ..common.view import guard_handler
from .lanes import Lanes
from .layout import WarpLayout, warp_layout
from .paint import paint_captions, paint_legend, paint_scene
from .scene import CAPTION, FOOT, WarpScene, column_widths

MINIMUM_ROW, MOST_ROW = 5.5, 19.0  # heights of a lane


class WarpPicture(QWidget):
    """Shows 32 lanes and their accesses.

    lane_asked: a lane was clicked. pointed: (lane, sector or bank) under the pointer, -1 for none.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lane_asked: Callable[[int], object] = nothing
        self.pointed: Callable[[int, int], object] = nothing
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
        """Draw these lanes, with a frame around the selected one; -1 for none."""
        if lanes is not self.lanes:
            self._point(-1, -1)
        self.lanes, self.chosen = lanes, chosen
        self.update()

    def highlight_lanes(self, lanes: frozenset[int]) -> None:
        """Highlight these lanes while the pointer is elsewhere; an empty set highlights all."""
        if lanes != self.bright:
            self.bright = lanes
            self.update()

    def show_exchange(self, exchange: ExchangeData | None) -> None:
        """Draw an exchange between lanes instead of a request; None shows the request again."""
        self.exchange = exchange
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme, self._layout = theme, None
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return a size with a few pixels per lane; the picture fills the available room."""
        return QSize(self.theme.px(180), self.theme.px(CAPTION + FOOT + WARP * MINIMUM_ROW))

    def minimumSizeHint(self) -> QSize:
        """Return the same size."""
        return self.sizeHint()

    def layout_now(self) -> WarpLayout:
        """Return the layout; lanes must be shown."""
        assert self.lanes
        key = (self.lanes, self.width(), self.height())
        if self._layout is None or self._layout[0] != key:
            top = float(self.theme.px(CAPTION))
            lanes_height = min(self.height() - top - self.theme.px(FOOT), WARP * self.theme.px(MOST_ROW))
            row = min(lanes_height / self.lanes.session.lanes, float(self.theme.px(MOST_ROW)))
            widths = column_widths(self.lanes, row, self.theme)
            self._layout = key, warp_layout(self.lanes, self.width(), top, lanes_height, row, widths)
        return self._layout[1]

    @guard_handler
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the request or the exchange."""
        if self.lanes is None:
            return
        painter = QPainter(self)
        if self.exchange is not None:
            height = min(float(self.height()), self.theme.px(17) * 1.6 * LANES)
            draw_exchange(painter, Box(0, 0, self.width() - 1, height), self.exchange, self.theme)
            painter.end()
            return
        scene = WarpScene(self.lanes, self.layout_now(), self.theme, self.chosen, *self._emphasised())
        paint_scene(painter, scene)
        paint_captions(painter, scene)
        foot = scene.layout.bottom + self.theme.px(4)
        paint_legend(painter, scene, QRectF(0, foot, self.width(), self.theme.px(FOOT - 4)))
        if self.hasFocus():
            painter.setPen(self.theme.colour("accent"))
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()

    def _emphasised(self) -> tuple[frozenset[int], frozenset[int]]:
        """Return the lanes under the pointer, and these with all in the same targets, else the highlighted lanes."""
        lanes, none = self.lanes, frozenset[int]()
        if lanes is not None and self.target >= 0:
            users = frozenset(lane for p in lanes.touched if p.target == self.target for lane in p.lanes)
            return users, users
        if lanes is None or self.lane < 0 or lanes.row[self.lane] < 0:
            return none, self.bright
        return frozenset([self.lane]), frozenset([self.lane, *lanes.neighbours(self.lane)])

    def _point(self, lane: int, target: int) -> None:
        if (lane, target) != (self.lane, self.target):
            self.lane, self.target = lane, target
            self.pointed(lane, target)
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Emphasise what is under the pointer."""
        if self.lanes is not None and self.exchange is None:
            x, y = event.position().toTuple()
            lane, target = self.layout_now().lane_at(x, y), self.layout_now().target_at(x, y)
            self._point(-1 if lane is None else lane, -1 if target is None else target)

    def leaveEvent(self, event: QEvent) -> None:
        """Emphasise nothing."""
        self._point(-1, -1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Ask for the clicked lane, or for the first lane of the clicked bytes."""
        lane = self.lane_under(event.position())
        if lane >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.lane_asked(lane)

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
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        lane = self.chosen + step
        if step and self.lanes is not None and 0 <= lane < WARP and self.lanes.present[lane]:
            self.lane_asked(lane)
        else:
            super().keyPressEvent(event)
