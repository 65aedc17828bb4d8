"""Allocations: the memory of recording arrays, with its buffers in traces."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.trace import Buffer, Op
from ..recording.fixed_width_ints import INTEGERS, computable_elements
from ..recording.recorder import Recorder
from .arithmetic.conversions import caster
from .scheduler import Scheduler


class Allocation:
    """One allocation: its elements in memory order, and its buffer in traces.

    `cells[i]` is the element at byte i * unit from the start, the meaning of an access's index. `values[i]` is the same
    element as Numba computes with it. is_outside: whether this is the memory of a view that begins outside its array,
    `shift` elements from its NumPy array. is_aligned: whether its address on a GPU is aligned for all types.
    """

    def __init__(self, cells: NDArray[Any], buffer: int, scheduler: Scheduler) -> None:
        self.cells = cells
        self.values = computable_elements(cells)
        self.buffer = buffer
        self.atomic = buffer * 4 + int(Op.ATOMIC)
        self.scheduler = scheduler
        self.recorder: Recorder = scheduler.recorder
        self.start: int = cells.__array_interface__["data"][0]
        self.unit = cells.strides[0] if len(cells) > 1 else cells.itemsize
        self.fields: dict[str, Allocation] = {}
        self.is_outside, self.shift, self.is_aligned = False, 0, True

    def shifted_outside(self, shift: int) -> Allocation:
        """Return this memory for a view that begins outside its array."""
        allocation = copy(self)
        allocation.fields, allocation.is_outside, allocation.shift = {}, True, self.shift + shift
        return allocation

    def part(self, key: str, cells: NDArray[Any], buffer: Buffer) -> Allocation:
        """Return the memory of a part or view of these elements, described by `buffer`."""
        if key not in self.fields:
            number = self.recorder.add_part(self.buffer, key, buffer)
            self.fields[key] = allocation = Allocation(cells, number, self.scheduler)
            allocation.is_outside, allocation.shift = (
                self.is_outside,
                self.shift * self.unit // allocation.unit,
            )
        return self.fields[key]

    def field(self, name: str) -> Allocation:
        """Return the memory of one field of these records: the same index, at the field's offset."""
        fields = self.cells.dtype.fields
        assert fields is not None, "only records have fields"
        dtype, offset = fields[name][:2]
        return self._part(name, dtype, offset, self.cells[name])

    def component(self, name: str) -> Allocation:
        """Return the memory of the `real` or `imag` parts of these complex numbers."""
        cells = getattr(self.cells, name)
        return self._part(name, cells.dtype, cells.itemsize if name == "imag" else 0, cells)

    def _part(self, name: str, dtype: np.dtype[Any], offset: int, cells: NDArray[Any]) -> Allocation:
        if name not in self.fields:
            part = self.recorder.buffers[self.buffer].field(name, dtype, offset)
            if dtype.subdtype is not None:
                for _ in dtype.shape:
                    cells = cells[..., 0]
                cells = np.lib.stride_tricks.as_strided(cells, (part.size,), (part.unit,))
            return self.part(name, cells, part)
        return self.fields[name]


def end_turn(scheduler: Scheduler) -> Any:
    """End the current thread's turn if threads interleave; return the thread at its next turn."""
    thread = scheduler.current
    if scheduler.interleaved:
        scheduler.current = other = thread.next
        other.switch()
    return thread


def convert_to_element(value: Any, dtype: np.dtype[Any]) -> Any:
    """Convert a value to the element type: integers wrap, floats are truncated to integers."""
    name = name_of(dtype)
    if name in INTEGERS and isinstance(value, int | float | np.integer | np.floating | np.bool_):
        return caster(name)(value)
    return np.asarray(value).astype(dtype) if dtype.kind in "iu" else value


@lru_cache(256)
def name_of(dtype: np.dtype[Any]) -> str:
    """Return `dtype.name`, cached because NumPy builds the string each time."""
    return dtype.name
