"""Which line of one text is which of another, and where lines go when a text is changed; no Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

AT_ONCE = 20_000  # pairs of lines that are compared while one types: a few milliseconds
Value = TypeVar("Value")


class LineMap(NamedTuple):
    """The lines (from 1) of a text that stand unchanged in another."""

    forward: Mapping[int, int]  # line of the first text -> line of the second
    changed: frozenset[int]  # lines of the second that are new or changed
    complete: bool = True  # whether all were compared

    def line(self, line: int) -> int:
        """Return where a line of the first text stands in the second, 0 where it is gone."""
        return self.forward.get(line, 0)

    def back(self, line: int) -> int:
        """Return where a line of the second text stood in the first, 0 where it is new."""
        return next((first for first, second in self.forward.items() if second == line), 0)

    def values(self, values: Mapping[int, Value]) -> dict[int, Value]:
        """Return the values of the first text's lines by lines of the second."""
        return {self.forward[line]: value for line, value in values.items() if line in self.forward}

    def lines(self, lines: Iterable[int]) -> frozenset[int]:
        """Return where lines of the first text stand in the second."""
        return frozenset(self.forward[line] for line in lines if line in self.forward)


def line_map(before: list[str], after: list[str], *, most: int = AT_ONCE) -> LineMap:
    """Return which lines stay; where more than `most` pairs would be compared, all between the ends count as changed.

    What two texts begin and end with alike needs no comparing, so while one types in one place this takes no time.
    """
    least = min(len(before), len(after))
    head = next((i for i in range(least) if before[i] != after[i]), least)
    tail = next((i for i in range(least - head) if before[-1 - i] != after[-1 - i]), least - head)
    ends, foot = (len(before) - tail, len(after) - tail), len(after) - len(before)
    forward = {i + 1: i + 1 for i in range(head)}
    middle = before[head : ends[0]], after[head : ends[1]]
    complete = len(middle[0]) * len(middle[1]) <= most
    if complete and all(middle):
        for one, other, size in SequenceMatcher(None, *middle).get_matching_blocks():
            forward |= {head + one + i + 1: head + other + i + 1 for i in range(size)}
    forward |= {i + 1: i + 1 + foot for i in range(ends[0], len(before))}
    changed = frozenset(range(head + 1, ends[1] + 1)) - set(forward.values())
    return LineMap(forward, changed, complete)


def moved(line: int, first: int, alone: bool, removed: int, added: int) -> int:
    """Return where a line stands after a change of the text, 0 where it is gone.

    first: the line where the change begins; alone: whether nothing but blanks stands before it there;
    removed, added: how many line ends it takes away and puts in.
    """
    if line < first or (removed == added and line <= first + removed and removed):
        return line
    if line > first + removed:
        return line + added - removed
    if removed and line > first:
        return first + added if alone and line == first + removed else 0
    if removed and alone:
        return 0
    return line + added if alone else line
