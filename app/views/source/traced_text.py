"""The kernel's file as it was traced, and as it stands in the editor: which line of one is which of the other.

What runs is the file with its struck lines taken out, each statement replaced by `pass`, so the lines of a trace are
those of the file. The editor shows the file itself, and strikes the lines out. While it is edited, what is said of
lines of the trace is shown beside those that stand there unchanged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from .editor import Draft, Editor, with_ends_of
from .line_map import LineMap, Value, line_map
from .lines import normalised

PAUSE = 150  # milliseconds without a change, after which all lines are compared where that takes long
ALL = 10**12  # pairs of lines: more than there are
DRAFTS, ASKED = 16, 8  # how many are kept


class FileText(NamedTuple):
    """What a session ran: a file, and which of its lines were taken out."""

    text: str  # of the whole file, with the lines that were taken out
    struck: frozenset[int] = frozenset()  # those lines, from 1


class TracedText(QObject):
    """Keeps the editor's text and what was traced of it together.

    moved: lines of the trace stand elsewhere now. shown: another text than before is in the editor.
    """

    moved = Signal()
    shown = Signal()

    def __init__(self, editor: Editor) -> None:
        super().__init__(editor)
        self.editor = editor
        self.base: FileText | None = (
            None  # what the text in the editor was traced from; None for any other file
        )
        self._file = ""
        self._map: LineMap | None = None  # None where each line stands where it did
        self._drafts: dict[tuple[str, str], Draft] = {}  # by file and traced text
        self._asked: deque[FileText] = deque(maxlen=ASKED)  # of which a trace may be on its way
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(lambda: self._compare(ALL))
        editor.altered.connect(self._compare)
        editor.edited.connect(self.ask)
        editor.run_asked.connect(self.ask)

    def ask(self) -> None:
        """Note that a trace of what the editor has now may come."""
        self._asked.append(FileText(self.editor.file_text(), self.editor.struck))

    def show(self, file: str, base: FileText, first: int, editable: bool) -> None:
        """Show the file of a session from line `first` on.

        Where the text in the editor came of this one, or its trace was asked for, it stays with cursor and history,
        and what was typed since counts as not traced. Any other is kept, for when its own session is shown again.
        """
        before, awaited = self.base, self._is_awaited(base)
        drafted = False
        if editable and before and (awaited or self._goes_on(base, before)):
            self._file, self.base, self.editor.file = file, base, file
            self.editor.set_base(base.text)
            self.editor.go_on(first)
        else:
            self.leave()
            self._file, self.base = file, base
            self.editor.show_text(file, base.text, first)
            self.editor.set_editable(editable)
            draft = self._drafts.pop((file, base.text), None)
            if drafted := draft is not None:
                self.editor.take_up(draft)
        self._compare()
        if base != before and not awaited and not drafted:
            self.editor.set_struck(self.lines(base.struck))
            self.mark_changed()
        if base != before:
            self.shown.emit()

    def _goes_on(self, base: FileText, before: FileText) -> bool:
        """Return whether the text in the editor is a trace's, or what came of it since."""
        return base.text == before.text or normalised(base.text) == self.editor.text()

    def _is_awaited(self, base: FileText) -> bool:
        """Return whether this was asked for, and the editor may be further on by now; what was before it is over."""
        awaited = self.base is not None and base in self._asked
        while awaited and self._asked.popleft() != base:
            pass
        return awaited

    def leave(self) -> None:
        """Keep what was typed, and its history, since another text comes to the editor."""
        if self.base is not None and (self.editor.is_edited() or self.editor.history.can_undo()):
            self._drafts[self._file, self.base.text] = self.editor.draft()
            while len(self._drafts) > DRAFTS:
                del self._drafts[next(iter(self._drafts))]
        self.base, self._map = None, None

    def forget(self) -> None:
        """Give up all that was typed and not run but what is in the editor."""
        self._drafts.clear()

    def drafts(self) -> list[str]:
        """Return the texts that were edited and not run, of files that are not shown now."""
        return [draft.text for (_, base), draft in self._drafts.items() if draft.text != normalised(base)]

    def text_of(self, file: str, base: str) -> str | None:
        """Return what was typed of a text that is not shown now, None where nothing was."""
        draft = self._drafts.get((file, base))
        return with_ends_of(base, draft.text) if draft and draft.text != normalised(base) else None

    def is_changed(self) -> bool:
        """Return whether the text in the editor, or what is taken out of it, is not what was traced."""
        return self.base is not None and (self._map is not None or self.editor.struck != self.base.struck)

    # Lines of the trace, as lines of the editor.

    def line(self, line: int) -> int:
        """Return where a line of the trace stands, 0 where it is gone."""
        return line if self._map is None else self._map.line(line)

    def lines(self, lines: Iterable[int]) -> frozenset[int]:
        """Return where lines of the trace stand."""
        return frozenset(lines) if self._map is None else self._map.lines(lines)

    def values(self, values: Mapping[int, Value]) -> dict[int, Value]:
        """Return the values of lines of the trace by the lines of the editor."""
        return dict(values) if self._map is None else self._map.values(values)

    def _compare(self, most: int | None = None) -> None:
        """Find the lines that stand as they did: at once where few have changed, else after a pause."""
        if self.base is None:
            return
        before, text = self._map, self.editor.text()
        traced = normalised(self.base.text)
        if text == traced:
            self._map = None
        else:
            lines = traced.split("\n"), text.split("\n")
            self._map = line_map(*lines) if most is None else line_map(*lines, most=most)
            if not self._map.complete:
                self._pause.start()
        self.mark_changed()
        if self._map != before:
            self.moved.emit()

    def mark_changed(self) -> None:
        """Show which lines of the editor are not what was traced."""
        if self.base is None:
            return
        changed = self._map.changed if self._map else frozenset()
        self.editor.set_changed(changed | (self.editor.struck ^ self.lines(self.base.struck)))
