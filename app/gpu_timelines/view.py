"""The chart of one launch in the window: its plot, keys, clicks that go deeper, and tooltips."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFocusEvent, QHelpEvent, QKeyEvent, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ..model.axis import Axis
from ..model.nothing import nothing
from ..views.common.drawing import RASTER_PIXELS_PER_POINT, is_vector
from ..views.common.view import guard_handler
from ..views.plotting.library import pg
from ..views.plotting.plot import Plot, PlotMark
from ..views.plotting.view import PAN, MenuRow, PlotView
from ..widgets.plain_text import plain_tip
from ..widgets.theme import Theme
from .hit_test import Hit, describe_hit, hit_at, segments_in
from .layout import GpuLayout, TimeRange, gpu_layout, wanted_height
from .model.place import Level
from .paint import draw_chart
from .shown import ChartView
from .text import describe_block, describe_row, describe_segment

SHORTEST = 20.0  # nanoseconds: the shortest visible range
MARGIN = 0.01  # of the complete range, shown on both sides
WHEEL = log(0.8, 1.02) / 120  # pyqtgraph's exponent of 1.02 for a factor of 0.8 by a step of the wheel
MICROSECONDS = Axis("time", "µs", False, (), per_unit=1000.0)


class GpuRequests(NamedTuple):
    """What a chart calls when the user asks for something; the panel decides, since several charts share the axis."""

    enter: Callable[[Level, int], object]  # a multiprocessor, block or warp, by its number
    leave: Callable[[], object]  # to the level above
    show_range: Callable[[TimeRange | None], object]  # in nanoseconds from the origin; None is everything


class GpuPlot(Plot):
    """A time axis, and above it the rows that `draw_chart` draws; the user zooms and pans in time only."""

    def __init__(self, view: GpuView, rows: int, limits: TimeRange, theme: Theme) -> None:
        super().__init__(MICROSECONDS, pg.AxisItem("left"), theme)
        self.hideAxis("left")  # `draw_chart` writes the names of rows
        self.view, self.free = view, (True, False)
        self.bottom.setGrid(False)
        self.bottom.setStyle(tickLength=theme.px(4))
        self.bottom.setTickPen(self.bottom.pen())
        self.set_home(limits, (0, rows), y_is_fixed=True)
        first, last = limits
        self.vb.invertY(True)
        self.vb.setLimits(xMin=first, xMax=last, minXRange=SHORTEST, maxXRange=last - first, minYRange=rows)
        self.vb.state["wheelScaleFactor"] = WHEEL

    def paint(self, painter: QPainter, option: object, widget: object) -> None:
        """Draw the rows with the pixels of the painter's device."""
        view = self.view
        if view.shown is not None:
            ratio = RASTER_PIXELS_PER_POINT if is_vector(painter) else view.devicePixelRatioF()
            row = view.row if view.hasFocus() or view.item is not None else None
            draw_chart(painter, view.shown, view.chart_layout, view.theme, ratio, row, view.item)


