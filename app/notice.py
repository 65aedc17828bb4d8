"""The one way in which the window tells the user something: a line under the bar that takes no focus."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from .controls import button, mark, paint_icon
from .icons import icon
from .theme import Theme

Answers = Sequence[tuple[str, Callable[[], None]]]

READING = 8000  # milliseconds that a sentence stays which needs no answer


class Notice(QFrame):
    """One sentence, perhaps with buttons to answer it; it stays until it is answered, closed or replaced.

    What is no error and no question goes by itself after a while.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.theme = theme
        self.kind = ""
        self.sign, self.sentence = QLabel(), QLabel()
        self.sentence.setWordWrap(True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.close_button = button("Close this message", "Close (Esc)", "close", run=self.clear)
        self.close_button.setObjectName("flat")
        self.row = QHBoxLayout(self)
        for widget in (self.sign, self.sentence, self.close_button):
            self.row.addWidget(widget)
        self.row.setStretch(1, 1)
        self.answers: list[QPushButton] = []
        self._read = QTimer(self, singleShot=True, interval=READING)
        self._read.timeout.connect(lambda: self.clear("told"))
        self.hide()

    def error(self, sentence: str) -> None:
        """Say what went wrong, where, and what to do."""
        self._show("error", sentence, [])

    def tell(self, sentence: str) -> None:
        """Say something that is no error."""
        self._show("told", sentence, [])
        self._read.start()

    def ask(self, sentence: str, answers: Answers) -> None:
        """Ask something: a button for each (text, what it does); closing does nothing."""
        self._show("question", sentence, answers)

    def clear(self, kind: str = "") -> None:
        """Take the sentence away; with a kind, only one of that kind."""
        if not kind or kind == self.kind:
            self.kind = ""
            self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        paint_icon(self.close_button, theme)
        self._show_sign()

    def _show_sign(self) -> None:
        wrong = self.kind == "error"
        picture = icon("warning" if wrong else "info", self.theme.colour("bad" if wrong else "accent"))
        self.sign.setPixmap(picture.pixmap(self.theme.px(18), self.theme.px(18)))

    def _show(self, kind: str, sentence: str, answers: Answers) -> None:
        for old in self.answers:
            old.hide()  # it goes later, and is not to be seen beside the new ones
            self.row.removeWidget(old)
            old.deleteLater()
        self.kind = kind
        self._read.stop()
        self.answers = [button(text, text, text=text, run=self._answer(run)) for text, run in answers]
        for i, new in enumerate(self.answers):
            self.row.insertWidget(2 + i, new)
        sentence = self.theme.say(sentence)
        self.sentence.setText(sentence[:1].upper() + sentence[1:])
        self.sentence.setAccessibleName(sentence)
        mark(self, "kind", kind)
        self._show_sign()
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(self.sentence, QAccessible.Event.Alert))

    def _answer(self, run: Callable[[], None]) -> Callable[[], None]:
        def answer() -> None:
            self.clear()
            run()

        return answer
