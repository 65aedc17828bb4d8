"""The output of a program."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from ...model.session import Selection
from ...model.visible_text import escape_controls_in_lines
from ...widgets.theme import Theme
from ..common.view import View


class OutputView(View):
    """Shows the printed text of a program, scrolled to the end."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.output_of: Callable[[], str] = lambda: ""
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName("Output of the program")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.text)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        super().set_theme(theme)
        self.text.setFont(theme.font(13, mono=True))

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Show the output so far."""
        super().render_moment(moment, selection)
        text = escape_controls_in_lines(self.output_of())
        if text != self.text.toPlainText():
            self.text.setPlainText(text)
            self.text.moveCursor(QTextCursor.MoveOperation.End)
