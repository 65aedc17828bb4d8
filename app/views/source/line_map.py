"""How the lines of two versions of a text correspond, and how lines move with a change. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

AT_ONCE = 20_000  # pairs of lines that are compared on each key press: a few milliseconds
Value = TypeVar("Value")


class LineMap(NamedTuple):
    """The lines (from 1) that two versions of a text share."""

    forward: Mapping[int, int]  # line of the first text -> line of the second
    changed: frozenset[int]  # lines of the second that are new or changed
    complete: bool = True  # all lines were compared

    def line(self, line: int) -> int:
        """Map a line of the first text to the second; 0 if it is gone."""
        return self.forward.get(line, 0)

    def back(self, line: int) -> int:
        """Map a line of the second text to the first; 0 if it is new."""
        return next((first for first, second in self.forward.items() if second == line), 0)

    def values(self, values: Mapping[int, Value]) -> dict[int, Value]:
        """Move values by line from the first text to the second."""
        return {self.forward[line]: value for line, value in values.items() if line in self.forward}

    def lines(self, lines: Iterable[int]) -> frozenset[int]:
        """Map lines of the first text to the second."""
        return frozenset(self.forward[line] for line in lines if line in self.forward)


def line_map(before: list[str], after: list[str], *, most: int = AT_ONCE) -> LineMap:
    """Match the lines of two texts. Above `most` pairs, all lines between the common ends count as changed.

    The common beginning and end need no comparison, so a change in one position takes no time.
    """
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    tail = next((i for i in range(shorter - head) if before[-1 - i] != after[-1 - i]), shorter - head)
    ends, shift = (len(before) - tail, len(after) - tail), len(after) - len(before)
    forward = {i + 1: i + 1 for i in range(head)}
    middle = before[head : ends[0]], after[head : ends[1]]
    complete = len(middle[0]) * len(middle[1]) <= most
    if complete and all(middle):
        for first, second, size in SequenceMatcher(None, *middle).get_matching_blocks():
            forward |= {head + first + i + 1: head + second + i + 1 for i in range(size)}
    forward |= {i + 1: i + 1 + shift for i in range(ends[0], len(before))}
    changed = frozenset(range(head + 1, ends[1] + 1)) - set(forward.values())
    return LineMap(forward, changed, complete)


def line_after_change(line: int, first: int, starts_line: bool, removed: int, added: int) -> int:
    """Map a line over a change of the text; 0 if the line is gone.

    first: the line where the change begins. starts_line: only blanks stand before it in that line.
    removed, added: the numbers of line ends that it removes and adds.
    """
    if line < first or (removed == added and line <= first + removed and removed):
        return line
    if line > first + removed:
        return line + added - removed
    if removed and line > first:
        return first + added if starts_line and line == first + removed else 0
    if removed and starts_line:
        return 0
    return line + added if starts_line else line
