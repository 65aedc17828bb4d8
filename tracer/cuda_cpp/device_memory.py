"""The device memory of a program in Python: a file that the program and each of its launches map.

It lies at the same addresses in every launch (`runtime/interface.h`), so that pointers in memory stay valid.
"""

from __future__ import annotations

import mmap
import os
from bisect import bisect_right

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

BASE = 0x2000_0000_0000
SIZE = 1 << 36  # bytes of addresses
GAP = 8192  # least bytes between two allocations
FIRST = 2 * GAP
MOST_FREED = 1000  # freed allocations whose accesses are reported
POISON, MOST_POISON = 0xA5, 1 << 26  # bytes of it; larger allocations hold zeros beyond, to save memory
VARIABLE = "TILESCOPE_CUDA_MEMORY"  # names the file to a launch


class DeviceMemoryError(Exception):
    """There is no memory for an allocation."""


class Allocation(Struct):
    """An allocation: its address, and its bytes as the host sees them."""

    address: int
    size: int
    content: NDArray[np.uint8]
    is_written: bool  # whether the host or a launch may have written to it
    mapped: mmap.mmap  # the pages that hold them


class DeviceMemory:
    """The allocations of a program, by ascending addresses."""

    def __init__(self) -> None:
        self.file = os.memfd_create("tilescope-device")
        os.ftruncate(self.file, SIZE)
        self._next = FIRST
        self._live: dict[int, Allocation] = {}
        self._freed: dict[int, int] = {}  # sizes by address

    def allocate(self, size: int, *, is_written: bool) -> Allocation:
        """Allocate memory that holds zeros, or poison if it is not written; raises DeviceMemoryError."""
        room = -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        address = self._reuse(room) if self._next + room + GAP > SIZE else self._next
        if address == self._next:
            self._next += room + GAP
        mapped = mmap.mmap(self.file, room, offset=address)
        content = np.frombuffer(mapped, np.uint8)[: max(size, 0)]
        if not is_written:
            content[:MOST_POISON] = POISON
        allocation = Allocation(BASE + address, size, content, is_written, mapped)
        self._live[allocation.address] = allocation
        return allocation

    def _reuse(self, room: int) -> int:
        for address, size in self._freed.items():
            if -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE >= room:
                del self._freed[address]
                return address - BASE
        raise DeviceMemoryError("out of memory")

    def free(self, address: int) -> bool:
        """Free an allocation by its address; return whether there was one."""
        allocation = self._live.pop(address, None)
        if allocation is None:
            return False
        self._freed[address] = allocation.size
        allocation.mapped.madvise(mmap.MADV_REMOVE)
        return True

    def holding(self, address: int) -> Allocation | None:
        """Return the live allocation that holds an address; None if there is none."""
        starts = sorted(self._live)
        index = bisect_right(starts, address) - 1
        allocation = self._live[starts[index]] if index >= 0 else None
        is_inside = allocation and (address < allocation.address + max(allocation.size, 1))
        return allocation if is_inside else None

    def table(self) -> NDArray[np.uint64]:
        """List the allocations for a launch: address, size, and 1 for live ones plus 2 for written ones."""
        freed = dict(list(self._freed.items())[-MOST_FREED:])
        rows = [(address, size, 2) for address, size in freed.items()]
        rows += [(a.address, a.size, 1 + 2 * a.is_written) for a in self._live.values()]
        return np.array(sorted(rows), np.uint64).reshape(-1, 3)

    def drop_own_memory_of_launch(self) -> None:
        """Clear what a launch has allocated: it lies behind the program's own memory."""
        os.ftruncate(self.file, self._next)
        os.ftruncate(self.file, SIZE)

    def note_launch(self) -> None:
        """Note that a launch has run, which may have written to any allocation."""
        for allocation in self._live.values():
            allocation.is_written = True
