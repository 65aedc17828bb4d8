"""A widget of plots: pointing, zooming and hiding with pointer and keys, and drawing into files.

Keys: arrows point at values, Return opens what is pointed at, + and - zoom, Shift with arrows pans, Home resets, R
chooses a rectangle, X and Y lock an axis, L switches between logarithmic and linear, 1 to 9 hide a series.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import hypot
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QMenu, QWidget
from shiboken6 import delete

from ...model.nothing import nothing
from ...widgets.theme import Theme
from ..common.view import guard_handler
from .library import pg
from .plot import Plot, PlotMark

REACH = 24  # pixels from the pointer to a mark that it points at
STEP, PAN = 1.25, 0.1  # of a zoom by key, and the part of a view that a key pans
ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}

MenuRow = tuple[str, Callable[[], object], bool | None]

_PAGES: dict[Any, QGraphicsWidget] = {}  # the scenes of all widgets that exist, and the parent of their items


def _delete(scene: Any) -> None:
    """Delete the items of a scene now, unless that has been done."""
    page = _PAGES.pop(scene, None)
    if page is not None:
        scene.removeItem(page)
        delete(page)


class PlotView(pg.GraphicsView):
    """Shows plots. A subclass fills `plots` and `series_keys`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, useOpenGL=False, background=None)
        self.mark_opened: Callable[[Any], object] = nothing  # the content of a mark
        self.log_asked: Callable[[], object] = nothing  # the other kind of axis
        self.theme = theme
        self.plots: list[Plot] = []
        self.series_keys: list[str] = []
        self.locked, self.cursor = "", -1
        self._add_page()
        # Qt would delete the items after the widget, and Python's collector in any order: both call their methods.
        self.sceneObj.setParent(None)
        # Later, since the items disconnect themselves from a widget that is destroyed only in part.
        self.destroyed.connect(partial(QTimer.singleShot, 0, partial(_delete, self.sceneObj)))
        self.extra_actions: list[tuple[str, Callable[[], object]]] = []  # more entries of the context menu
        self.sceneObj.sigMouseMoved.connect(self._hover)
        self.sceneObj.sigMouseClicked.connect(self._click)
        self.setAntialiasing(True)

    # What is shown.

    def _add_page(self) -> None:
        """Add the parent of all items to the scene."""
        self.page = _PAGES[self.sceneObj] = QGraphicsWidget()
        self.sceneObj.addItem(self.page)

    def clear_plots(self) -> None:
        """Remove everything."""
        removed = self.plots  # Python must not delete them before the scene does
        for plot in removed:
            plot.vb.sigRangeChangedManually.disconnect(self._report)
        self.plots, self.series_keys = [], []
        _delete(self.sceneObj)
        self._add_page()

    def watch(self, plot: Plot) -> None:
        """Add a plot to the scene; the user may change its view."""
        self.plots.append(plot)
        plot.setParentItem(self.page)
        plot.lock(self.locked)
        plot.vb.sigRangeChangedManually.connect(self._report)

    def _report(self, *_: object) -> None:
        self.arrange_labels()
        self.take_sight()

    def arrange_labels(self) -> None:
        """Place what depends on the visible parts of the plots."""

    @property
    def marks(self) -> list[tuple[Plot, PlotMark]]:
        """Everything to point at."""
        return [(plot, mark) for plot in self.plots for mark in plot.marks]

    def point_at(self, cursor: int) -> None:
        """Show the crosshair at a mark by its number; -1 hides it."""
        marks = self.marks
        self.cursor = cursor if 0 <= cursor < len(marks) else -1
        pointed = marks[self.cursor] if self.cursor >= 0 else None
        for plot in self.plots:
            plot.point_at(pointed[1] if pointed and pointed[0] is plot else None)

    # Pointer.

    def nearest(self, place: QPointF) -> int:
        """Return the number of the mark near a point of the scene; -1 if there is none."""
        best, least = -1, REACH * self.theme.scale
        for number, (plot, mark) in enumerate(self.marks):
            distance = self.distance(plot, mark, place)
            if distance < least and plot.is_visible(mark):
                best, least = number, distance
        return best

    def distance(self, plot: Plot, mark: PlotMark, place: QPointF) -> float:
        """Return the pixels from a mark to a point of the scene."""
        away = plot.pixel_of(mark) - place
        return hypot(away.x(), away.y())

    def _hover(self, place: QPointF) -> None:
        number = self.nearest(place)
        if number != self.cursor:
            self.point_at(number)
        is_mark = number >= 0
        self.viewport().setCursor(
            Qt.CursorShape.PointingHandCursor if is_mark else Qt.CursorShape.ArrowCursor
        )

    def _click(self, event: Any) -> None:
        is_taken = event.isAccepted() and not isinstance(event.acceptedItem, pg.ScatterPlotItem)
        if event.button() != Qt.MouseButton.LeftButton or is_taken:
            return
        if event.double():
            self.reset()
            return
        number = self.nearest(event.scenePos())
        if number >= 0:
            self.point_at(number)
            self.open_mark()

    def open_mark(self) -> None:
        """Open what is pointed at."""
        if self.cursor >= 0:
            self.mark_opened(self.marks[self.cursor][1].content)

    # Views.

    def reset(self) -> None:
        """Show everything again."""
        for plot in self.plots:
            plot.show_spans(None, None)
        self._report()

    def zoom(self, factor: float) -> None:
        """Zoom around what is pointed at, else around the centre."""
        for plot in self.plots:
            free = plot.vb.mouseEnabled()
            pointed = self.marks[self.cursor] if self.cursor >= 0 else None
            centre = QPointF(pointed[1].x, pointed[1].y) if pointed and pointed[0] is plot else None
            scale = [1 / factor if is_free else None for is_free in free]
            plot.vb.scaleBy(x=scale[0], y=scale[1], center=centre)
        self._report()

    def pan(self, x: float, y: float) -> None:
        """Move the views by parts of their sizes."""
        for plot in self.plots:
            box, free = plot.vb.viewRect(), plot.vb.mouseEnabled()
            direction = 1 if plot.vb.yInverted() else -1
            plot.vb.translateBy(x=x * box.width() * free[0], y=direction * y * box.height() * free[1])
        self._report()

    def toggle_lock(self, axis: str) -> None:
        """Lock or free an axis, "x" or "y"."""
        self.locked = "".join(sorted(set(self.locked) ^ {axis}))
        for plot in self.plots:
            plot.lock(self.locked)
        self.take_sight()

    @property
    def draws_rectangle(self) -> bool:
        """Whether dragging chooses a rectangle to zoom to."""
        return any(plot.vb.state["mouseMode"] == pg.ViewBox.RectMode for plot in self.plots)

    def toggle_rectangle(self) -> None:
        """Let dragging choose a rectangle, or pan again."""
        mode = pg.ViewBox.PanMode if self.draws_rectangle else pg.ViewBox.RectMode
        for plot in self.plots:
            plot.vb.setMouseMode(mode)

    # Keys.

    def _callback(self, event: QKeyEvent) -> Callable[[], object] | None:
        """Return the callback of a key; None for other keys."""
        key, text = event.key(), event.text().lower()
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modifiers not in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
            return None
        if key in ARROWS:
            x, y = ARROWS[Qt.Key(key)]
            if modifiers == Qt.KeyboardModifier.ShiftModifier:
                return lambda: self.pan(x * PAN, y * PAN)
            return lambda: self.step(x, y)
        by_key: dict[int, Callable[[], object]] = {
            Qt.Key.Key_Home: self.reset,
            Qt.Key.Key_Return: self.open_mark,
            Qt.Key.Key_Enter: self.open_mark,
        }
        by_text: dict[str, Callable[[], object]] = {
            "+": lambda: self.zoom(STEP),
            "=": lambda: self.zoom(STEP),
            "-": lambda: self.zoom(1 / STEP),
            "r": self.toggle_rectangle,
            "l": lambda: self.log_asked(),
            "x": lambda: self.toggle_lock("x"),
            "y": lambda: self.toggle_lock("y"),
        }
        if text.isdigit() and 0 < int(text) <= len(self.series_keys):
            series = self.series_keys[int(text) - 1]
            return lambda: self.toggle_series(series)
        return by_key.get(key) or by_text.get(text)

    def take_sight(self) -> None:
        """Take what the user changed: the visible parts, locked axes, or the mark pointed at."""

    def toggle_series(self, key: str) -> None:
        """Hide a series, or show it again."""

    def event(self, event: QEvent) -> bool:
        """Take keys of the plots before the window's shortcuts."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and self._callback(event)
        ):
            event.accept()
            return True
        return bool(super().event(event))

    @guard_handler
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Point, zoom, pan, hide or open."""
        callback = self._callback(event)
        if callback is None:
            event.ignore()
        else:
            callback()

    def step(self, x: int, y: int) -> None:
        """Point at the next mark in a direction, at first at the first one."""
        marks = self.marks
        if not marks:
            return
        if self.cursor < 0:
            self.point_at(0)
        else:
            plot, mark = marks[self.cursor]
            here = plot.pixel_of(mark)
            best, least = self.cursor, float("inf")
            for number, (other_plot, other) in enumerate(marks):
                away = other_plot.pixel_of(other) - here
                ahead, aside = away.x() * x + away.y() * y, abs(away.x() * y) + abs(away.y() * x)
                if ahead > 0.5 and ahead + 2 * aside < least and number != self.cursor:
                    best, least = number, ahead + 2 * aside
            self.point_at(best)
        self.take_sight()

    # The menu.

    @guard_handler
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer everything that the pointer and keys do."""
        self.menu().popup(event.globalPos())

    def menu(self) -> QMenu:
        """Return the context menu."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for text, callback, checked in self.menu_rows():
            action = menu.addAction(text)
            action.setCheckable(checked is not None)
            action.setChecked(bool(checked))
            action.triggered.connect(lambda _=False, callback=callback: callback())
        if self.extra_actions:
            menu.addSeparator()
        for text, callback in self.extra_actions:
            menu.addAction(text).triggered.connect(lambda _=False, callback=callback: callback())
        return menu

    def menu_rows(self) -> list[MenuRow]:
        """Return the entries of the menu: text with key, callback, and whether it is checked."""
        return [
            ("Reset view\tHome", self.reset, None),
            ("Zoom to a rectangle\tR", self.toggle_rectangle, self.draws_rectangle),
            ("Lock horizontal axis\tX", lambda: self.toggle_lock("x"), "x" in self.locked),
            ("Lock vertical axis\tY", lambda: self.toggle_lock("y"), "y" in self.locked),
            ("Logarithmic or linear\tL", lambda: self.log_asked(), None),
        ]

    def close(self) -> bool:
        """Delete everything, for a widget that is not needed any more."""
        _delete(self.sceneObj)
        return bool(super().close())

    # Files.

    def draw(self, painter: QPainter) -> None:
        """Draw everything at (0, 0) of a painter: of a picture, an SVG or a PDF file."""
        box = QRectF(0, 0, self.width(), self.height())
        painter.fillRect(box, self.theme.colour("panel"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scatters = [item for item in self.sceneObj.items() if isinstance(item, pg.ScatterPlotItem)]
        for item in scatters:
            item.setExportMode(True, {"antialias": True, "resolutionScale": 1.0})
        self.sceneObj.prepareForPaint()
        self.sceneObj.render(painter, box, box)
        for item in scatters:
            item.setExportMode(False)
