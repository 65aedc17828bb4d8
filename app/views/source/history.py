"""The undo history of a text, without Qt.

Qt's own history would also hold the indents of wrapped lines, which the user did not type.
"""

from __future__ import annotations

from typing import NamedTuple

MOST = 2_000  # steps that are kept


class Step(NamedTuple):
    """One change of a text."""

    start: int  # its start, in UTF-16 units
    removed: str
    added: str


class History:
    """The steps that led to a text, for undo and redo."""

    def __init__(self) -> None:
        self._done: list[Step] = []
        self._undone: list[Step] = []
        self._open = False  # the next step may extend the last one

    def clear(self) -> None:
        """Delete all steps."""
        self._done.clear()
        self._undone.clear()
        self.seal()

    def seal(self) -> None:
        """Start another step with the next change."""
        self._open = False

    def record(self, step: Step) -> None:
        """Add a step; letters that are typed or erased one by one are joined to words."""
        self._undone.clear()
        joint = joined(self._done[-1], step) if self._open and self._done else None
        if joint is None:
            self._done.append(step)
            del self._done[:-MOST]
        else:
            self._done[-1] = joint
        self._open = True

    def undo_step(self) -> Step | None:
        """Return the change that undoes the last step, or None."""
        self.seal()
        if not self._done:
            return None
        self._undone.append(step := self._done.pop())
        return Step(step.start, step.added, step.removed)

    def redo_step(self) -> Step | None:
        """Return the step that was undone last, or None."""
        self.seal()
        if not self._undone:
            return None
        self._done.append(step := self._undone.pop())
        return step

    def can_undo(self) -> bool:
        """Return True if there is a step to undo."""
        return bool(self._done)

    def can_redo(self) -> bool:
        """Return True if there is a step to redo."""
        return bool(self._undone)


def utf16_length(text: str) -> int:
    """Count the UTF-16 units of a text."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def difference(start: int, before: str, after: str) -> Step | None:
    """Return the smallest step from `before`, which begins at `start`, to `after`; None if they are equal."""
    if before == after:
        return None
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    tail = next((i for i in range(shorter - head) if before[-1 - i] != after[-1 - i]), shorter - head)
    removed, added = before[head : len(before) - tail], after[head : len(after) - tail]
    return Step(start + utf16_length(before[:head]), removed, added)


def joined(last: Step, step: Step) -> Step | None:
    """Join two steps if the second continues to type or erase the same word; else return None."""
    if len(step.removed) + len(step.added) != 1 or "\n" in "".join((*last[1:], *step[1:])):
        return None
    if step.added and last.added and step.start == last.start + utf16_length(last.added):
        return (
            Step(last.start, last.removed, last.added + step.added)
            if _one_word(last.added, step.added)
            else None
        )
    if step.removed and not last.added and step.start + utf16_length(step.removed) == last.start:
        joint = Step(step.start, step.removed + last.removed, "")
        return joint if _one_word(step.removed, last.removed) else None
    if step.removed and not last.added and step.start == last.start:
        return (
            Step(last.start, last.removed + step.removed, "")
            if _one_word(last.removed, step.removed)
            else None
        )
    return None


def _one_word(first: str, second: str) -> bool:
    """Return True if no word ends between two adjacent texts."""
    return not (first.strip() and first[-1].isspace() and not second[0].isspace())
