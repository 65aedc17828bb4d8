"""Device memory that the program allocated and never filled: which of its elements nobody has written as yet.

`cuda.device_array` gives memory without content, in which lies poison here. That an element holds poison does not
tell, since kernels copy it and compute with it, and an access outside an array gives it too. So what the launches
store is noted. Where that is not known, as of a launch of which only a part ran, nothing is said of the memory again.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import Mask
from ..model.trace import Op, Trace, poison
from .run_record import HostMemory, RunRecord


class FreshMemory:
    """The memory that a program allocated, and which of its elements nobody has written."""

    def __init__(self) -> None:
        self._unwritten: dict[int, tuple[weakref.ref[NDArray[Any]], Mask]] = {}  # by address

    def add(self, ary: NDArray[Any]) -> None:
        """Take in an array that owns its memory, and that was allocated and filled with poison."""
        start = _start(ary)

        def drop(owner: weakref.ref[NDArray[Any]]) -> None:
            if self._unwritten[start][0] is owner:  # else other memory has been allocated there
                del self._unwritten[start]

        self._unwritten[start] = (weakref.ref(ary, drop), np.ones(ary.size, bool))

    def forget(self, ary: NDArray[Any]) -> None:
        """Say no more of the memory that an array, or a view, lies in."""
        for start, owner in [(start, owner()) for start, (owner, _) in list(self._unwritten.items())]:
            if owner is not None and np.may_share_memory(owner, ary):
                del self._unwritten[start]

    def is_fresh(self, ary: NDArray[Any]) -> bool:
        """Return whether all poison in the memory of an array is where nobody has written, and there is some.

        Of floating-point numbers what others computed of poison is made another nan first.
        """
        owner, unwritten = self._of(_start(ary))
        if owner is None or owner.nbytes != ary.nbytes:
            return False
        cells = owner.reshape(-1, order="A").view()
        copied = _is_poison(cells) & ~unwritten
        if copied.any() and cells.dtype.kind in "fc":
            cells[copied] = np.nan
            copied[:] = False
        return bool(unwritten.any() and not copied.any())

    def note_stores(self, record: RunRecord, trace: Trace) -> None:
        """Note what a launch has stored in the memory that it was given."""
        complete = not trace.is_part and trace.error is None and not trace.notice
        for memory in record.memories:
            owner, unwritten = self._of(memory.start)
            if owner is None:
                continue
            if not complete or _is_seen_otherwise(trace, memory):
                self.forget(owner)
            else:
                mine = (trace.buffer == memory.buffer) & (trace.op >= Op.STORE)
                unwritten[trace.index[mine]] = False

    def _of(self, start: int) -> tuple[NDArray[Any] | None, Mask]:
        owner, unwritten = self._unwritten.get(start, (None, np.empty(0, bool)))
        return (owner() if owner is not None else None), unwritten


fresh_memory = FreshMemory()  # of what this process has allocated


def _start(ary: NDArray[Any]) -> int:
    return int(ary.__array_interface__["data"][0])


def _is_poison(cells: NDArray[Any]) -> Mask:
    """Return which elements hold the bits of poison."""
    size = cells.dtype.itemsize
    found: Mask = np.ones(len(cells), bool)
    for mine, empty in zip(
        cells.view(np.uint8).reshape(-1, size).T, poison(cells.dtype).tobytes(), strict=True
    ):
        found &= mine == empty
    return found


def _is_seen_otherwise(trace: Trace, memory: HostMemory) -> bool:
    """Return whether the launch stored to some memory as to elements of another type."""
    whole = trace.buffers[memory.buffer]
    end = whole.address + whole.size * whole.unit
    return any(
        number != memory.buffer
        and other.space == "global"
        and whole.address <= other.address < end
        and trace.access_counts[number, Op.STORE :].any()
        for number, other in enumerate(trace.buffers)
    )