class GpuView(PlotView):
    """Shows one place of a timeline over a range of time.

    ask: called for what the user asks for. describe: called with the description of the selection.
    """

    shown: ChartView | None = None

    def __init__(
        self,
        theme: Theme,
        ask: GpuRequests,
        describe: Callable[[str], object] = nothing,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, parent)
        self.ask, self._describe = ask, describe
        self.span: TimeRange = (0.0, 1.0)
        self.row: int | None = None  # the chosen row
        self.item: int | None = None  # the chosen block or segment
        self._full_range: TimeRange = (0.0, 1.0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("On the GPU")

    # The place and the selection.

    def show_place(self, shown: ChartView | None, span: TimeRange, limits: TimeRange) -> None:
        """Show a place over a range; `limits` is the largest range.

        The selection stays while the place is the same.
        """
        is_new = shown != self.shown
        if is_new:
            self.shown = shown
            self.row, self.item = self._first_row(), None
            self.updateGeometry()
        self.span = span
        if is_new or limits != self._full_range:
            self._full_range = limits
            self._build()
        self._show_span()
        self._describe(self.chosen_text())

    def _first_row(self) -> int | None:
        if self.shown is None:
            return None
        return {"gpu": int(self.shown.data.row_of[self.shown.machine]), "block": self.shown.warp}.get(
            self.shown.level, 0
        )

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme = theme
        self.updateGeometry()
        self._build()

    def sizeHint(self) -> QSize:
        """Return the useful size."""
        high = wanted_height(self.shown.level, self.shown.rows, self.theme) if self.shown else 200
        return QSize(self.theme.px(900), high)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest useful size."""
        return QSize(self.theme.px(300), self.theme.px(90))

    @property
    def chart_layout(self) -> GpuLayout:
        """The current layout."""
        assert self.shown
        size, ratio = QSizeF(self.size()), self.devicePixelRatioF()
        return gpu_layout(size, self.shown.level, self.shown.rows, self.span, self.theme, ratio)

    def chosen_text(self) -> str:
        """Describe the selection; "" if there is none."""
        if self.shown is None:
            return ""
        if self.item is not None:
            return (describe_block if self.shown.shows_blocks else describe_segment)(
                self.shown.data, self.item
            )
        return describe_row(self.shown, self.row) if self.row is not None else ""

    def choose(self, row: int | None, item: int | None) -> None:
        """Select a row, and a block or a segment in it."""
        self.row, self.item = row, item
        self.setAccessibleDescription(self.chosen_text())
        self._describe(self.chosen_text())
        self._repaint()

    # The plot.

    def _build(self) -> None:
        """Make the plot of the shown place."""
        self.clear_plots()
        self.setBackground(self.theme.colour("panel"))
        if self.shown is None:
            return
        theme = replace(self.theme, pixel_ratio=self.devicePixelRatioF())
        self.watch(GpuPlot(self, self.shown.rows, self._full_range, theme))
        self._arrange()
        self._show_span()

    def _arrange(self) -> None:
        """Give the plot the room of the rows, and its axis that below them."""
        for plot in self.plots:
            rows = self.chart_layout.rows
            plot.layout.setContentsMargins(rows.left(), rows.top(), self.width() - rows.right(), 0)
            height = rows.bottom() + plot.bottom.height()
            plot.setGeometry(QRectF(0, 0, self.width(), height))
            plot.settle()

    def _show_span(self) -> None:
        for plot in self.plots:
            plot.vb.setXRange(*self.span, padding=0)
        self.sceneObj.prepareForPaint()  # otherwise pyqtgraph zooms around a point of the last frame
        self._repaint()

    def _repaint(self) -> None:
        """Draw everything again, in the same frame as pyqtgraph's items."""
        for plot in self.plots:
            plot.update()

    def take_sight(self) -> None:
        """Ask for the range that the user zoomed or panned to."""
        first, last = self.plots[0].vb.viewRange()[0]
        self.ask.show_range((first, last))

    @guard_handler
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the plot in the new size."""
        super().resizeEvent(event)
        if self.shown is not None:
            self._arrange()

    @guard_handler
    def focusInEvent(self, event: QFocusEvent) -> None:
        """Mark the chosen row."""
        super().focusInEvent(event)
        self._repaint()

    @guard_handler
    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Unmark the chosen row."""
        super().focusOutEvent(event)
        self._repaint()

    # Pointer.

    def _hover(self, place: QPointF) -> None:
        """Show the time under the pointer, and whether a click does something."""
        if self.shown is None:
            return
        hit, plot = self.hit(place), self.plots[0]
        where = plot.vb.mapSceneToView(place)
        mark = PlotMark(where.x(), where.y(), f"{hit.time / 1000:,.3f} µs", None)
        plot.point_at(mark if hit.part == "rows" else None)
        self.viewport().setCursor(
            Qt.CursorShape.PointingHandCursor if self._enters(hit) else Qt.CursorShape.ArrowCursor
        )

    @guard_handler
    def leaveEvent(self, event: QEvent) -> None:
        """Hide the time."""
        super().leaveEvent(event)
        self.point_at(-1)

    def _click(self, event: Any) -> None:
        """Choose or enter what is under the pointer; a double click enters a warp, or shows everything."""
        if self.shown is None or event.button() != Qt.MouseButton.LeftButton:
            return
        hit = self.hit(event.scenePos())
        if not event.double() and self._enters(hit):
            self._enter(hit.row, hit.item)
        elif not event.double() and hit.part == "rows":
            self.choose(hit.row, hit.item)
        elif event.double() and self.shown.level == "block" and hit.part in ("rows", "names"):
            self._enter(hit.row, hit.item)
        elif event.double() and hit.part == "nothing":
            self.reset()

    def hit(self, position: QPointF) -> Hit:
        """Run the hit test at a position."""
        assert self.shown
        return hit_at(self.shown, self.chart_layout, position)

    def _enters(self, hit: Hit) -> bool:
        """Return True if a click goes a level deeper."""
        shown = self.shown
        if shown is None or shown.machine_at(hit.row) is None:
            return False
        if hit.part == "rows":
            return shown.shows_blocks and (hit.item is not None or shown.level == "gpu")
        return hit.part == "names" and shown.level in ("gpu", "block")

    def _enter(self, row: int | None, item: int | None) -> None:
        """Ask for the level below: a multiprocessor, a block or a warp."""
        if self.shown is None or row is None:
            return
        if self.shown.level == "gpu":
            if (machine := self.shown.machine_at(row)) is not None:
                self.ask.enter("multiprocessor", machine)
        elif self.shown.level == "multiprocessor":
            block = item if item is not None else self._nearest_block(row)
            if block is not None:
                self.ask.enter("block", block)
        elif self.shown.level == "block" and self.shown.has_details:
            self.ask.enter("warp", row)

    def _nearest_block(self, lane: int) -> int | None:
        """Return the recorded block of the multiprocessor, else the first of a lane."""
        assert self.shown
        data, machine = self.shown.data, self.shown.machine
        chosen = data.chosen_block(machine)
        if data.machine(chosen) == machine:
            return chosen
        blocks = data.blocks_on(machine)
        blocks = blocks[data.lanes.lane[blocks] == lane]
        return int(blocks[0]) if len(blocks) else None

    @guard_handler
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Pan with Shift, or sideways; otherwise zoom around the pointer."""
        turn, sideways = event.angleDelta().y(), event.angleDelta().x()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(sideways) > abs(turn):
            self.pan(-(turn + sideways) / 120 * PAN, 0)
            event.accept()
        else:
            super().wheelEvent(event)

    def reset(self) -> None:
        """Ask for everything."""
        self.ask.show_range(None)

    def menu_rows(self) -> list[MenuRow]:
        """Return the entries of the context menu: all but those for the vertical axis."""
        return super().menu_rows()[:3]

    # Keys.

    def _callback(self, event: QKeyEvent) -> Callable[[], object] | None:
        """Return the callback of a key; see KEYS."""
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        shift = modifiers == Qt.KeyboardModifier.ShiftModifier
        if self.shown is None or not (shift or modifiers == Qt.KeyboardModifier.NoModifier):
            return None
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if key in steps:
            along = key in (Qt.Key.Key_Left, Qt.Key.Key_Right)
            step = steps[Qt.Key(key)]
            return lambda: self._step_along(step, shift) if along else self._step_row(step)
        by_key: dict[int, Callable[[], object]] = {
            Qt.Key.Key_Return: lambda: self._enter(self.row, self.item),
            Qt.Key.Key_Enter: lambda: self._enter(self.row, self.item),
            Qt.Key.Key_D: self._go_to_details,
            Qt.Key.Key_Backspace: self.ask.leave,
        }
        is_own = event.text().lower() not in ("l", "y")  # no such axis here
        return by_key.get(key) or (super()._callback(event) if is_own else None)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show tooltips."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.shown is not None:
            text = describe_hit(self.shown, self.hit(QPointF(event.pos())))
            QToolTip.showText(event.globalPos(), plain_tip(self.theme.translate(text)), self)
            return True
        return bool(super().viewportEvent(event))

    def event(self, event: QEvent) -> bool:
        """Use other pens on another screen."""
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._build()
        return super().event(event)

    def _step_row(self, step: int) -> None:
        assert self.shown
        row = 0 if self.row is None else min(max(self.row + step, 0), self.shown.rows - 1)
        self.choose(row, None)

    def _step_along(self, step: int, shift: bool) -> None:
        """Select the next block or segment of the row; without any, or with Shift, pan."""
        items = [] if shift or self.shown is None else self._items()
        if not items:
            self.pan(PAN * step, 0)
            return
        if self.item in items:
            index = min(max(items.index(self.item) + step, 0), len(items) - 1)
        else:
            index = 0 if step > 0 else len(items) - 1
        self.choose(self.row, items[index])
        self._scroll_to_item()

    def _items(self) -> list[int]:
        """List the blocks or segments of the chosen row by time."""
        assert self.shown
        if self.shown.level == "gpu" or self.row is None:
            return []
        if self.shown.level == "multiprocessor":
            blocks = self.shown.data.blocks_on(self.shown.machine)
            return [int(b) for b in blocks[self.shown.data.lanes.lane[blocks] == self.row]]
        return (
            [int(segment) for segment in segments_in(self.shown, self.row)] if self.shown.has_details else []
        )

    def _scroll_to_item(self) -> None:
        """Pan so that the chosen block or segment is visible."""
        assert self.shown and self.item is not None
        data, (first, last) = self.shown.data, self.span
        if self.shown.shows_blocks:
            begin, end = data.span(self.item)
        else:
            columns, index = data.timeline.segments, slice(self.item, self.item + 1)
            begin, end = (float(data.nanoseconds(c[index])[0]) for c in (columns.start, columns.end))
        if begin < first or end > last:
            middle = (begin + end) / 2
            half = max((last - first) / 2, 0.6 * (end - begin))
            self.ask.show_range(clamp_range((middle - half, middle + half), self._full_range))

    def _go_to_details(self) -> None:
        """Ask for the next block with recorded warps."""
        assert self.shown
        block = self.shown.data.next_detailed(self.shown.block if not self.shown.shows_blocks else -1)
        if block is not None:
            self.ask.enter("block", block)


KEYS = (
    "Wheel + − zoom, drag pans, R zooms to a rectangle, Enter goes in, Backspace back, Home shows all, "
    "D goes to a recorded block"
)


def common_range(lengths: list[float]) -> TimeRange:
    """Return the range that shows all of several launches or blocks, in nanoseconds."""
    longest = max(lengths, default=1.0)
    return -MARGIN * longest, (1 + MARGIN) * longest


def clamp_range(span: TimeRange, limits: TimeRange) -> TimeRange:
    """Move and cut a range so that it lies in the complete one and is not too short."""
    length = min(max(span[1] - span[0], SHORTEST), limits[1] - limits[0])
    middle = (span[0] + span[1]) / 2
    first = min(max(middle - length / 2, limits[0]), limits[1] - length)
    return first, first + length
