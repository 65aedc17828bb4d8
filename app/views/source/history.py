"""What was changed in a text, step by step, so that it can be taken back; no Qt.

Qt's own history would hold the indents of wrapped lines too, which nobody typed, and lose what came before them.
"""

from __future__ import annotations

from typing import NamedTuple

MOST = 2_000  # steps that are kept


class Step(NamedTuple):
    """A change of a text in one place."""

    at: int  # where it begins, in Qt's characters: UTF-16 units
    removed: str  # what stood there
    added: str  # what stands there since


class History:
    """The steps that led to a text, of which the last can be taken back, and made again."""

    def __init__(self) -> None:
        self._done: list[Step] = []
        self._undone: list[Step] = []
        self._open = False  # whether the next step may go on with the last

    def clear(self) -> None:
        """Forget all."""
        self._done.clear()
        self._undone.clear()
        self.seal()

    def seal(self) -> None:
        """Let what comes next be a step of its own."""
        self._open = False

    def record(self, step: Step) -> None:
        """Keep a step; what is typed or erased letter by letter becomes a step a word."""
        self._undone.clear()
        joint = joined(self._done[-1], step) if self._open and self._done else None
        if joint is None:
            self._done.append(step)
            del self._done[:-MOST]
        else:
            self._done[-1] = joint
        self._open = True

    def back(self) -> Step | None:
        """Return the change that takes the last step back, None where there is none."""
        self.seal()
        if not self._done:
            return None
        self._undone.append(step := self._done.pop())
        return Step(step.at, step.added, step.removed)

    def forward(self) -> Step | None:
        """Return the step that was taken back last, None where there is none."""
        self.seal()
        if not self._undone:
            return None
        self._done.append(step := self._undone.pop())
        return step

    def can_undo(self) -> bool:
        """Return whether there is a step to take back."""
        return bool(self._done)

    def can_redo(self) -> bool:
        """Return whether there is a step to make again."""
        return bool(self._undone)


def units(text: str) -> int:
    """Return how many of Qt's characters a text has."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def difference(at: int, before: str, after: str) -> Step | None:
    """Return the step from a text that begins at `at` to another, as small as it can be; None from one to the same."""
    if before == after:
        return None
    least = min(len(before), len(after))
    head = next((i for i in range(least) if before[i] != after[i]), least)
    tail = next((i for i in range(least - head) if before[-1 - i] != after[-1 - i]), least - head)
    removed, added = before[head : len(before) - tail], after[head : len(after) - tail]
    return Step(at + units(before[:head]), removed, added)


def joined(last: Step, step: Step) -> Step | None:
    """Return two steps as one, where the second goes on typing or erasing the word of the first; else None."""
    if len(step.removed) + len(step.added) != 1 or "\n" in "".join((*last[1:], *step[1:])):
        return None
    if step.added and last.added and step.at == last.at + units(last.added):
        return (
            Step(last.at, last.removed, last.added + step.added)
            if _one_word(last.added, step.added)
            else None
        )
    if step.removed and not last.added and step.at + units(step.removed) == last.at:
        joint = Step(step.at, step.removed + last.removed, "")
        return joint if _one_word(step.removed, last.removed) else None
    if step.removed and not last.added and step.at == last.at:
        return (
            Step(last.at, last.removed + step.removed, "") if _one_word(last.removed, step.removed) else None
        )
    return None


def _one_word(first: str, second: str) -> bool:
    """Return whether two texts that follow each other have no word's end between them."""
    return not (first.strip() and first[-1].isspace() and not second[0].isspace())
