"""The steps of a lecture as a list to choose from and to put in order."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QDropEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem

from ...model.visible_text import visible
from ...widgets.theme import Theme

MOVES = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class StepTable(QListWidget):
    """Titles with their numbers. chosen: a step. moved: (step, the number that it is to have). taken_out: a step."""

    chosen = Signal(int)
    moved = Signal(int, int)
    taken_out = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("steps")
        self.setAccessibleName("Steps of the lecture")
        self.setToolTip("Drag a step, or press Alt+Up and Alt+Down, to move it; Del takes it out")
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._titles: Sequence[str] = ()
        self.itemClicked.connect(lambda _: self.chosen.emit(self.currentRow()))
        self.itemActivated.connect(lambda _: self.chosen.emit(self.currentRow()))

    def show_steps(self, titles: Sequence[str], current: int) -> None:
        """Show these steps, one of them as the one that is presented."""
        if list(titles) != list(self._titles):
            self._titles = list(titles)
            self.clear()
            for number, title in enumerate(titles, 1):
                self.addItem(QListWidgetItem(f"{number}   {visible(title)}"))
        self.setCurrentRow(current)

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.setFont(theme.font())
        self.setMinimumHeight(theme.px(80))

    def sizeHint(self) -> QSize:
        """Ask for the height of all steps."""
        rows = max(self.count(), 3)
        return QSize(
            200, rows * max(self.sizeHintForRow(0), self.fontMetrics().height()) + 2 * self.frameWidth() + 4
        )

    def event(self, event: QEvent) -> bool:
        """Keep the keys that move a step from what they do elsewhere in the window."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and _direction(event)
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the step with Alt and an arrow, take it out with Delete."""
        row, direction = self.currentRow(), _direction(event)
        if direction and 0 <= row + direction < self.count():
            self.moved.emit(row, row + direction)
        elif event.key() == Qt.Key.Key_Delete and row >= 0:
            self.taken_out.emit(row)
        elif not direction:
            super().keyPressEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Ask for the step to be moved; the list shows it once that is done."""
        source, position = self.currentRow(), event.position().toPoint()
        target = self.indexAt(position).row()
        below = self.dropIndicatorPosition() == QAbstractItemView.DropIndicatorPosition.BelowItem
        target = self.count() if target < 0 else target + below
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()
        to = target - (target > source)
        if event.source() is self and to != source:
            self.moved.emit(source, to)


def _direction(event: QKeyEvent) -> int:
    alt = event.modifiers() & Qt.KeyboardModifier.AltModifier
    return MOVES.get(Qt.Key(event.key()), 0) if alt else 0
