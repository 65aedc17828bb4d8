"""Memory for the stacks of a launch's resident threads; the system provides the pages that are used.

The next launch reuses it: to map a new page takes the system longer than some turns.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref
from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..scheduler.stacks import STACK_STAGGER, STACK_STAGGERS

MOST_IDLE = 300_000_000  # bytes kept for the next launch; each stack has used a page or two


class _Chunk(NamedTuple):
    """Consecutive stacks of one size. ends: their upper ends, aligned to 64 bytes."""

    stack_bytes: int
    memory: mmap.mmap
    ends: NDArray[np.int64]


_idle: list[_Chunk] = []
_lock = RLock()  # reentrant: garbage collection may free other stacks while it is held


class StackMemory:
    """Stacks of one size in bytes, for one launch."""

    def __init__(self, stack_bytes: int) -> None:
        self.stack_bytes = stack_bytes
        self._count = 0
        self._unused_ends: NDArray[np.int64] = np.zeros(0, np.int64)  # ends of unused stacks
        self._chunks: list[_Chunk] = []
        weakref.finalize(self, _keep_chunks, self._chunks).atexit = False

    def grow(self, count: int) -> NDArray[np.int64]:
        """Grow to a number of stacks; return the ends of the new ones, aligned to 64 bytes."""
        new_count = max(0, count - self._count)
        while len(self._unused_ends) < new_count:
            chunk = _reuse_chunk(self.stack_bytes) or _new_chunk(
                self.stack_bytes, new_count - len(self._unused_ends)
            )
            self._chunks.append(chunk)
            self._unused_ends = np.concatenate([self._unused_ends, chunk.ends])
        ends, self._unused_ends = self._unused_ends[:new_count], self._unused_ends[new_count:]
        self._count += new_count
        return ends


def _reuse_chunk(stack_bytes: int) -> _Chunk | None:
    """Take stacks that a launch has released; None if there are none."""
    with _lock:
        position = next((i for i, chunk in enumerate(_idle) if chunk.stack_bytes == stack_bytes), None)
        return None if position is None else _idle.pop(position)


def _new_chunk(stack_bytes: int, count: int) -> _Chunk:
    memory = mmap.mmap(-1, count * stack_bytes)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    numbers = np.arange(1, count + 1, dtype=np.int64)
    # If all ends had the same offset in a page, they would compete for the same few cache lines.
    return _Chunk(
        stack_bytes, memory, begin + numbers * stack_bytes - STACK_STAGGER * (numbers % STACK_STAGGERS)
    )


def _keep_chunks(chunks: list[_Chunk]) -> None:
    """Keep released stacks for the next launch, unless there are many."""
    with _lock:
        for chunk in chunks:
            if sum(len(idle.memory) for idle in _idle) + len(chunk.memory) <= MOST_IDLE:
                _idle.append(chunk)
