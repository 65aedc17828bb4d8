"""Two lists of an order: who can go next, and the parts that were chosen; by mouse, drag and keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDropEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QListWidget, QWidget

from ...widgets.theme import Theme, flat_sheet

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

    chosen = Signal(int, bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__("Who can go next", parent)
        self.setDragDropMode(QListWidget.DragDropMode.DragOnly)
        self.itemDoubleClicked.connect(lambda item: self.chosen.emit(self.row(item), False))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the current line with Return, until it waits with Shift."""
        if event.key() in ENTERS and self.currentRow() >= 0:
            self.chosen.emit(self.currentRow(), bool(event.modifiers() & SHIFT))
        else:
            super().keyPressEvent(event)


class PartList(OrderList):
    """The parts of an order. moved: (line, line before which it comes). inserted: (line of the choices, line before
    which it comes). removed: a line."""

    moved = Signal(int, int)
    inserted = Signal(int, int)
    removed = Signal(int)

    def __init__(self, choices: ChoiceList, parent: QWidget) -> None:
        super().__init__("The order", parent)
        self._choices = choices
        self.setDragDropMode(QListWidget.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.CopyAction)  # a moved line would be removed by Qt too

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remove the current part with Delete, and move it with Alt and an arrow."""
        row, key = self.currentRow(), event.key()
        is_moved = bool(event.modifiers() & ALT)
        if row >= 0 and key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit(row)
        elif is_moved and key == Qt.Key.Key_Up and row > 0:
            self.setCurrentRow(row - 1)
            self.moved.emit(row, row - 1)
        elif is_moved and key == Qt.Key.Key_Down and 0 <= row < self.count() - 1:
            self.setCurrentRow(row + 1)
            self.moved.emit(row, row + 2)
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
            self.inserted.emit(self._choices.currentRow(), before)
        elif source is self and self.currentRow() >= 0:
            self.moved.emit(self.currentRow(), before)
