"""`zip` and `enumerate` of kernels, which read no element after the shortest part has ended.

Python's `zip` reads one more element of each part before the one that has ended. Nothing uses these elements, so that a
compiler drops the loads.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any


class Zip:
    """Tuples with an element of each part."""

    def __init__(self, *parts: Any) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return min(map(len, self._parts), default=0)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        iterators = [iter(part) for part in self._parts]
        for _ in range(len(self)):
            yield tuple(next(iterator) for iterator in iterators)


class Enumerate:
    """Pairs of a number and an element."""

    def __init__(self, part: Any, start: int = 0) -> None:
        self._part, self._start = part, start

    def __len__(self) -> int:
        return len(self._part)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return builtins.enumerate(self._part, self._start)
