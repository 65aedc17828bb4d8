"""A page of source that can be written on: keys, what goes in and out, what is taken back, and what that moves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QEvent, QMimeData, Qt, QTimer, Signal
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

from ...widgets.patterns import mixed
from ...widgets.plain_text import plain_tip
from ...widgets.theme import Theme
from . import keys
from .brackets import bracket_pair
from .gutter import Gutter
from .history import History, Step, difference, units
from .line_map import moved
from .lines import normalised
from .page import Page
from .problems import Problem

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
TAB = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NO_KEYS = Qt.KeyboardModifier.NoModifier
LEAVING = "Tab indents; Escape and then Tab, or Ctrl+Tab, leaves the text"


class Draft(NamedTuple):
    """A text that is being written, put aside."""

    text: str  # its lines ended by \\n
    struck: frozenset[int]  # lines that are taken out
    barriers: frozenset[int]  # lines with a barrier
    problems: tuple[Problem, ...]  # what is wrong at its lines
    history: History  # that led to it
    cursor: int  # where one was writing
    scrolled: int  # how far the page was


class Editor(Page):
    """Shows a file that can be changed once `set_editable` says so; Tab then indents, and Escape and Tab leave.

    edited: the whole text, once for what changed in a turn of the event loop. run_asked: Ctrl+Enter.
    altered: at once, with every change. escape_asked: Escape, while `has_open` says that something is to be closed.
    find_asked: from the menu.
    """

    edited = Signal(str)
    run_asked = Signal()
    altered = Signal()
    escape_asked = Signal()
    find_asked = Signal()

    _showing = True  # whether what changes is not the user's doing

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.history = History()
        self.has_open: Callable[[], bool] = lambda: False
        self._units, self._base = b"", ""
        self._replaying = self._escaped = False
        self._stale: tuple[int, int] | None = None  # the first and the last line that were changed, from 0
        super().__init__(theme, Gutter, parent)
        self.setAcceptRichText(False)
        self._told = QTimer(self, singleShot=True, interval=0)
        self._told.timeout.connect(lambda: self.edited.emit(self.file_text()))
        self.document().contentsChanged.connect(self._follow_change)
        self.cursorPositionChanged.connect(self._show_brackets)
        self._showing = False

    # What is shown, and whether it can be changed.

    def show_text(self, file: str, text: str, first: int) -> None:
        """Show a file from line `first` (from 1) on, which can't be changed until `set_editable` says so."""
        self._told.stop()
        self._showing = True
        self.has_handles = False
        super().show_text(file, text, first)
        self._showing = False
        self.set_base(text)
        self._units = self.text().encode("utf-16-le", "surrogatepass")
        self.history.clear()
        self.set_editable(False)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size."""
        super().set_theme(theme)
        self.setCursorWidth(theme.px(1.2))
        self._show_brackets()

    def set_base(self, text: str) -> None:
        """Say what counts as the unchanged text."""
        self._base = text

    def set_editable(self, editable: bool) -> None:
        """Let the user change the text; what is not shown to the letter, or no Python, can't be."""
        editable = editable and self.is_whole and not self.file.endswith(".cu")
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

    def is_editable(self) -> bool:
        """Return whether the user can change the text."""
        return not self.isReadOnly()

    def is_edited(self) -> bool:
        """Return whether the text differs from the one that was shown."""
        return self.text() != normalised(self._base) and self.is_whole

    def file_text(self) -> str:
        """Return the text as it would stand in the file, with the file's own line ends."""
        return with_ends_of(self._base, self.text()) if self.is_edited() else self._base

    def revert(self) -> None:
        """Put the text back that was shown; that can be taken back as well."""
        self.replace(normalised(self._base))

    def replace(self, text: str) -> None:
        """Put another text in place of this one, as a change of the user's."""
        step = difference(0, self.text(), text)
        if step is not None:
            self.history.seal()
            self._make(step)
            self.history.seal()

    def draft(self) -> Draft:
        """Return what is being written, to be put aside."""
        history, self.history = self.history, History()
        place = self.textCursor().position(), self.verticalScrollBar().value()
        return Draft(self.text(), self.struck, self.barriers, self.problems, history, *place)

    def take_up(self, draft: Draft) -> None:
        """Go on with what was put aside; call it when the text that it came of is shown."""
        self.replace(draft.text)
        self.history = draft.history
        self.set_struck(draft.struck)
        self.set_barriers(draft.barriers)
        self.set_problems(draft.problems)
        cursor = self.textCursor()
        cursor.setPosition(draft.cursor)
        self.setTextCursor(cursor)
        self.verticalScrollBar().setValue(draft.scrolled)
        self._told.stop()

    # What is changed, and taken back.

    def undo(self) -> None:
        """Take the last step back."""
        self._replay(self.history.back())

    def redo(self) -> None:
        """Make the step again that was taken back last."""
        self._replay(self.history.forward())

    def _replay(self, step: Step | None) -> None:
        if step is not None and self.is_editable():
            self._replaying = True
            self._make(step)
            self._replaying = False

    def _make(self, step: Step) -> None:
        cursor = self.textCursor()
        cursor.setPosition(step.at)
        cursor.setPosition(step.at + units(step.removed), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(step.added)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def _note_change(self, at: int, removed: int, added: int) -> None:
        """Keep what has changed, before it is coloured."""
        if self._showing:
            return
        before, self._units = self._units, self.text().encode("utf-16-le", "surrogatepass")
        step = difference(at, _part(before, at, removed), _part(self._units, at, added))
        if step is None:
            return  # a change of looks
        if not self._replaying:
            self.history.record(step)
        first = self.document().findBlock(step.at).blockNumber()
        self._hold(first + 1 + step.added.count("\n"))
        last = first + step.added.count("\n")
        self._stale = min(first, (self._stale or (first,))[0]), max(last, (self._stale or (0, last))[1])
        self._move_marks(step, first + 1)

    def _move_marks(self, step: Step, first: int) -> None:
        """Let what is marked of lines go with them."""
        block = self.document().findBlock(step.at)
        alone = not block.text()[: step.at - block.position()].strip()
        ends = step.removed.count("\n"), step.added.count("\n")
        if ends == (0, 0):
            return
        for name in ("struck", "struck_rows", "barriers"):
            setattr(
                self, name, frozenset(moved(line, first, alone, *ends) for line in getattr(self, name)) - {0}
            )
        lines = [(problem, moved(problem.line, first, alone, *ends)) for problem in self.problems]
        self.problems = tuple(problem._replace(line=line) for problem, line in lines if line)
        self._highlighter.struck = self.struck_rows
        self._highlighter.problems = self.problem_colours()

    def _follow_change(self) -> None:
        """Put right what depends on the text, and tell of the change."""
        if self._stale is None:
            return
        stale, self._stale = self._stale, None
        if self.columns()[2] != self._gutter.width():
            self._place_gutter()
        self._hang_lines(*stale)
        self._gutter.update()
        self.altered.emit()
        self._told.start()

    # Keys.

    def event(self, event: QEvent) -> bool:
        """Claim the keys that write or change, so that no shortcut of the window takes them."""
        if isinstance(event, QKeyEvent) and self._gutter.hasFocus():
            event.ignore()  # they come from there, and are the window's
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
        """Do what the key says."""
        if event.key() == Qt.Key.Key_Escape and self.has_open():
            self.escape_asked.emit()
        elif self.isReadOnly():
            super().keyPressEvent(event)
        elif self._does(event):
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)

    def _does(self, event: QKeyEvent) -> bool:
        """Do what a key means here; return whether it means anything."""
        key, held = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key in TAB:
            return self._do_tab(key == Qt.Key.Key_Backtab or bool(held & SHIFT), bool(held & CONTROL))
        if key in ENTER and held & CONTROL:
            self.history.seal()
            self.run_asked.emit()
        elif key in ENTER and held in (NO_KEYS, SHIFT):
            self._write(keys.break_line)
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.undo()
        elif event.matches(QKeySequence.StandardKey.Redo) or (key, held) == (Qt.Key.Key_Y, CONTROL):
            self.redo()
        elif key == Qt.Key.Key_Backspace and held in (NO_KEYS, SHIFT):
            return self._write(keys.go_out)
        elif key == Qt.Key.Key_Slash and held & CONTROL:
            self._write(keys.comment)
        elif key == Qt.Key.Key_Home and held in (NO_KEYS, SHIFT):
            self._write(partial(keys.go_home, select=bool(held)))
        elif event.text() == "\u00a0":  # Shift and space on some keyboards, and no blank to Python
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
        """Change the text at the cursor; return whether that was done."""
        cursor = self.textCursor()
        done = change(cursor) is not False
        self.setTextCursor(cursor)
        return done

    def _toggle_here(self) -> None:
        if reason := self.toggle(self.textCursor().blockNumber() + 1):
            QToolTip.showText(self.mapToGlobal(self.cursorRect().bottomLeft()), plain_tip(reason), self)

    # What comes from elsewhere, and what goes with the mouse.

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Return whether something is text; files are for the window to open."""
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Take in text as it goes into a program."""
        if self.is_editable():
            self.history.seal()
            self.textCursor().insertText(keys.pasted(source.text(), self.document()))
            self.history.seal()
            self.ensureCursorVisible()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what keys do, with our own history in place of Qt's."""
        menu = self.context_menu()
        menu.exec(event.globalPos())
        menu.deleteLater()

    def context_menu(self) -> QMenu:
        """Return the menu of the text."""
        menu = self.createStandardContextMenu()
        for action in menu.actions():
            if action.objectName() in ("edit-undo", "edit-redo"):
                menu.removeAction(action)
        menu.addSeparator()
        menu.addAction("Find…\tCtrl+F", self.find_asked.emit)
        if self.is_editable():
            menu.addAction("Undo\tCtrl+Z", self.undo).setEnabled(self.history.can_undo())
            menu.addAction("Redo\tCtrl+Shift+Z", self.redo).setEnabled(self.history.can_redo())
            menu.addAction("Comment or uncomment\tCtrl+/", partial(self._write, keys.comment))
            menu.addAction("Take line out or put it back\tCtrl+Shift+X", self._toggle_here)
        return menu

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Put the cursor there; what is typed next is a step of its own."""
        self.history.seal()
        self._escaped = False
        super().mousePressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Keep the focus while lines are clicked away; without it, a click there leaves Space to the window."""
        self._gutter.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Let the page follow the marked line again."""
        self._gutter.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.history.seal()
        self._typing = self._escaped = False
        super().focusOutEvent(event)

    def _show_brackets(self) -> None:
        """Lay a ground under the bracket at the cursor and its other half."""
        cursor = self.textCursor()
        alone = self.is_editable() and not cursor.hasSelection() and not self._showing
        pair = bracket_pair(self.document(), cursor.position()) if alone else None
        look = QTextCharFormat()
        look.setBackground(mixed(self.theme.colour("panel"), self.theme.palette.accent, 0.3))
        self.select("brackets", [self.selection(at, 1, look) for at in pair or ()])


def with_ends_of(base: str, text: str) -> str:
    """Return a text with its lines ended as in another, where they are all ended alike there."""
    all_dos = "\r\n" in base and base.count("\r\n") == base.count("\n")
    return text.replace("\n", "\r\n") if all_dos else text


def _part(text: bytes, at: int, length: int) -> str:
    """Return so many of Qt's characters of a text in UTF-16."""
    return text[2 * at : 2 * (at + length)].decode("utf-16-le", "surrogatepass")
