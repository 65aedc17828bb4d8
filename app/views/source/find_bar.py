"""The search bar over the source: it marks all matches and selects one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QTextCharFormat
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QWidget

from ...control.delay import Delay
from ...model.nothing import nothing
from ...widgets.controls import button, mark, paint_icon
from ...widgets.patterns import mixed
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme
from .page import Page

PAUSE = 150  # milliseconds after a change of the text before the search repeats
MOST = 1_000  # matches that are marked; all are counted
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
BEYOND = re.compile("[\U00010000-\U0010ffff]")  # characters of two UTF-16 units


class SearchField(QLineEdit):
    """The search field. turned: to the next (1) or the previous (-1) match; left: Escape."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.turned: Callable[[int], object] = nothing
        self.left: Callable[[], object] = nothing

    def event(self, event: QEvent) -> bool:
        """Keep Enter and Escape from the window's shortcuts."""
        own_keys = (*ENTER, Qt.Key.Key_Escape)
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.key() in own_keys
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to a match with Enter, and leave with Escape."""
        if event.key() in ENTER:
            self.turned(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() == Qt.Key.Key_Escape:
            self.left()
        else:
            super().keyPressEvent(event)


class FindBar(QFrame):
    """Finds text in a page. The search ignores case unless the text has capitals."""

    def __init__(self, page: Page, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bar")
        self.page, self.theme = page, theme
        self.matches: list[int] = []  # the starts of all matches, in UTF-16 units
        self._from = 0  # where the search starts
        self.search_field = SearchField(self)
        self.search_field.setAccessibleName("Find in the source")
        self.search_field.setPlaceholderText("Find")
        self.count = PlainLabel(parent=self)
        self.count.setObjectName("muted")
        previous_button = button(
            "Previous match", "Previous match (Shift+F3)", "previous", run=lambda: self.turn(-1)
        )
        next_button = button("Next match", "Next match (F3)", "next", run=lambda: self.turn(1))
        self.close_button = button("Close search", "Close (Esc)", "close", run=self.leave)
        self.buttons = (previous_button, next_button, self.close_button)
        row = QHBoxLayout(self)
        row.addWidget(self.search_field, 1)
        row.addWidget(self.count)
        for flat_button in self.buttons:
            flat_button.setObjectName("flat")
            row.addWidget(flat_button)
        self.search_field.turned = self.turn
        self.search_field.left = self.leave
        self.search_field.textChanged.connect(lambda _: self._search())
        self._changes = Delay(self, PAUSE, self._follow_text)  # Qt moves the marks until then
        page.textChanged.connect(self._changes.start)
        page.cursorPositionChanged.connect(self._show_count)
        self.set_theme(theme)
        self.hide()

    def open(self) -> None:
        """Show the bar, and search for the selected text."""
        self.show()
        cursor = self.page.textCursor()
        self._from, selected = cursor.selectionStart(), cursor.selectedText()
        if selected and "\u2029" not in selected:
            self.search_field.setText(selected)
        self.search_field.selectAll()
        self.search_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search()

    def leave(self) -> None:
        """Hide the bar, and return to the text."""
        self.hide()
        self.matches = []
        self.page.select("found", [])
        self.page.setFocus()

    def turn(self, by: int) -> None:
        """Select the next (1) or the previous (-1) match, and wrap around; open the bar first if it is hidden."""
        if self.isHidden():
            self.open()
        if not self.matches:
            return
        cursor = self.page.textCursor()
        later = [start for start in self.matches if start >= cursor.selectionEnd()]
        earlier = [start for start in self.matches if start < cursor.selectionStart()]
        target = next(iter(later), self.matches[0]) if by > 0 else next(reversed(earlier), self.matches[-1])
        self.page.select_text(target, self._length())

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        self.theme = theme
        self.search_field.setFont(theme.font(13))
        self.count.setFont(theme.font(12))
        for flat_button in self.buttons:
            paint_icon(flat_button, theme)
        gap = theme.px(4)
        self.layout().setContentsMargins(theme.px(8), gap, gap, gap)  # type: ignore[union-attr]  # it has one
        if not self.isHidden():
            self._mark()

    def _length(self) -> int:
        return len(_in_units(self.search_field.text()))

    def _search(self) -> None:
        """Find all matches, and select the first one from where the search starts."""
        self._find()
        target = next(
            (start for start in self.matches if start >= self._from), next(iter(self.matches), None)
        )
        if target is not None:
            self.page.select_text(target, self._length())
        self._show_count()

    def _follow_text(self) -> None:
        if not self.isHidden():
            self._find()
            self._show_count()

    def _find(self) -> None:
        self.matches = find_matches(self.page.text(), self.search_field.text())
        self._mark()

    def _mark(self) -> None:
        highlight = QTextCharFormat()
        highlight.setBackground(mixed(self.theme.colour("panel"), self.theme.palette.accent, 0.28))
        length = self._length()
        self.page.select(
            "found", [self.page.selection(start, length, highlight) for start in self.matches[:MOST]]
        )

    def _show_count(self) -> None:
        """Show the number of the selected match and the number of matches."""
        if self.isHidden():
            return
        start, total = self.page.textCursor().selectionStart(), len(self.matches)
        chosen = self.page.textCursor().hasSelection() and start in self.matches
        summary = f"{self.matches.index(start) + 1} of {total}" if chosen else f"{total} found"
        self.count.setText(summary if total else "No matches" if self.search_field.text() else "")
        self.search_field.setAccessibleDescription(self.count.text())
        mark(self.search_field, "invalid", bool(self.search_field.text()) and not total)


def find_matches(text: str, wanted: str) -> list[int]:
    """List where `wanted` starts in a text, in UTF-16 units. Case counts if `wanted` has capitals."""
    if not wanted:
        return []
    flags = re.NOFLAG if wanted != wanted.lower() else re.IGNORECASE
    return [match.start() for match in re.finditer(re.escape(_in_units(wanted)), _in_units(text), flags)]


def _in_units(text: str) -> str:
    """Replace each character of two UTF-16 units by two characters."""
    return text if text.isascii() else BEYOND.sub("\ufffd\ufffd", text)
