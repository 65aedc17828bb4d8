"""A page of source that the user can edit: keys, pasted text, undo and the marks that move with lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from ....tracer.model.launch import is_cuda_cpp
from ...control.delay import Delay
from ...model.nothing import nothing
from ...widgets.patterns import mixed
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from . import keys
from .brackets import bracket_pair
from .gutter import Gutter
from .history import History, Step, difference, utf16_length
from .line_map import line_after_change
from .lines import normalised
from .page import Page
from .problems import Problem

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
TAB = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NO_KEYS = Qt.KeyboardModifier.NoModifier
LEAVING = "Tab indents; Escape and then Tab, or Ctrl+Tab, leaves the text"


class Draft(NamedTuple):
    """An unfinished text that is put aside."""

    text: str  # with \\n line ends
    struck: frozenset[int]  # skipped lines
    barriers: frozenset[int]  # lines with a barrier
    problems: tuple[Problem, ...]
    history: History
    cursor: int  # position of the text cursor
    scrolled: int  # position of the scroll bar


class Editor(Page):
    """Shows a file that can be edited after `set_editable`. Tab then indents; Escape and Tab leave the text.

    edited: the complete text, once per turn of the event loop. run_asked: Ctrl+Enter.
    altered: each change, immediately. escape_asked: Escape, while `has_open` reports something to close.
    find_asked: the menu's Find.
    """

    edited = Signal(str)
    run_asked = Signal()
    altered = Signal()

    _showing = True  # the program changes the text, not the user

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.history = History()
        self.has_open: Callable[[], bool] = lambda: False
        self._units, self._base = b"", ""
        self._replaying = self._escaped = False
        self._stale: tuple[int, int] | None = None  # the first and the last changed line, from 0
        super().__init__(theme, Gutter, parent)
        self.escape_asked: Callable[[], object] = nothing
        self.find_asked: Callable[[], object] = nothing
        self.setAcceptRichText(False)
        self._edit_timer = Delay(self, 0, lambda: self.edited.emit(self.file_text()))
        self.document().contentsChanged.connect(self._follow_change)
        self.cursorPositionChanged.connect(self._show_brackets)
        self._showing = False

    # The text, and whether it can be changed.

    def show_text(self, file: str, text: str, first: int) -> None:
        """Show a file with line `first` (from 1) at the top. It is read-only until `set_editable`."""
        self._edit_timer.stop()
        self._showing = True
        self.has_handles = False
        super().show_text(file, text, first)
        self._showing = False
        self.set_base(text)
        self._units = self.text().encode("utf-16-le", "surrogatepass")
        self.history.clear()
        self.set_editable(False)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
        super().set_theme(theme)
        self.setCursorWidth(theme.px(1.2))
        self._show_brackets()

    def set_base(self, text: str) -> None:
        """Set the text that counts as unchanged."""
        self._base = text

    def set_editable(self, editable: bool) -> None:
        """Allow or forbid editing. A shortened text stays read-only."""
        editable = editable and self.shows_exact_text
        if editable != self.isReadOnly() and editable == self.has_handles:
            return
        self.setReadOnly(not editable)
        if not editable:
            flags = Qt.TextInteractionFlag
            self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        self.setAccessibleDescription(LEAVING if editable else "")
        self.has_handles = editable
        self._place_gutter()
        self._gutter.update()

    def _comment(self, cursor: QTextCursor) -> None:
        """Comment lines out in the file's language, or uncomment them."""
        keys.comment(cursor, "//" if is_cuda_cpp(self.file) else "#")

    def is_editable(self) -> bool:
        """Return True if the user can change the text."""
        return not self.isReadOnly()

    def is_edited(self) -> bool:
        """Return True if the text differs from the base text."""
        return self.text() != normalised(self._base) and self.shows_exact_text

    def file_text(self) -> str:
        """Return the text for the file, with the file's own line ends."""
        return with_ends_of(self._base, self.text()) if self.is_edited() else self._base

    def revert(self) -> None:
        """Restore the base text; undo can revert that."""
        self.replace(normalised(self._base))

    def replace(self, text: str) -> None:
        """Replace the text, as one edit by the user."""
        step = difference(0, self.text(), text)
        if step is not None:
            self.history.seal()
            self._apply(step)
            self.history.seal()

    def draft(self) -> Draft:
        """Return the unfinished text with its marks and its history."""
        history, self.history = self.history, History()
        positions = self.textCursor().position(), self.verticalScrollBar().value()
        return Draft(self.text(), self.struck, self.barriers, self.problems, history, *positions)

    def restore_draft(self, draft: Draft) -> None:
        """Restore a draft; the text that it was made from must be shown."""
        self.replace(draft.text)
        self.history = draft.history
        self.set_struck(draft.struck)
        self.set_barriers(draft.barriers)
        self.set_problems(draft.problems)
        cursor = self.textCursor()
        cursor.setPosition(draft.cursor)
        self.setTextCursor(cursor)
        self.verticalScrollBar().setValue(draft.scrolled)
        self._edit_timer.stop()

    # Undo and redo.

    def undo(self) -> None:
        """Undo the last step."""
        self._replay(self.history.undo_step())

    def redo(self) -> None:
        """Redo the step that was undone last."""
        self._replay(self.history.redo_step())

    def _replay(self, step: Step | None) -> None:
        if step is not None and self.is_editable():
            self._replaying = True
            self._apply(step)
            self._replaying = False

    def _apply(self, step: Step) -> None:
        cursor = self.textCursor()
        cursor.setPosition(step.start)
        cursor.setPosition(step.start + utf16_length(step.removed), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(step.added)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def _note_change(self, position: int, removed: int, added: int) -> None:
        """Record a change before the line is coloured."""
        if self._showing:
            return
        before, self._units = self._units, self.text().encode("utf-16-le", "surrogatepass")
        step = difference(position, _part(before, position, removed), _part(self._units, position, added))
        if step is None:
            return  # only formats changed
        if not self._replaying:
            self.history.record(step)
        first = self.document().findBlock(step.start).blockNumber()
        self._hold(first + 1 + step.added.count("\n"))
        last = first + step.added.count("\n")
        self._stale = min(first, (self._stale or (first,))[0]), max(last, (self._stale or (0, last))[1])
        self._move_marks(step, first + 1)

    def _move_marks(self, step: Step, first: int) -> None:
        """Move the marks of lines with their text."""
        block = self.document().findBlock(step.start)
        starts_line = not block.text()[: step.start - block.position()].strip()
        ends = step.removed.count("\n"), step.added.count("\n")
        if ends == (0, 0):
            return
        for name in ("struck", "struck_rows", "barriers"):
            setattr(
                self,
                name,
                frozenset(line_after_change(line, first, starts_line, *ends) for line in getattr(self, name))
                - {0},
            )
        lines = [
            (problem, line_after_change(problem.line, first, starts_line, *ends)) for problem in self.problems
        ]
        self.problems = tuple(problem._replace(line=line) for problem, line in lines if line)
        self._highlighter.struck = self.struck_rows
        self._highlighter.problems = self.problem_colours()

    def _follow_change(self) -> None:
        """Update all that depends on the text, and announce the change."""
        if self._stale is None:
            return
        stale, self._stale = self._stale, None
        if self.columns()[2] != self._gutter.width():
            self._place_gutter()
        self._hang_lines(*stale)
        self._gutter.update()
        self.altered.emit()
        self._edit_timer.start()

    # Keys.

    def event(self, event: QEvent) -> bool:
        """Claim the editing keys, so that the window's shortcuts don't take them."""
        if isinstance(event, QKeyEvent) and self._gutter.hasFocus():
            event.ignore()  # keys of the gutter belong to the window
            return False
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            self._escaped = event.key() == Qt.Key.Key_Escape or (self._escaped and event.key() in TAB)
            if self._claims(event):
                event.accept()
                return True
        return super().event(event)

    def _claims(self, event: QKeyEvent) -> bool:
        key, held = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key == Qt.Key.Key_Escape:
            return self.has_open()
        if not self.is_editable():
            return False
        own = {Qt.Key.Key_Slash, Qt.Key.Key_Y, Qt.Key.Key_Tab}
        return (bool(held & CONTROL) and key in own) or (key == Qt.Key.Key_X and held == CONTROL | SHIFT)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle a key."""
        if event.key() == Qt.Key.Key_Escape and self.has_open():
            self.escape_asked()
        elif self.isReadOnly():
            super().keyPressEvent(event)
        elif self._handle_key(event):
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)

    def _handle_key(self, event: QKeyEvent) -> bool:
        """Handle the editor's own keys; return False for any other key."""
        key, held = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key in TAB:
            return self._do_tab(key == Qt.Key.Key_Backtab or bool(held & SHIFT), bool(held & CONTROL))
        if key in ENTER and held & CONTROL:
            self.history.seal()
            self.run_asked.emit()
        elif key in ENTER and held in (NO_KEYS, SHIFT):
            self._write(partial(keys.break_line, cpp=is_cuda_cpp(self.file)))
        elif event.text() == "}" and is_cuda_cpp(self.file):
            self._write(keys.close_block)
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.undo()
        elif event.matches(QKeySequence.StandardKey.Redo) or (key, held) == (Qt.Key.Key_Y, CONTROL):
            self.redo()
        elif key == Qt.Key.Key_Backspace and held in (NO_KEYS, SHIFT):
            return self._write(keys.erase_level)
        elif key == Qt.Key.Key_Slash and held & CONTROL:
            self._write(self._comment)
        elif key == Qt.Key.Key_Home and held in (NO_KEYS, SHIFT):
            self._write(partial(keys.go_to_line_start, select=bool(held)))
        elif event.text() == "\u00a0":  # Shift+Space on some keyboards; Python rejects it
            self.textCursor().insertText(" ")
        elif (key, held) == (Qt.Key.Key_X, CONTROL | SHIFT):
            self._toggle_here()
        else:
            return False
        return True

    def _do_tab(self, back: bool, leave: bool) -> bool:
        if leave or self._escaped:
            self._escaped = False
            QWidget.focusNextPrevChild(self, not back)  # a QTextEdit would keep the focus
        else:
            self._write(keys.dedent if back else keys.indent)
        return True

    def _write(self, change: Callable[[QTextCursor], bool | None]) -> bool:
        """Change the text at the cursor; return False if nothing was done."""
        cursor = self.textCursor()
        done = change(cursor) is not False
        self.setTextCursor(cursor)
        return done

    def _toggle_here(self) -> None:
        if reason := self.toggle(self.textCursor().blockNumber() + 1):
            QToolTip.showText(self.mapToGlobal(self.cursorRect().bottomLeft()), plain_tip(reason), self)

    # Pasting, the context menu and the mouse.

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Accept text; the window opens files."""
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert pasted text, converted to source."""
        if self.is_editable():
            self.history.seal()
            self.textCursor().insertText(keys.pasted(source.text(), self.document()))
            self.history.seal()
            self.ensureCursorVisible()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the context menu, with the editor's own undo and redo instead of Qt's."""
        menu = self.context_menu()
        menu.exec(event.globalPos())
        menu.deleteLater()

    def context_menu(self) -> QMenu:
        """Build the context menu of the text."""
        menu = self.createStandardContextMenu()
        for action in menu.actions():
            if action.objectName() in ("edit-undo", "edit-redo"):
                menu.removeAction(action)
        menu.addSeparator()
        menu.addAction("Find…\tCtrl+F", lambda: self.find_asked())
        if self.is_editable():
            menu.addAction("Undo\tCtrl+Z", self.undo).setEnabled(self.history.can_undo())
            menu.addAction("Redo\tCtrl+Shift+Z", self.redo).setEnabled(self.history.can_redo())
            menu.addAction("Comment or uncomment\tCtrl+/", partial(self._write, self._comment))
            menu.addAction("Skip or restore line\tCtrl+Shift+X", self._toggle_here)
        return menu

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the cursor; typing then starts another undo step."""
        self.history.seal()
        self._escaped = False
        super().mousePressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Keep the focus while lines are clicked; without the focus, Space belongs to the window."""
        self._gutter.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Let the page follow the marked line again."""
        self._gutter.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.history.seal()
        self._typing = self._escaped = False
        super().focusOutEvent(event)

    def _show_brackets(self) -> None:
        """Highlight the bracket at the cursor and its match."""
        cursor = self.textCursor()
        is_active = self.is_editable() and not cursor.hasSelection() and not self._showing
        pair = bracket_pair(self.document(), cursor.position()) if is_active else None
        highlight = QTextCharFormat()
        highlight.setBackground(mixed(self.theme.colour("panel"), self.theme.palette.accent, 0.3))
        self.select("brackets", [self.selection(index, 1, highlight) for index in pair or ()])


def with_ends_of(base: str, text: str) -> str:
    """Convert line ends to \\r\\n if all lines of `base` end so."""
    all_dos = "\r\n" in base and base.count("\r\n") == base.count("\n")
    return text.replace("\n", "\r\n") if all_dos else text


def _part(text: bytes, start: int, length: int) -> str:
    """Decode `length` UTF-16 units of an encoded text, from unit `start` on."""
    return text[2 * start : 2 * (start + length)].decode("utf-16-le", "surrogatepass")
