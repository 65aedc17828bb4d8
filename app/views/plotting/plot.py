"""A plot with a first view, limits of zooming, and a crosshair."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPaintEngine, QPainter

from ...model.axis import Axis
from ...widgets.theme import Theme
from ...widgets.vector_files import CLIP_BEGIN, CLIP_END, ClipMark
from ..common.drawing import draw_clip_mark
from .axis import UnitAxis, coordinate_of, coordinate_value
from .labels import PlotLabel
from .library import pg
from .style import pen_of

Span = tuple[float, float]
DEEPEST = 1e-7  # the smallest part of the first view that fills the plot
AROUND = 1.0  # how far the first view may be left on each side, in its own sizes
PLAIN = Axis("", "", False, ())


class PlotMark(Struct, frozen=True):
    """Something in a plot to point at. x and y are coordinates of the view."""

    x: float
    y: float
    text: str  # its value, interval, samples and origin
    content: object  # what a click opens


class _Clip(pg.GraphicsObject):
    """Marks the begin or the end of the view's clip in SVG, where Qt writes none."""

    def __init__(self, view: pg.ViewBox, colour: ClipMark, z: float) -> None:
        super().__init__()
        self.view, self.colour = view, colour
        self.setParentItem(view)
        self.setZValue(z)

    def boundingRect(self) -> QRectF:
        """Return the area of the view."""
        return QRectF(self.view.rect())

    def paint(self, painter: QPainter, option: object, widget: object) -> None:
        """Mark the clip."""
        if painter.paintEngine().type() == QPaintEngine.Type.SVG:
            draw_clip_mark(painter, self.boundingRect(), self.colour)


class Plot(pg.PlotItem):
    """A plot whose horizontal axis is a UnitAxis. left: its other axis; y: what that axis shows, if it has units."""

    def __init__(self, x: Axis, left: pg.AxisItem, theme: Theme, y: Axis = PLAIN) -> None:
        self.bottom = UnitAxis("bottom", x, theme)
        super().__init__(axisItems={"bottom": self.bottom, "left": left}, enableMenu=False)
        self.theme, self.left, self.axes_shown = theme, left, (x, y)
        self.setDefaultPadding(0)
        self.hideButtons()
        self.layout.setContentsMargins(0, 0, 0, 0)
        self.vb.disableAutoRange()
        for axis in (self.bottom, left):
            axis.setZValue(self.vb.zValue() - 1)  # the lines at its numbers are behind everything
        self.vb.border = None  # without lines: QtSvg would draw them from a file
        self.vb.borderRect.setVisible(False)
        self.home: tuple[Span, Span] = ((0.0, 1.0), (0.0, 1.0))
        self.marks: list[PlotMark] = []
        self.free = (True, True)  # whether the user may zoom and pan each axis
        self._begin, self._end = _Clip(self.vb, CLIP_BEGIN, -1e9), _Clip(self.vb, CLIP_END, 1e9)
        lines = [
            pg.InfiniteLine(angle=angle, pen=pen_of(theme, "muted", 1, Qt.PenStyle.DashLine))
            for angle in (90, 0)
        ]
        self.across, self.upright = lines
        self.readout = PlotLabel("", theme)
        self.readout.textItem.document().setDocumentMargin(theme.px(5))
        self.readout.border = pen_of(theme, "control")
        for item in (*lines, self.readout):
            item.setZValue(10)
            item.setVisible(False)
            self.add(item)

    def add(self, item: Any) -> None:
        """Add an item without a change of the view."""
        self.vb.addItem(item, ignoreBounds=True)

    def set_home(self, x: Span, y: Span, *, y_is_fixed: bool = False) -> None:
        """Show these coordinates at first; the user may zoom and pan around them."""
        self.home = x, y
        limits: dict[str, float] = {}
        for name, (low, high), around in (("x", x, AROUND), ("y", y, 0.0 if y_is_fixed else AROUND)):
            size = high - low
            limits |= {f"{name}Min": low - around * size, f"{name}Max": high + around * size}
            limits |= {
                f"min{name.upper()}Range": DEEPEST * size,
                f"max{name.upper()}Range": (1 + 2 * around) * size,
            }
        self.vb.setLimits(**limits)
        self.vb.setRange(xRange=x, yRange=y, padding=0)

    def spans(self) -> tuple[Span | None, Span | None]:
        """Return the visible values of both axes; None for an axis in its first view."""
        x, y = (self._span(axis) for axis in (0, 1))
        return x, y

    def _span(self, axis: int) -> Span | None:
        low, high = self.vb.viewRange()[axis]
        home = self.home[axis]
        near = 1e-6 * (home[1] - home[0])
        if abs(low - home[0]) <= near and abs(high - home[1]) <= near:
            return None
        return coordinate_value(self.axes_shown[axis], low), coordinate_value(self.axes_shown[axis], high)

    def show_spans(self, x: Span | None, y: Span | None) -> None:
        """Show these values; None is the first view of an axis."""
        places = [
            home if span is None or (axis.log and min(span) <= 0) or span[0] >= span[1]
            else tuple(coordinate_of(axis, value) for value in span)
            for axis, span, home in zip(self.axes_shown, (x, y), self.home, strict=True)
        ]  # fmt: skip
        self.vb.setRange(xRange=places[0], yRange=places[1], padding=0)

    def lock(self, locked: str) -> None:
        """Let the user change only the axes that are free and not named in `locked`."""
        self.vb.setMouseEnabled(
            *(free and name not in locked for name, free in zip("xy", self.free, strict=True))
        )

    def settle(self) -> None:
        """Lay out axes and view now, without a visit of the event loop."""
        self.layout.invalidate()
        self.layout.activate()

    def point_at(self, mark: PlotMark | None) -> None:
        """Show the crosshair at a mark with its text; None hides it."""
        for item in (self.across, self.upright, self.readout):
            item.setVisible(mark is not None)
        if mark is None:
            return
        self.across.setPos(mark.x)
        self.upright.setPos(mark.y)
        self.readout.setText(mark.text)
        place, size = self.vb.mapFromView(QPointF(mark.x, mark.y)), self.vb.rect()
        width, height = self.readout.size_in_pixels()
        gap = self.theme.px(12)
        x = gap + width / 2 if place.x() + width + 2 * gap < size.width() else -gap - width / 2
        y = -gap - height / 2 if place.y() > height + 2 * gap else gap + height / 2
        x = min(max(x, width / 2 - place.x()), size.width() - width / 2 - place.x())
        y = min(max(y, height / 2 - place.y()), size.height() - height / 2 - place.y())
        self.readout.put(QPointF(mark.x, mark.y), x, y)

    def pixel_of(self, mark: PlotMark) -> QPointF:
        """Return the position of a mark in the scene."""
        place: QPointF = self.vb.mapViewToScene(QPointF(mark.x, mark.y))
        return place

    def is_visible(self, mark: PlotMark) -> bool:
        """Return True if a mark lies in the visible part of the plot."""
        (left, right), (bottom, top) = self.vb.viewRange()
        return bool(left <= mark.x <= right and bottom <= mark.y <= top)
