"""The order of threads: who goes next, the parts chosen so far, and the final values over all orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QDropEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QListWidget, QPushButton, QVBoxLayout, QWidget

from ....tracer.model.order import Order, OrderTextError, Segment, parse_order, segment_words
from ...model.nothing import nothing
from ...model.session import Selection, Session
from ...model.thread_turns import (
    UNITS,
    TurnChoice,
    Unit,
    choices_of,
    order_of,
    unlimited,
    with_moved_part,
    with_part,
    without_part,
)
from ...widgets.plain_text import PlainLabel, plain_tip
from ...widgets.switch import Switch
from ...widgets.theme import Theme, flat_sheet, text_palette
from ..common.view import View
from .value_bars import ValueBars, mark_of, values_text

NEXT = "Who goes next?"
NEXT_HINT = "Return: one access. Shift+Return: until it waits or ends. Or drag a line into the order."
PARTS_HINT = "All threads take turns in step. Drag a line to below this sentence, and its thread goes first."
PARTS_TIP = "Drag a part, or move it with Alt+Up and Alt+Down. Delete removes it."
NONE_CAN_GO = "No thread can go: all threads have ended, or the launch is too large."
EXAMPLE = "t3x2+b1t0"
ENTERS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
SHIFT, ALT = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier


class OrderList(QListWidget):
    """A list of lines; `number_of` returns the line of an item."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrap(True)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setDragEnabled(True)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.setFont(theme.font(12.5))
        self.setStyleSheet(flat_sheet("QListWidget", theme))

    def show_lines(self, lines: Sequence[str]) -> None:
        """List other lines; the current line stays, or the last one."""
        current = self.currentRow()
        self.clear()
        self.addItems(list(lines))
        if lines:
            self.setCurrentRow(min(max(current, 0), len(lines) - 1))


class ChoiceList(OrderList):
    """Who can go next. chosen: (line, whether until it waits)."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("Who can go next", parent)
        self.chosen: Callable[[int, bool], object] = nothing
        self.setDragDropMode(QListWidget.DragDropMode.DragOnly)
        self.itemDoubleClicked.connect(lambda item: self.chosen(self.row(item), False))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the current line with Return, until it waits with Shift."""
        if event.key() in ENTERS and self.currentRow() >= 0:
            self.chosen(self.currentRow(), bool(event.modifiers() & SHIFT))
        else:
            super().keyPressEvent(event)


class PartList(OrderList):
    """The parts of an order. moved: (line, line before which it comes). inserted: (line of the choices, line before
    which it comes). removed: a line."""

    def __init__(self, choices: ChoiceList, parent: QWidget) -> None:
        super().__init__("The order", parent)
        self.moved: Callable[[int, int], object] = nothing
        self.inserted: Callable[[int, int], object] = nothing
        self.removed: Callable[[int], object] = nothing
        self._choices = choices
        self.setDragDropMode(QListWidget.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.CopyAction)  # a moved line would be removed by Qt too

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remove the current part with Delete, and move it with Alt and an arrow."""
        row, key = self.currentRow(), event.key()
        is_moved = bool(event.modifiers() & ALT)
        if row >= 0 and key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed(row)
        elif is_moved and key == Qt.Key.Key_Up and row > 0:
            self.setCurrentRow(row - 1)
            self.moved(row, row - 1)
        elif is_moved and key == Qt.Key.Key_Down and 0 <= row < self.count() - 1:
            self.setCurrentRow(row + 1)
            self.moved(row, row + 2)
        else:
            super().keyPressEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Insert a dragged choice, or move a part; the caller lists the parts of the new order."""
        target = self.indexAt(event.position().toPoint())
        before = self.count()
        if target.isValid():
            middle = self.visualRect(target).center().y()
            before = target.row() + (event.position().y() > middle)
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        source = event.source()
        if source is self._choices:
            self.inserted(self._choices.currentRow(), before)
        elif source is self and self.currentRow() >= 0:
            self.moved(self.currentRow(), before)


