"""Messages of the window: errors and questions in a stack over the panes, and news that disappear by themselves."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from ..model.nothing import nothing
from .controls import button, mark, paint_icon
from .icons import icon
from .plain_text import PlainLabel, announce
from .theme import Theme

Answers = Sequence[tuple[str, Callable[[], None]]]

READING_TIME = 8000  # milliseconds that information stays
UNDO = "Undo"  # the answer that Ctrl+Z gives
MOST_MESSAGES = 4  # shown at once
NEWS = 3000, 60  # milliseconds that news stay: a base, and more for each letter


class News(QFrame):
    """A sentence on a card that floats over the panes, above another widget, and disappears by itself."""

    def __init__(self, theme: Theme, parent: QWidget, above: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("news")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.theme, self.over, self.above = theme, parent, above
        self.sentence = PlainLabel(parent=self)
        self.sentence.setWordWrap(True)
        self._bottom: int | None = None
        self._read = QTimer(self, singleShot=True)
        self._read.timeout.connect(self.hide)
        for widget in (parent, above):
            widget.installEventFilter(self)
        self.hide()

    def show_sentence(self, sentence: str) -> None:
        """Show a sentence for a while."""
        _show_sentence(self.sentence, self.theme.translate(sentence))
        self._place()
        self.raise_()
        self.show()
        self._read.start(NEWS[0] + NEWS[1] * len(sentence))

    def move_above(self, bottom: int | None) -> None:
        """Move above messages that begin at this height, None without messages."""
        self._bottom = bottom
        self._place()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
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
        bottom = self.above.mapTo(self.over, QPoint(0, 0)).y() if self._bottom is None else self._bottom
        bottom -= px(12 if self._bottom is None else 4)
        self.move((room - self.width()) // 2, bottom - self.height())


class Banner(QFrame):
    """One message, with buttons if it is a question."""

    def __init__(self, message_type: str, cause: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.message_type, self.cause = message_type, cause
        self.sign, self.sentence = PlainLabel(), PlainLabel()
        self.sentence.setWordWrap(True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.close_button = button("Close this message", "Close (Esc)", "close")
        self.close_button.setObjectName("flat")
        self.answers: list[QPushButton] = []
        self.row = QHBoxLayout(self)
        for widget in (self.sign, self.sentence, self.close_button):
            self.row.addWidget(widget)
        self.row.setStretch(1, 1)
        mark(self, "kind", message_type)
        self.set_theme(theme)

    def offer(self, text: str, run: Callable[[], None]) -> None:
        """Add a button that answers the message."""
        self.answers.append(button(text, text, text=text, run=run))
        self.row.insertWidget(1 + len(self.answers), self.answers[-1])

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        paint_icon(self.close_button, theme)
        wrong = self.message_type == "error"
        picture = icon("warning" if wrong else "info", theme.colour("bad" if wrong else "accent"))
        self.sign.setPixmap(picture.pixmap(theme.px(18), theme.px(18)))

    def widest(self) -> int:
        """Return the width at which the sentence fits in one line."""
        text = self.sentence.fontMetrics().horizontalAdvance(self.sentence.text())
        others = self.row.sizeHint().width() - self.sentence.sizeHint().width()
        return text + others + 4


class Notice(QWidget):
    """A stack of messages, the newest below; each stays until its cause is gone, or it is answered or closed.

    A message replaces the one with the same cause. Information is shown by `news`; without `news`, it is shown here
    and disappears by itself. changed: the messages have changed. left: a message with the keyboard focus was closed.
    """

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.left: Callable[[], object] = nothing
        self.theme = theme
        self.news: News | None = None
        self.banners: list[Banner] = []  # from the oldest to the newest
        self.is_private: Callable[[str], bool] = lambda cause: (
            False
        )  # hide messages of a cause from an audience
        self._empty = PlainLabel(parent=self)
        self._empty.hide()
        self._over: tuple[QWidget, QWidget] | None = None
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self._read = QTimer(self, singleShot=True, interval=READING_TIME)
        self._read.timeout.connect(lambda: self.clear("information"))
        self.hide()

    def float_over(self, parent: QWidget, above: QWidget) -> None:
        """Float over a widget, above another one in it, without changing the layout."""
        self._over = parent, above
        self.setParent(parent)
        for widget in (parent, above):
            widget.installEventFilter(self)

    @property
    def message_type(self) -> str:
        """Type of the newest message: error, information or question; "" for none."""
        return self.banners[-1].message_type if self.banners else ""

    @property
    def sentence(self) -> PlainLabel:
        """Sentence of the newest message."""
        return self.banners[-1].sentence if self.banners else self._empty

    @property
    def answers(self) -> list[QPushButton]:
        """Buttons of the newest message."""
        return self.banners[-1].answers if self.banners else []

    def sentences(self) -> list[str]:
        """List the sentences of all messages, from the oldest to the newest."""
        return [banner.sentence.text() for banner in self.banners]

    def private_sentences(self) -> list[str]:
        """List the sentences of the messages that are hidden from an audience."""
        return [banner.sentence.text() for banner in self.banners if self.is_private(banner.cause)]

    def error(self, sentence: str, cause: str = "") -> None:
        """Show an error: what happened, why, and what to do."""
        self._show("error", sentence, [], cause)

    def inform(self, sentence: str) -> None:
        """Show information."""
        if self.news and not self.is_private(""):
            self.news.show_sentence(sentence)
        elif not self.news:
            self._show("information", sentence, [], "")
            self._read.start()

    def ask(self, sentence: str, answers: Answers, cause: str = "") -> None:
        """Ask a question, with a button for each (text, callback); closing runs no callback."""
        self._show("question", sentence, answers, cause)

    def undo(self) -> bool:
        """Click Undo in the newest message; return False if it has none."""
        offered = next((answer for answer in self.answers if answer.text() == UNDO), None)
        if offered is not None:
            offered.click()
        return offered is not None

    def clear(self, message_type: str = "", cause: str | None = None) -> None:
        """Remove messages: all, those of a type, or those of a cause."""
        for banner in list(self.banners):
            if message_type in ("", banner.message_type) and cause in (None, banner.cause):
                self._take_away(banner)
        if self.news and message_type in ("", "information") and cause is None:
            self.news.hide()
        self._arrange()

    def keep(self, causes: Container[str]) -> None:
        """Remove all messages except those of these causes."""
        for banner in list(self.banners):
            if banner.cause not in causes:
                self._take_away(banner)
        if self.news:
            self.news.hide()
        self._arrange()

    def close_newest(self) -> None:
        """Close the newest message, and the news."""
        if self.news:
            self.news.hide()
        if self.banners:
            self._take_away(self.banners[-1])
        self._arrange()

    def refresh(self) -> None:
        """Show or hide the messages after a change of audience."""
        if self.news and self.is_private(""):
            self.news.hide()
        self._arrange()

    def is_shown(self) -> bool:
        """Return True if any message is visible."""
        return self.isVisible() or (self.news is not None and self.news.isVisible())

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        if self.news:
            self.news.set_theme(theme)
        for banner in self.banners:
            banner.set_theme(theme)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in place when the window is resized."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return super().eventFilter(watched, event)

    def _show(self, message_type: str, sentence: str, answers: Answers, cause: str) -> None:
        self._read.stop()
        for banner in [old for old in self.banners if old.cause == cause]:
            self._take_away(banner)
        if self.news:
            self.news.hide()  # the new message is newer
        banner = Banner(message_type, cause, self.theme, self)
        banner.close_button.clicked.connect(lambda _checked: self._close(banner))
        for text, run in answers:
            banner.offer(text, partial(self._answer, banner, run))
        self.banners.append(banner)
        self.column.addWidget(banner)
        for oldest in self.banners[:-MOST_MESSAGES]:
            self._take_away(oldest)
        _show_sentence(banner.sentence, self.theme.translate(sentence))
        self._arrange()

    def _take_away(self, banner: Banner) -> None:
        self.banners.remove(banner)
        banner.hide()  # it is deleted later
        self.column.removeWidget(banner)
        banner.deleteLater()

    def _close(self, banner: Banner) -> None:
        if banner in self.banners:
            had_focus = banner.isAncestorOf(QApplication.focusWidget() or self)
            self._take_away(banner)
            self._arrange()
            if had_focus:
                self.left()

    def _answer(self, banner: Banner, run: Callable[[], None]) -> None:
        self._close(banner)
        run()

    def _arrange(self) -> None:
        for banner in self.banners:
            banner.setVisible(not self.is_private(banner.cause))
        self.setVisible(not all(self.is_private(banner.cause) for banner in self.banners))
        self._place()
        if self.news and self.isHidden():
            self.news.move_above(None)
        self.changed.emit()

    def _place(self) -> None:
        if self._over is None or self.isHidden():
            return
        over, above = self._over
        px, room = self.theme.px, over.width()
        self.column.setSpacing(px(4))
        shown = [banner for banner in self.banners if not banner.isHidden()]
        width = min(max(banner.widest() for banner in shown), room - px(80))
        bottom = above.mapTo(over, QPoint(0, 0)).y() - px(8)
        for banner in self.banners:
            banner.ensurePolished()
        self.column.invalidate()
        self.resize(width, self.column.heightForWidth(width) if self.column.hasHeightForWidth() else 0)
        self.move((room - width) // 2, max(bottom - self.height(), 0))
        self.raise_()
        if self.news:
            self.news.move_above(self.y())


def _show_sentence(label: QLabel, sentence: str) -> None:
    """Show a sentence in a label and announce it to screen readers.

    The name of a file or of an element at its start stays as it is.
    """
    is_name = not set(".[").isdisjoint(sentence.partition(" ")[0].rstrip(".,:"))
    label.setText(sentence if is_name else sentence[:1].upper() + sentence[1:])
    label.setAccessibleName(sentence)
    announce(label)
