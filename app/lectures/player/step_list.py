"""The list of a lecture's steps, filtered by typing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from ...model.visible_text import escape_controls
from ...widgets.controls import on_choice
from ...widgets.theme import Theme
from ..model.document import Step

NUMBER = Qt.ItemDataRole.UserRole
MOVING = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class StepList(QDialog):
    """A dialog with one line per step. go: shows a step, by its number from 0."""

    def __init__(
        self,
        parent: QWidget,
        theme: Theme,
        title: str,
        steps: Sequence[Step],
        shown: int,
        go: Callable[[int], object],
    ) -> None:
        super().__init__(parent)
        self.go = go
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(escape_controls(title))
        self.words, self.list = QLineEdit(), QListWidget()
        self.words.setPlaceholderText("Part of a title, or a number")
        self.words.setAccessibleName("Find a step")
        self.list.setAccessibleName("Steps")
        for widget in (self.words, self.list):
            widget.setFont(theme.font(15))
        self.list.setSpacing(theme.px(2))
        for number, step in enumerate(steps):
            item = QListWidgetItem(line_of(number, step), self.list)
            item.setData(NUMBER, number)
        column = QVBoxLayout(self)
        column.addWidget(self.words)
        column.addWidget(self.list)
        self.list.setCurrentRow(shown)
        self.words.textChanged.connect(self._filter)
        self.words.returnPressed.connect(self._take)
        self.words.installEventFilter(self)
        on_choice(self.list, lambda _: self._take())
        rows = (len(steps) + 3) * (self.list.sizeHintForRow(0) + 2 * self.list.spacing())
        self.resize(theme.px(560), min(max(rows, theme.px(240)), theme.px(620), parent.height()))
        self.words.setFocus()

    def _filter(self, text: str) -> None:
        """Show the steps whose lines contain all these words."""
        words = text.lower().split()
        items = [self.list.item(row) for row in range(self.list.count())]
        for item in items:
            item.setHidden(not all(word in item.text().lower() for word in words))
        if self.list.currentItem() is None or self.list.currentItem().isHidden():
            self.list.setCurrentRow(next((i for i, item in enumerate(items) if not item.isHidden()), -1))

    def _take(self) -> None:
        """Go to the chosen step, if any."""
        item = self.list.currentItem()
        if item is not None and not item.isHidden():
            number = item.data(NUMBER)
            self.close()
            self.go(number)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass the keys that move in the list from the text field to the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in MOVING:
            self.list.event(event)
            return True
        return super().eventFilter(watched, event)


def line_of(number: int, step: Step) -> str:
    """Format a step for the list: "3   How often is A read?   (question)"."""
    asks = "   (question)" if step.change.question else ""
    return f"{number + 1}   {escape_controls(step.title)}{asks}"
