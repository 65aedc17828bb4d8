"""The kernel's file as it was traced and as it is in the editor, and the mapping of their lines.

A skipped statement runs as `pass`, so a trace has the same lines as its file. The editor shows the file itself and
strikes skipped lines out. During editing, results of the trace are shown at unchanged lines only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from PySide6.QtCore import QObject

from ...control.delay import Delay
from ...model.nothing import nothing
from .editor import Draft, Editor, with_ends_of
from .line_map import LineMap, Value, line_map
from .lines import normalised

PAUSE = 150  # milliseconds without a change before a slow comparison starts
ALL = 10**12  # pairs of lines: no limit
DRAFTS, ASKED = 16, 8  # entries that are kept


class FileText(NamedTuple):
    """A file that a session ran, and its skipped lines."""

    text: str  # the complete file, with the skipped lines
    struck: frozenset[int] = frozenset()  # skipped lines, from 1


class TracedText(QObject):
    """Connects the editor's text with the text that was traced.

    moved: lines of the trace have moved. shown: the editor holds another text.
    """

    def __init__(self, editor: Editor) -> None:
        super().__init__(editor)
        self.moved: Callable[[], object] = nothing
        self.shown: Callable[[], object] = nothing
        self.editor = editor
        # The text that the editor's text started from; None for any other file.
        self.base: FileText | None = None
        self._file = ""
        self._map: LineMap | None = None  # None while no line differs
        self._drafts: dict[tuple[str, str], Draft] = {}  # by file and traced text
        self._asked: deque[FileText] = deque(maxlen=ASKED)  # texts whose trace may arrive
        self._pause = Delay(self, PAUSE, lambda: self._compare(ALL))
        editor.altered.connect(self._compare)
        editor.edited.connect(self.ask)
        editor.run_asked.connect(self.ask)

    def ask(self) -> None:
        """Note that a trace of the editor's current text may arrive."""
        self._asked.append(FileText(self.editor.file_text(), self.editor.struck))

    def show(self, file: str, base: FileText, first: int, editable: bool) -> None:
        """Show the file of a session with line `first` at the top.

        If the editor's text started from this file, or a trace of this file was awaited, the editor keeps text, cursor
        and history. Any other text is kept as a draft until its own session returns.
        """
        before, awaited = self.base, self._is_awaited(base)
        drafted = False
        if editable and before and (awaited or self._continues(base, before)):
            self._file, self.base, self.editor.file = file, base, file
            self.editor.set_base(base.text)
            self.editor.rebase(first)
        else:
            self.leave()
            self._file, self.base = file, base
            self.editor.show_text(file, base.text, first)
            self.editor.set_editable(editable)
            draft = self._drafts.pop((file, base.text), None)
            if drafted := draft is not None:
                self.editor.restore_draft(draft)
        self._compare()
        if base != before and not awaited and not drafted:
            self.editor.set_struck(self.lines(base.struck))
            self.mark_changed()
        if base != before:
            self.shown()

    def _continues(self, base: FileText, before: FileText) -> bool:
        """Return True if the editor's text started from or equals the text of a trace."""
        return base.text == before.text or normalised(base.text) == self.editor.text()

    def _is_awaited(self, base: FileText) -> bool:
        """Return True if a trace of this text was asked for, and drop the earlier requests."""
        awaited = self.base is not None and base in self._asked
        while awaited and self._asked.popleft() != base:
            pass
        return awaited

    def leave(self) -> None:
        """Keep the edited text and its history as a draft before the editor shows another text."""
        if self.base is not None and (self.editor.is_edited() or self.editor.history.can_undo()):
            self._drafts[self._file, self.base.text] = self.editor.draft()
            while len(self._drafts) > DRAFTS:
                del self._drafts[next(iter(self._drafts))]
        self.base, self._map = None, None

    def delete_draft(self, text: str) -> None:
        """Delete the drafts with this text."""
        self._drafts = {key: draft for key, draft in self._drafts.items() if draft.text != normalised(text)}

    def drafts(self) -> list[str]:
        """List the drafts of files that are not shown."""
        return [draft.text for (_, base), draft in self._drafts.items() if draft.text != normalised(base)]

    def text_of(self, file: str, base: str) -> str | None:
        """Return the draft of a text that is not shown, or None."""
        draft = self._drafts.get((file, base))
        return with_ends_of(base, draft.text) if draft and draft.text != normalised(base) else None

    def is_changed(self) -> bool:
        """Return True if the editor's text or its skipped lines differ from the trace."""
        return self.base is not None and (self._map is not None or self.editor.struck != self.base.struck)

    # Mapping from lines of the trace to lines of the editor.

    def line(self, line: int) -> int:
        """Map a line of the trace to the editor; 0 if it is gone."""
        return line if self._map is None else self._map.line(line)

    def lines(self, lines: Iterable[int]) -> frozenset[int]:
        """Map lines of the trace to the editor."""
        return frozenset(lines) if self._map is None else self._map.lines(lines)

    def values(self, values: Mapping[int, Value]) -> dict[int, Value]:
        """Move values by line from the trace to the editor."""
        return dict(values) if self._map is None else self._map.values(values)

    def _compare(self, most: int | None = None) -> None:
        """Match the lines: immediately if few have changed, else after a pause."""
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
            self.moved()

    def mark_changed(self) -> None:
        """Mark the lines of the editor that differ from the trace."""
        if self.base is None:
            return
        changed = self._map.changed if self._map else frozenset()
        self.editor.set_changed(changed | (self.editor.struck ^ self.lines(self.base.struck)))
