"""The chart of one launch in the window: zooming, panning, keys, clicks that go deeper, and tooltips."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ..views.common.drawing import RASTER_PIXELS_PER_POINT, is_vector
from ..views.common.view import guard_handler
from ..widgets.controls import nothing
from ..widgets.plain_text import plain_tip
from ..widgets.theme import Theme
from .hit_test import Hit, describe_hit, hit_at, segments_in
from .layout import GpuLayout, TimeRange, gpu_layout, wanted_height
from .model.place import Level
from .paint import draw_chart
from .shown import ChartView
from .text import describe_block, describe_row, describe_segment

CLICK = 4  # pixels that the pointer may move during a click
SHORTEST = 20.0  # nanoseconds: the shortest visible range
MARGIN = 0.01  # of the complete range, shown on both sides
STEP = 0.1  # of the visible range, by which a key pans
CLOSER = 0.8  # the factor of one step of the wheel


class GpuRequests(NamedTuple):
    """What a chart calls when the user asks for something; the panel decides, since several charts share the axis."""

    enter: Callable[[Level, int], object]  # a multiprocessor, block or warp, by its number
    leave: Callable[[], object]  # to the level above
    show_range: Callable[[TimeRange | None], object]  # in nanoseconds from the origin; None is everything


class GpuView(QWidget):
    """Shows one place of a timeline over a range of time.

    ask: called for what the user asks for. describe: called with the description of the selection.
    """

    def __init__(
        self,
        theme: Theme,
        ask: GpuRequests,
        describe: Callable[[str], object] = nothing,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.ask, self._describe = ask, describe
        self.theme = theme
        self.shown: ChartView | None = None
        self.span: TimeRange = (0.0, 1.0)
        self.row: int | None = None  # the chosen row
        self.item: int | None = None  # the chosen block or segment
        self._full_range: TimeRange = (0.0, 1.0)
        self._drag: tuple[QPointF, TimeRange] | None = None
        self._moved = False
        self._picture: tuple[object, QPixmap] | None = None  # the last picture and its key
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName("On the GPU")

    # The place and the selection.

    def show_place(self, shown: ChartView | None, span: TimeRange, limits: TimeRange) -> None:
        """Show a place over a range; `limits` is the largest range.

        The selection stays while the place is the same.
        """
        if shown != self.shown:
            self.shown = shown
            self.row, self.item = self._first_row(), None
            self.updateGeometry()
        self.span, self._full_range = span, limits
        self.update()
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
        self.update()

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
        self.update()

    # Painting.

    @guard_handler
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the chart; reuse the last picture if nothing changed."""
        painter = QPainter(self)
        if is_vector(painter):
            self._draw(painter, RASTER_PIXELS_PER_POINT)
        else:
            painter.drawPixmap(0, 0, self._current_picture())
        painter.end()

    def _current_picture(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        key = self.shown, self.span, self.size(), ratio, self.theme, self.row, self.item, self.hasFocus()
        if self._picture is None or self._picture[0] != key:
            pixmap = QPixmap(self.size() * ratio)
            pixmap.setDevicePixelRatio(ratio)
            painter = QPainter(pixmap)
            self._draw(painter, ratio)
            painter.end()
            self._picture = key, pixmap
        return self._picture[1]

    def _draw(self, painter: QPainter, ratio: float) -> None:
        painter.fillRect(self.rect(), self.theme.colour("panel"))
        if self.shown is not None:
            row = self.row if self.hasFocus() or self.item is not None else None
            draw_chart(painter, self.shown, self.chart_layout, self.theme, ratio, row, self.item)

    @guard_handler
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Redraw."""
        self._picture = None

    @guard_handler
    def focusInEvent(self, event: QFocusEvent) -> None:
        """Mark the chosen row."""
        self.update()

    @guard_handler
    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Unmark the chosen row."""
        self.update()

    # Pointer.

    @guard_handler
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start a drag or a click."""
        if event.button() == Qt.MouseButton.LeftButton and self.shown:
            self._drag, self._moved = (event.position(), self.span), False

    @guard_handler
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan during a drag; otherwise show if a click does something."""
        if self._drag is None:
            self._show_cursor(event.position())
            return
        origin, span = self._drag
        self._moved |= (event.position() - origin).manhattanLength() >= CLICK
        if self._moved:
            self._ask(_moved(span, (origin.x() - event.position().x()) / self.chart_layout.rows.width()))

    @guard_handler
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a drag, or handle a click."""
        if self._drag is None or event.button() != Qt.MouseButton.LeftButton:
            return
        self._drag = None
        if not self._moved and self.shown:
            self._click(self.hit(event.position()))

    @guard_handler
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the warp under the pointer."""
        hit = self.hit(event.position()) if self.shown else None
        if hit is not None and self.shown and self.shown.level == "block" and hit.part in ("rows", "names"):
            self._enter(hit.row, hit.item)

    def hit(self, position: QPointF) -> Hit:
        """Run the hit test at a position."""
        assert self.shown
        return hit_at(self.shown, self.chart_layout, position)

    def _click(self, hit: Hit) -> None:
        if self._enters(hit):
            self._enter(hit.row, hit.item)
        elif hit.part == "rows":
            self.choose(hit.row, hit.item)

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

    def _show_cursor(self, position: QPointF) -> None:
        enters = self.shown is not None and self._enters(self.hit(position))
        self.setCursor(Qt.CursorShape.PointingHandCursor if enters else Qt.CursorShape.ArrowCursor)

    @guard_handler
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer; with Shift, or sideways, pan."""
        if self.shown is None:
            return
        turn, sideways = event.angleDelta().y(), event.angleDelta().x()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(sideways) > abs(turn):
            self._ask(_moved(self.span, -(turn + sideways) / 120 * STEP))
        else:
            self.zoom(CLOSER ** (turn / 120), self.chart_layout.time(event.position().x()))
        event.accept()

    def zoom(self, factor: float, around: float | None = None) -> None:
        """Scale the visible range by a factor, around a time or its middle."""
        first, last = self.span
        middle = (first + last) / 2 if around is None else around
        factor = max(factor, SHORTEST / (last - first))
        self._ask((middle - (middle - first) * factor, middle + (last - middle) * factor))

    def _ask(self, span: TimeRange) -> None:
        self.ask.show_range(clamp_range(span, self._full_range))

    # Keys.

    @guard_handler
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pan, select and go deeper; see KEYS."""
        if self.shown is None or not self._handle_key(event):
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Show tooltips, and keep the chart's keys from the window's shortcuts."""
        is_key = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
        if isinstance(event, QKeyEvent) and is_key and self.shown is not None and _is_own(event):
            event.accept()
            return True
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self.shown is not None:
            text = describe_hit(self.shown, self.hit(QPointF(event.pos())))
            QToolTip.showText(event.globalPos(), plain_tip(self.theme.translate(text)), self)
            return True
        return super().event(event)

    def _handle_key(self, event: QKeyEvent) -> bool:
        """Handle the chart's own keys; return False for any other key."""
        key, shift = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        keys = Qt.Key
        if not _is_own(event):
            return False
        if key in (keys.Key_Up, keys.Key_Down):
            self._step_row(1 if key == keys.Key_Down else -1)
        elif key in (keys.Key_Left, keys.Key_Right):
            self._step_along(1 if key == keys.Key_Right else -1, shift)
        elif key in (keys.Key_Plus, keys.Key_Equal, keys.Key_Minus):
            self.zoom(1 / CLOSER if key == keys.Key_Minus else CLOSER)
        elif key == keys.Key_Home:
            self.ask.show_range(None)
        elif key in (keys.Key_Return, keys.Key_Enter):
            self._enter(self.row, self.item)
        elif key == keys.Key_D:
            self._go_to_details()
        else:
            self.ask.leave()
        return True

    def _step_row(self, step: int) -> None:
        assert self.shown
        row = 0 if self.row is None else min(max(self.row + step, 0), self.shown.rows - 1)
        self.choose(row, None)

    def _step_along(self, step: int, shift: bool) -> None:
        """Select the next block or segment of the row; without any, or with Shift, pan."""
        items = [] if shift or self.shown is None else self._items()
        if not items:
            self._ask(_moved(self.span, STEP * step))
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
            self._ask((middle - half, middle + half))

    def _go_to_details(self) -> None:
        """Ask for the next block with recorded warps."""
        assert self.shown
        block = self.shown.data.next_detailed(self.shown.block if not self.shown.shows_blocks else -1)
        if block is not None:
            self.ask.enter("block", block)


KEYS = "Wheel + − zoom, drag pans, Enter goes in, Backspace back, Home shows all, D goes to a recorded block"
OWN_KEYS = (
    Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Plus, Qt.Key.Key_Equal,
    Qt.Key.Key_Minus, Qt.Key.Key_Home, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_D, Qt.Key.Key_Backspace,
)  # fmt: skip


def _is_own(event: QKeyEvent) -> bool:
    """Return True if a key belongs to the chart; with Ctrl or Alt it is the window's."""
    others = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    return event.key() in OWN_KEYS and not event.modifiers() & others


def _moved(span: TimeRange, share: float) -> TimeRange:
    distance = share * (span[1] - span[0])
    return span[0] + distance, span[1] + distance


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