class OrderView(View):
    """Shows the order of the pane in focus and changes it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.unit: Unit = UNITS[0]
        self.order = Order(())
        self.choices: tuple[TurnChoice, ...] = ()
        self._block = -1  # whose choices are listed
        self.titles = [PlainLabel(text, self) for text in ("The order", NEXT, "Final values")]
        self.hint, self.next_hint = PlainLabel(PARTS_HINT, self), PlainLabel(NEXT_HINT, self)
        self.units = Switch({unit: f"{unit.capitalize()}s" for unit in UNITS}, "Who is listed", self)
        self.units.show_choice(self.unit)
        self.units.chosen = self._choose_unit
        self.list = ChoiceList(self)
        self.list.chosen = self._choose
        self.parts = PartList(self.list, self)
        self.parts.setToolTip(plain_tip(PARTS_TIP))
        self.parts.moved = lambda row, before: self._ask(with_moved_part(self.order, row, before))
        self.parts.inserted = lambda row, before: self._choose(row, False, before)
        self.parts.removed = lambda row: self._ask(without_part(self.order, row))
        self.text, self.problem = QLineEdit(self), PlainLabel(parent=self)
        self.text.setAccessibleName("The order as a text")
        self.text.setPlaceholderText(EXAMPLE)
        self.text.returnPressed.connect(self._take_text)
        self.problem.setObjectName("wrong")
        self.element, self.count = QLineEdit(self), QPushButton("Count", self)
        self.element.setAccessibleName("The element whose final values are counted")
        self.element.setPlaceholderText("out[0]")
        self.count.setAccessibleName("Count the final values over all orders")
        self.element.returnPressed.connect(self._ask_values)
        self.count.clicked.connect(lambda _checked: self._ask_values())
        self.find_order = QPushButton("Find an order that changes the result", self)
        self.find_order.clicked.connect(lambda _checked: self.ask.find_order())
        self.search = PlainLabel(parent=self)  # what a search does
        self.search.hide()
        self.mark, self.bars = PlainLabel(parent=self), ValueBars(theme, self)
        self.bars.asked = self._take_example
        self._arrange()
        self.set_theme(theme)

    def _arrange(self) -> None:
        ask = QHBoxLayout()
        ask.addWidget(self.element, 1)
        ask.addWidget(self.count)
        order, following, values = self.titles
        column = QVBoxLayout(self)
        for label in (self.hint, self.next_hint, self.problem, self.mark, self.search):
            label.setWordWrap(True)
        column.addWidget(following)
        column.addWidget(self.units)
        column.addWidget(self.list, 3)
        for widget in (self.next_hint, order, self.text, self.problem, self.hint):
            column.addWidget(widget)
        column.addWidget(self.parts, 2)
        column.addWidget(self.find_order)
        column.addWidget(values)
        column.addLayout(ask)
        column.addWidget(self.search)
        column.addWidget(self.mark)
        column.addWidget(self.bars)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        super().set_theme(theme)
        for title in self.titles:
            title.setFont(theme.font(14, bold=True))
            title.setPalette(text_palette(theme, "text"))
        for label in (self.hint, self.next_hint, self.mark, self.search):
            label.setFont(theme.font(12.5))
            label.setPalette(text_palette(theme, "muted"))
        for widget in (self.text, self.element, self.count, self.problem, self.find_order):
            widget.setFont(theme.font(12.5))
        for part in (self.list, self.parts, self.bars):
            part.set_theme(theme)
        self.parts.setMinimumHeight(self.parts.fontMetrics().height())  # the choices need the room more

    def load(self, session: Session | None) -> None:
        """Load a session."""
        super().load(session)
        self.order = order_of(session) if session else Order(())
        self._block = -1
        self.problem.hide()
        with QSignalBlocker(self.text):
            self.text.setText(str(self.order))
        self.parts.show_lines(
            [
                f"{segment}   {words}"
                for segment, words in zip(
                    self.order.segments, segment_words(self.order.segments), strict=True
                )
            ]
        )
        self.hint.setVisible(not self.order.segments)
        self.show_values()

    def render_moment(self, moment: float, selection: Selection) -> None:
        """List who can go in the selected block."""
        super().render_moment(moment, selection)
        if selection.block != self._block:
            self._block = selection.block
            self._list_choices()

    def show_values(self) -> None:
        """Show the final values that were counted for the session."""
        result = self.session.final_values if self.session else None
        self.bars.show_result(result)
        self.bars.setVisible(bool(result and result.values))
        self.mark.setVisible(result is not None)
        if result is not None:
            self.mark.setText(mark_of(result) if result.values else result.verdict)
            self.mark.setToolTip(plain_tip(values_text(result)))
            self.element.setText(result.element)

    def show_search(self, words: str) -> None:
        """Show what a search of orders does, "" without one; a second one can't be started meanwhile."""
        self.search.setText(words)
        self.search.setVisible(bool(words))
        for button in (self.find_order, self.count):
            button.setEnabled(not words)

    def _choose_unit(self, unit: str) -> None:
        self.unit = next(name for name in UNITS if name == unit)
        self._list_choices()

    def _list_choices(self) -> None:
        self.choices = choices_of(self.session, self.unit, max(0, self._block)) if self.session else ()
        self.list.show_lines([self.theme.translate(choice.words) for choice in self.choices])
        self.next_hint.setText(NEXT_HINT if self.choices else NONE_CAN_GO)

    def _choose(self, row: int, until_it_waits: bool, before: int | None = None) -> None:
        if 0 <= row < len(self.choices):
            segment: Segment = self.choices[row].segment
            self._ask(with_part(self.order, unlimited(segment) if until_it_waits else segment, before))

    def _take_text(self) -> None:
        self._take_order(self.text.text())

    def _take_example(self, text: str) -> None:
        """Show an order that gives a value; "" is the launch's own."""
        if text:
            self._take_order(text)

    def _take_order(self, text: str) -> None:
        try:
            order = parse_order(text.strip()) if text.strip() else Order(())
        except OrderTextError as error:
            self.problem.setText(str(error))
            self.problem.show()
            return
        self._ask(order)

    def _ask(self, order: Order) -> None:
        self.problem.hide()
        self.ask.choose_order(order)

    def _ask_values(self) -> None:
        if self.session is not None and self.element.text().strip():
            self.ask.count_values(self.element.text().strip())
