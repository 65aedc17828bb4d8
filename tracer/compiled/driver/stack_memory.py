"""The memory of stacks: as much as a launch's resident threads need, of which the system gives what is used."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
from numpy.typing import NDArray

from ..scheduler.stacks import COLOUR, COLOURS, STACK_BYTES


class StackMemory:
    """Stacks of STACK_BYTES each; `free` holds the ends of those that no thread has, of which there are `count`."""

    def __init__(self) -> None:
        self._memory: list[mmap.mmap] = []
        self.ends: NDArray[np.int64] = np.zeros(0, np.int64)

    def grow(self, count: int) -> NDArray[np.int64]:
        """Have so many stacks in all; return the ends of the new ones, aligned to 64 bytes."""
        more = count - len(self.ends)
        memory = mmap.mmap(-1, more * STACK_BYTES)
        self._memory.append(memory)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        numbers = np.arange(1, more + 1, dtype=np.int64)
        # Ends at the same distance from the beginning of a page would all be in the same few lines of a cache.
        made = begin + numbers * STACK_BYTES - COLOUR * (numbers % COLOURS)
        self.ends = np.concatenate([self.ends, made])
        return made
