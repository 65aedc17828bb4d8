"""The list of a lecture's steps, to choose from and to reorder."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QDropEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem

from ...model.nothing import nothing
from ...model.visible_text import escape_controls
from ...widgets.controls import on_choice
from ...widgets.theme import Theme

MOVES = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class StepTable(QListWidget):
    """The numbered titles. chosen: a step. moved: (step, its new number). taken_out: a step to delete."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen: Callable[[int], object] = nothing
        self.moved: Callable[[int, int], object] = nothing
        self.taken_out: Callable[[int], object] = nothing
        self.setObjectName("steps")
        self.setAccessibleName("Steps of the lecture")
        self.setToolTip("Drag a step, or press Alt+Up or Alt+Down, to move it; press Del to delete it")
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._titles: Sequence[str] = ()
        on_choice(self, lambda _: self.chosen(self.currentRow()))

    def show_steps(self, titles: Sequence[str], current: int) -> None:
        """Show these steps, with the current one selected."""
        if list(titles) != list(self._titles):
            self._titles = list(titles)
            self.clear()
            for number, title in enumerate(titles, 1):
                self.addItem(QListWidgetItem(f"{number}   {escape_controls(title)}"))
        self.setCurrentRow(current)

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.setFont(theme.font())
        self.setMinimumHeight(theme.px(80))

    def sizeHint(self) -> QSize:
        """Return the height of all steps."""
        rows = max(self.count(), 3)
        return QSize(
            200, rows * max(self.sizeHintForRow(0), self.fontMetrics().height()) + 2 * self.frameWidth() + 4
        )

    def event(self, event: QEvent) -> bool:
        """Reserve the keys that move a step, which are shortcuts of the window."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and _direction(event)
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the step with Alt and an arrow, delete it with Delete."""
        row, direction = self.currentRow(), _direction(event)
        if direction and 0 <= row + direction < self.count():
            self.moved(row, row + direction)
        elif event.key() == Qt.Key.Key_Delete and row >= 0:
            self.taken_out(row)
        elif not direction:
            super().keyPressEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Request the move of a step; the list is updated afterwards."""
        source, position = self.currentRow(), event.position().toPoint()
        target = self.indexAt(position).row()
        below = self.dropIndicatorPosition() == QAbstractItemView.DropIndicatorPosition.BelowItem
        target = self.count() if target < 0 else target + below
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()
        to = target - (target > source)
        if event.source() is self and to != source:
            self.moved(source, to)


def _direction(event: QKeyEvent) -> int:
    alt = event.modifiers() & Qt.KeyboardModifier.AltModifier
    return MOVES.get(Qt.Key(event.key()), 0) if alt else 0
