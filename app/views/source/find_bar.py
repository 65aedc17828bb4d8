"""The bar over the source that finds text in it: all that matches is marked, one match after the other selected."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QTextCharFormat
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QWidget

from ...widgets.controls import button, mark, paint_icon
from ...widgets.patterns import mixed
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme
from .page import Page

PAUSE = 150  # milliseconds after a change of the text
MOST = 1_000  # matches that are marked; all are counted
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
BEYOND = re.compile("[\U00010000-\U0010ffff]")  # what takes two of Qt's characters


class Wanted(QLineEdit):
    """The field for what is looked for. turned: to the next match (1) or the one before (-1); left: Escape."""

    turned = Signal(int)
    left = Signal()

    def event(self, event: QEvent) -> bool:
        """Keep the keys that mean something here from the shortcuts of the window."""
        own = (*ENTER, Qt.Key.Key_Escape)
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.key() in own
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Turn to a match by Enter, and leave by Escape."""
        if event.key() in ENTER:
            self.turned.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class FindBar(QFrame):
    """Finds text in a page, in any case of letters unless capitals are wanted."""

    def __init__(self, page: Page, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bar")
        self.page, self.theme = page, theme
        self.found: list[int] = []  # where matches begin, in Qt's characters
        self._from = 0  # where one was before
        self.wanted = Wanted(self)
        self.wanted.setAccessibleName("Find in the source")
        self.wanted.setPlaceholderText("Find")
        self.count = PlainLabel(parent=self)
        self.count.setObjectName("muted")
        before = button(
            "The match before", "The match before (Shift+F3)", "previous", run=lambda: self.turn(-1)
        )
        after = button("The next match", "The next match (F3)", "next", run=lambda: self.turn(1))
        self.close_button = button("Close the search", "Close (Esc)", "close", run=self.leave)
        self.buttons = (before, after, self.close_button)
        row = QHBoxLayout(self)
        row.addWidget(self.wanted, 1)
        row.addWidget(self.count)
        for one in self.buttons:
            one.setObjectName("flat")
            row.addWidget(one)
        self.wanted.turned.connect(self.turn)
        self.wanted.left.connect(self.leave)
        self.wanted.textChanged.connect(lambda _: self._look_anew())
        self._changes = QTimer(self, singleShot=True, interval=PAUSE)  # marks go with their text until then
        self._changes.timeout.connect(self._follow_text)
        page.textChanged.connect(self._changes.start)
        page.cursorPositionChanged.connect(self._show_count)
        self.set_theme(theme)
        self.hide()

    def open(self) -> None:
        """Show the bar, and look for what is selected."""
        self.show()
        cursor = self.page.textCursor()
        self._from, chosen = cursor.selectionStart(), cursor.selectedText()
        if chosen and "\u2029" not in chosen:
            self.wanted.setText(chosen)
        self.wanted.selectAll()
        self.wanted.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._look_anew()

    def leave(self) -> None:
        """Hide the bar, and go back to the text."""
        self.hide()
        self.found = []
        self.page.select("found", [])
        self.page.setFocus()

    def turn(self, by: int) -> None:
        """Select the next match (1) or the one before (-1), from the end on at the other; open the bar where needed."""
        if self.isHidden():
            self.open()
        if not self.found:
            return
        cursor = self.page.textCursor()
        later = [at for at in self.found if at >= cursor.selectionEnd()]
        earlier = [at for at in self.found if at < cursor.selectionStart()]
        at = next(iter(later), self.found[0]) if by > 0 else next(reversed(earlier), self.found[-1])
        self.page.select_text(at, self._length())

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size."""
        self.theme = theme
        self.wanted.setFont(theme.font(13))
        self.count.setFont(theme.font(12))
        for one in self.buttons:
            paint_icon(one, theme)
        gap = theme.px(4)
        self.layout().setContentsMargins(theme.px(8), gap, gap, gap)  # type: ignore[union-attr]  # it has one
        if not self.isHidden():
            self._mark()

    def _length(self) -> int:
        return len(_in_units(self.wanted.text()))

    def _look_anew(self) -> None:
        """Find what is wanted now, and select the first match from where one was."""
        self._find()
        at = next((at for at in self.found if at >= self._from), next(iter(self.found), None))
        if at is not None:
            self.page.select_text(at, self._length())
        self._show_count()

    def _follow_text(self) -> None:
        if not self.isHidden():
            self._find()
            self._show_count()

    def _find(self) -> None:
        self.found = matches(self.page.text(), self.wanted.text())
        self._mark()

    def _mark(self) -> None:
        look = QTextCharFormat()
        look.setBackground(mixed(self.theme.colour("panel"), self.theme.palette.accent, 0.28))
        length = self._length()
        self.page.select("found", [self.page.selection(at, length, look) for at in self.found[:MOST]])

    def _show_count(self) -> None:
        """Say which of how many matches is selected."""
        if self.isHidden():
            return
        at, total = self.page.textCursor().selectionStart(), len(self.found)
        chosen = self.page.textCursor().hasSelection() and at in self.found
        told = f"{self.found.index(at) + 1} of {total}" if chosen else f"{total} found"
        self.count.setText(told if total else "none" if self.wanted.text() else "")
        self.wanted.setAccessibleDescription(self.count.text())
        mark(self.wanted, "invalid", bool(self.wanted.text()) and not total)


def matches(text: str, wanted: str) -> list[int]:
    """Return where a text holds another, in Qt's characters; in any case of letters, but as written with capitals."""
    if not wanted:
        return []
    flags = re.NOFLAG if wanted != wanted.lower() else re.IGNORECASE
    return [found.start() for found in re.finditer(re.escape(_in_units(wanted)), _in_units(text), flags)]


def _in_units(text: str) -> str:
    """Return a text that has as many characters as Qt counts."""
    return text if text.isascii() else BEYOND.sub("\ufffd\ufffd", text)
