"""How the window tells something: questions and errors in a line under the bar, small news over the panes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from .controls import button, mark, paint_icon
from .icons import icon
from .plain_text import PlainLabel, read_aloud
from .theme import Theme

Answers = Sequence[tuple[str, Callable[[], None]]]

READING = 8000  # milliseconds that a sentence stays which needs no answer
NEWS = 3000, 60  # milliseconds that news stay, and for each letter of them


class News(QFrame):
    """A sentence on a card that lies over the panes, above another widget, and moves nothing; it goes by itself."""

    def __init__(self, theme: Theme, parent: QWidget, above: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("news")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.theme, self.over, self.above = theme, parent, above
        self.sentence = PlainLabel(parent=self)
        self.sentence.setWordWrap(True)
        self._read = QTimer(self, singleShot=True)
        self._read.timeout.connect(self.hide)
        for widget in (parent, above):
            widget.installEventFilter(self)
        self.hide()

    def tell(self, sentence: str) -> None:
        """Show a sentence for a while."""
        _say(self.sentence, self.theme.say(sentence))
        self._place()
        self.raise_()
        self.show()
        self._read.start(NEWS[0] + NEWS[1] * len(sentence))

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay above the widget when it moves."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        px, room = self.theme.px, self.over.width()
        self.sentence.setFont(self.theme.font(13))
        text = self.sentence.fontMetrics().horizontalAdvance(self.sentence.text()) + 2
        width = min(text, room - px(80))
        self.sentence.setGeometry(px(16), px(9), width, self.sentence.heightForWidth(width))
        self.resize(width + px(32), self.sentence.height() + px(18))
        bottom = self.above.mapTo(self.over, QPoint(0, 0)).y() - px(12)
        self.move((room - self.width()) // 2, bottom - self.height())


class Notice(QFrame):
    """One sentence, perhaps with buttons to answer it; it stays until it is answered, closed or replaced.

    What is no error and no question is shown by `news`; without any, here, and goes by itself after a while.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.theme = theme
        self.news: News | None = None
        self.message_type = ""  # error, information or question; "" for none
        self.sign, self.sentence = PlainLabel(), PlainLabel()
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
        self._read.timeout.connect(lambda: self.clear("information"))
        self.hide()

    def error(self, sentence: str) -> None:
        """Say what went wrong, where, and what to do."""
        self._show("error", sentence, [])

    def inform(self, sentence: str) -> None:
        """Say something that is no error."""
        if self.news:
            self.news.tell(sentence)
            return
        self._show("information", sentence, [])
        self._read.start()

    def ask(self, sentence: str, answers: Answers) -> None:
        """Ask something: a button for each (text, what it does); closing does nothing."""
        self._show("question", sentence, answers)

    def clear(self, message_type: str = "") -> None:
        """Take the sentence away; with a type, only one of that type."""
        if not message_type or message_type == self.message_type:
            self.message_type = ""
            self.hide()
        if self.news and message_type in ("", "information"):
            self.news.hide()

    def is_shown(self) -> bool:
        """Return whether anything is told or asked now."""
        return self.isVisible() or (self.news is not None and self.news.isVisible())

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        self.theme = theme
        if self.news:
            self.news.set_theme(theme)
        paint_icon(self.close_button, theme)
        self._show_sign()

    def _show_sign(self) -> None:
        wrong = self.message_type == "error"
        picture = icon("warning" if wrong else "info", self.theme.colour("bad" if wrong else "accent"))
        self.sign.setPixmap(picture.pixmap(self.theme.px(18), self.theme.px(18)))

    def _show(self, message_type: str, sentence: str, answers: Answers) -> None:
        for old in self.answers:
            old.hide()  # it goes later, and is not to be seen beside the new ones
            self.row.removeWidget(old)
            old.deleteLater()
        self.message_type = message_type
        self._read.stop()
        if self.news:
            self.news.hide()  # what comes now is newer
        self.answers = [button(text, text, text=text, run=self._answer(run)) for text, run in answers]
        for i, new in enumerate(self.answers):
            self.row.insertWidget(2 + i, new)
        mark(self, "kind", message_type)
        self._show_sign()
        self.show()
        _say(self.sentence, self.theme.say(sentence))

    def _answer(self, run: Callable[[], None]) -> Callable[[], None]:
        def answer() -> None:
            self.clear()
            run()

        return answer


def _say(label: QLabel, sentence: str) -> None:
    """Write a sentence and have it read aloud to whoever does not see it."""
    label.setText(sentence[:1].upper() + sentence[1:])
    label.setAccessibleName(sentence)
    read_aloud(label)
