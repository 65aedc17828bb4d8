"""What a program has printed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from ...model.session import Selection
from ...model.visible_text import visible_lines
from ...widgets.theme import Theme
from ..common.view import View


class OutputView(View):
    """Shows the text that a program has printed, its end first."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.output_of: Callable[[], str] = lambda: ""
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName("What the program printed")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.text)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours and another text size."""
        super().set_theme(theme)
        self.text.setFont(theme.font(13, mono=True))

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Show what was printed until now."""
        super().render_moment(moment, selection)
        text = visible_lines(self.output_of())
        if text != self.text.toPlainText():
            self.text.setPlainText(text)
            self.text.moveCursor(QTextCursor.MoveOperation.End)
