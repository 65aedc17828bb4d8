"""Tracks the uninitialised elements of device memory that the program allocated.

`cuda.device_array` returns uninitialised memory, which is filled with poison here. The poison itself proves nothing,
because kernels copy it and compute with it, and an access outside an array returns it too. So the stores of all
launches are noted. If they are unknown, for example because only part of a launch ran, the memory is no longer tracked.
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
    """The memory that a program allocated, with a mask of the elements that were never written."""

    def __init__(self) -> None:
        self._unwritten: dict[int, tuple[weakref.ref[NDArray[Any]], Mask]] = {}  # by address

    def add(self, ary: NDArray[Any]) -> None:
        """Track a new array that owns its memory and is filled with poison."""
        start = _start(ary)

        def drop(owner: weakref.ref[NDArray[Any]]) -> None:
            if self._unwritten[start][0] is owner:  # otherwise the address has been reused
                del self._unwritten[start]

        self._unwritten[start] = (weakref.ref(ary, drop), np.ones(ary.size, bool))

    def forget(self, ary: NDArray[Any]) -> None:
        """Stop tracking the memory of an array or a view."""
        for start, owner in [(start, owner()) for start, (owner, _) in list(self._unwritten.items())]:
            if owner is not None and np.may_share_memory(owner, ary):
                del self._unwritten[start]

    def is_fresh(self, ary: NDArray[Any]) -> bool:
        """Check whether an array holds poison, and only in elements that were never written.

        Poison that kernels have copied into floating-point elements is replaced by another nan first.
        """
        owner, unwritten = self._tracked(_start(ary))
        if owner is None or owner.nbytes != ary.nbytes:
            return False
        cells = owner.reshape(-1, order="A").view()
        copied = _is_poison(cells) & ~unwritten
        if copied.any() and cells.dtype.kind in "fc":
            cells[copied] = np.nan
            copied[:] = False
        return bool(unwritten.any() and not copied.any())

    def note_stores(self, record: RunRecord, trace: Trace) -> None:
        """Note the elements that a launch has stored in its memories."""
        is_complete = not trace.is_part and trace.error is None and not trace.notice
        for memory in record.memories:
            owner, unwritten = self._tracked(memory.start)
            if owner is None:
                continue
            if not is_complete or _is_stored_as_other_type(trace, memory):
                self.forget(owner)
            else:
                stores = (trace.buffer == memory.buffer) & (trace.op >= Op.STORE)
                unwritten[trace.index[stores]] = False

    def _tracked(self, start: int) -> tuple[NDArray[Any] | None, Mask]:
        owner, unwritten = self._unwritten.get(start, (None, np.empty(0, bool)))
        return (owner() if owner is not None else None), unwritten


fresh_memory = FreshMemory()  # of this process


def _start(ary: NDArray[Any]) -> int:
    return int(ary.__array_interface__["data"][0])


def _is_poison(cells: NDArray[Any]) -> Mask:
    """Find the elements that hold the bits of poison."""
    size = cells.dtype.itemsize
    is_poison: Mask = np.ones(len(cells), bool)
    for column, poison_byte in zip(
        cells.view(np.uint8).reshape(-1, size).T, poison(cells.dtype).tobytes(), strict=True
    ):
        is_poison &= column == poison_byte
    return is_poison


def _is_stored_as_other_type(trace: Trace, memory: HostMemory) -> bool:
    """Check whether the launch stored to a memory as elements of another type."""
    buffer = trace.buffers[memory.buffer]
    end = buffer.address + buffer.size * buffer.unit
    return any(
        number != memory.buffer
        and other.space == "global"
        and buffer.address <= other.address < end
        and trace.access_counts[number, Op.STORE :].any()
        for number, other in enumerate(trace.buffers)
    )
