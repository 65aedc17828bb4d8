"""A field for words that are taken when one leaves it, and given up with Escape."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFont, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from ...widgets.controls import mark
from ...widgets.theme import Theme

KEPT_FOCUS = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
FRAME = 4  # pixels that the frame takes, and to spare
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class WordsEdit(QPlainTextEdit):
    """Plain text in a field as high as its lines, within limits.

    taken: with Ctrl+Enter, and with Enter where it holds one line. given_up: with Escape. left: the focus went
    elsewhere in the window.

    lines: how many it shows at least and at most. one_line: what is written is one, which may be shown as several.
    """

    taken = Signal()
    given_up = Signal()
    left = Signal()

    def __init__(
        self, name: str, hint: str = "", lines: tuple[int, int] = (1, 3), *, one_line: bool = False
    ) -> None:
        super().__init__()
        self.setObjectName("words")
        self.setAccessibleName(name)
        self.setPlaceholderText(hint)
        self.setTabChangesFocus(True)
        self.lines, self.one_line = lines, one_line
        self.held = ""  # the text that was put in, which Escape goes back to
        self.textChanged.connect(self._fit)

    def put(self, text: str) -> None:
        """Show a text, which nobody has changed yet."""
        self.held = text
        if self.words() != text:
            self.setPlainText(text)

    def words(self) -> str:
        """Return the text as it is now."""
        return self.toPlainText()

    def is_changed(self) -> bool:
        """Return whether somebody has changed the text."""
        return self.words() != self.held

    def tell(self, sentence: str) -> None:
        """Mark the field as wrong where there is a sentence that says why."""
        mark(self, "invalid", bool(sentence))
        self.setAccessibleDescription(sentence)

    def set_theme(self, theme: Theme, pixels: int = 0, *, mono: bool = False) -> None:
        """Take colours and text size, or letters of so many pixels."""
        font = QFont(theme.font(mono=mono))
        if pixels:
            font.setPixelSize(pixels)
        self.setFont(font)
        self._fit()

    def _fit(self) -> None:
        """Be as high as the lines that there are."""
        least, most = self.lines
        shown = min(max(round(self.document().size().height()), least), most)
        around = 2 * round(self.document().documentMargin()) + 2 * FRAME
        self.setFixedHeight(shown * self.fontMetrics().lineSpacing() + around)
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Be as high as the lines are at another width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def event(self, event: QEvent) -> bool:
        """Keep Escape and Ctrl+Enter from what they do elsewhere in the window."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and self._is_own(event)
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the text, give it up, or write."""
        if event.key() == Qt.Key.Key_Escape:
            self.given_up.emit()
        elif self._is_own(event):
            self.taken.emit()
        else:
            super().keyPressEvent(event)

    def _is_own(self, event: QKeyEvent) -> bool:
        takes = self.one_line or event.modifiers() & Qt.KeyboardModifier.ControlModifier
        return event.key() == Qt.Key.Key_Escape or (event.key() in ENTER and bool(takes))

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Take what is pasted as plain text, in one line where there is one."""
        text = " ".join(source.text().split()) if self.one_line else source.text()
        self.insertPlainText(text)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell that the focus went to another widget of the window."""
        super().focusOutEvent(event)
        if event.reason() not in KEPT_FOCUS:
            self.left.emit()


def has_focus_within(widget: QWidget) -> bool:
    """Return whether the focus is on a widget or in it."""
    focus = widget.window().focusWidget()
    return focus is not None and (focus is widget or widget.isAncestorOf(focus))
