"""The memory of stacks: as much as a launch's resident threads need, of which the system gives what is used."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
from numpy.typing import NDArray

from ..scheduler.stacks import COLOUR, COLOURS


class StackMemory:
    """Stacks of so many bytes each; `ends` holds where they end."""

    def __init__(self, each: int) -> None:
        self.each = each
        self._memory: list[mmap.mmap] = []
        self.ends: NDArray[np.int64] = np.zeros(0, np.int64)

    def grow(self, count: int) -> NDArray[np.int64]:
        """Have so many stacks in all; return the ends of the new ones, aligned to 64 bytes."""
        more = count - len(self.ends)
        memory = mmap.mmap(-1, more * self.each)
        self._memory.append(memory)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        numbers = np.arange(1, more + 1, dtype=np.int64)
        # Ends at the same distance from the beginning of a page would all be in the same few lines of a cache.
        made = begin + numbers * self.each - COLOUR * (numbers % COLOURS)
        self.ends = np.concatenate([self.ends, made])
        return made
