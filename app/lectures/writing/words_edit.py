"""A text field that applies its edit when it is left, and cancels it with Escape."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QMimeData, Qt
from PySide6.QtGui import QFocusEvent, QFont, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from ...model.nothing import nothing
from ...widgets.controls import mark
from ...widgets.theme import Theme

KEPT_FOCUS = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
FRAME = 4  # pixels for the frame, with some reserve
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class WordsEdit(QPlainTextEdit):
    """A plain-text field that grows with its lines, within limits.

    taken: Ctrl+Enter, or Enter in a one-line field. given_up: Escape. left: the focus moved within the window.
    edited: the user changed the text.

    lines: the smallest and largest number of shown lines. one_line: the text is a single line, which may be wrapped.
    """

    def __init__(
        self, name: str, hint: str = "", lines: tuple[int, int] = (1, 3), *, one_line: bool = False
    ) -> None:
        super().__init__()
        self.taken: Callable[[], object] = nothing
        self.given_up: Callable[[], object] = nothing
        self.left: Callable[[], object] = nothing
        self.edited: Callable[[], object] = nothing
        self.setObjectName("words")
        self.setAccessibleName(name)
        self.setPlaceholderText(hint)
        self.setTabChangesFocus(True)
        self.lines, self.one_line = lines, one_line
        self.held = ""  # the original text, which Escape restores
        self._is_filling = False
        self.keeps_height = False  # whether it never becomes lower
        self._shown_lines = 0
        self.textChanged.connect(self._fit)
        self.textChanged.connect(lambda: None if self._is_filling else self.edited())

    def put(self, text: str) -> None:
        """Show a text as the original."""
        self.held = text
        if self.words() != text:
            self._is_filling = True
            self.setPlainText(text)
            self._is_filling = False
        self.keeps_height = False  # whether it never becomes lower
        self._shown_lines = 0

    def put_under_edit(self, text: str) -> None:
        """Show a text as the original, but keep what the user has typed."""
        if self.is_changed():
            self.held = text
        else:
            self.put(text)

    def words(self) -> str:
        """Return the current text."""
        return self.toPlainText()

    def is_changed(self) -> bool:
        """Return True if the text differs from the original."""
        return self.words() != self.held

    def show_error(self, sentence: str) -> None:
        """Mark the field as invalid with a sentence, or as valid with ""."""
        mark(self, "invalid", bool(sentence))
        self.setAccessibleDescription(sentence)

    def set_theme(self, theme: Theme, pixels: int = 0, *, mono: bool = False) -> None:
        """Apply colours and text size, or a font size in pixels."""
        font = QFont(theme.font(mono=mono))
        if pixels:
            font.setPixelSize(pixels)
        self.setFont(font)
        self._fit()

    def _fit(self) -> None:
        """Set the height for the current lines."""
        least, most = self.lines
        least = max(least, self._shown_lines * self.keeps_height)
        shown = self._shown_lines = min(max(round(self.document().size().height()), least), most)
        around = 2 * round(self.document().documentMargin()) + 2 * FRAME
        self.setFixedHeight(shown * self.fontMetrics().lineSpacing() + around)
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Set the height again after a change of width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._shown_lines = 0
            self._fit()

    def event(self, event: QEvent) -> bool:
        """Reserve Escape and Ctrl+Enter, which are shortcuts of the window."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and self._is_handled(event)
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Apply the edit, cancel it, or type."""
        if event.key() == Qt.Key.Key_Escape:
            self.given_up()
        elif self._is_handled(event):
            self.taken()
        else:
            super().keyPressEvent(event)

    def _is_handled(self, event: QKeyEvent) -> bool:
        takes = self.one_line or event.modifiers() & Qt.KeyboardModifier.ControlModifier
        return event.key() == Qt.Key.Key_Escape or (event.key() in ENTER and bool(takes))

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste as plain text, joined to one line if needed."""
        text = " ".join(source.text().split()) if self.one_line else source.text()
        self.insertPlainText(text)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Emit `left` if the focus moved to another widget of the window."""
        super().focusOutEvent(event)
        if event.reason() not in KEPT_FOCUS:
            self.left()


def has_focus_within(widget: QWidget) -> bool:
    """Return True if a widget or a descendant has the focus."""
    focus = widget.window().focusWidget()
    return focus is not None and (focus is widget or widget.isAncestorOf(focus))
