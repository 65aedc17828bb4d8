"""The memory of stacks: as much as a launch's resident threads need, of which the system gives what is used.

What a launch no longer needs is kept for the next: to be given a page takes the system longer than some turns take.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref
from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..scheduler.stacks import COLOUR, COLOURS

MOST_IDLE = 300_000_000  # bytes kept for the next launch; each stack has touched a page or two


class _Chunk(NamedTuple):
    """Some stacks of one size, one after the other. ends: where they end, aligned to 64 bytes."""

    each: int
    memory: mmap.mmap
    ends: NDArray[np.int64]


_idle: list[_Chunk] = []
_lock = RLock()  # whoever holds it may collect garbage, and with it other stacks


class StackMemory:
    """Stacks of so many bytes each, for one launch."""

    def __init__(self, each: int) -> None:
        self.each = each
        self._count = 0
        self._spare: NDArray[np.int64] = np.zeros(0, np.int64)  # ends of those that are there already
        self._chunks: list[_Chunk] = []
        weakref.finalize(self, _keep, self._chunks).atexit = False

    def grow(self, count: int) -> NDArray[np.int64]:
        """Have so many stacks in all; return the ends of the new ones, aligned to 64 bytes."""
        more = max(0, count - self._count)
        while len(self._spare) < more:
            chunk = _taken(self.each) or _new(self.each, more - len(self._spare))
            self._chunks.append(chunk)
            self._spare = np.concatenate([self._spare, chunk.ends])
        found, self._spare = self._spare[:more], self._spare[more:]
        self._count += more
        return found


def _taken(each: int) -> _Chunk | None:
    """Return stacks that a launch has let go; None where there are none."""
    with _lock:
        at = next((i for i, chunk in enumerate(_idle) if chunk.each == each), None)
        return None if at is None else _idle.pop(at)


def _new(each: int, count: int) -> _Chunk:
    memory = mmap.mmap(-1, count * each)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    numbers = np.arange(1, count + 1, dtype=np.int64)
    # Ends at the same distance from the beginning of a page would all be in the same few lines of a cache.
    return _Chunk(each, memory, begin + numbers * each - COLOUR * (numbers % COLOURS))


def _keep(chunks: list[_Chunk]) -> None:
    """Keep stacks that nobody needs any more for the next launch, unless there are many."""
    with _lock:
        for chunk in chunks:
            if sum(len(kept.memory) for kept in _idle) + len(chunk.memory) <= MOST_IDLE:
                _idle.append(chunk)
