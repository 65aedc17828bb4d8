"""Allocations: the memory underneath recording arrays, and the buffers that traces call it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .recorder import CHUNK, FIELDS, Recorder
from .scheduler import Scheduler
from .trace import Buffer

FULL = CHUNK * FIELDS


class Allocation:
    """One allocation: its elements in memory order, and the buffer that traces call it.

    `cells[i]` is the element at byte i * unit from the start: what an access's index means.
    """

    def __init__(self, cells: NDArray[Any], buffer: int, scheduler: Scheduler) -> None:
        self.cells = cells
        self.buffer = buffer
        self.scheduler = scheduler
        self.recorder: Recorder = scheduler.recorder
        self.start: int = cells.__array_interface__["data"][0]
        self.unit = cells.strides[0] if len(cells) > 1 else cells.itemsize
        self.fields: dict[str, Allocation] = {}

    def field(self, name: str) -> Allocation:
        """Return the memory of one field of these records: the same index, at the field's offset."""
        fields = self.cells.dtype.fields
        assert fields is not None, "only records have fields"
        dtype, offset = fields[name][:2]
        return self._part(name, dtype, offset)

    def component(self, name: str) -> Allocation:
        """Return the memory of the `real` or `imag` parts of these complex numbers."""
        dtype = self.cells.real.dtype
        return self._part(name, dtype, dtype.itemsize if name == "imag" else 0)

    def _part(self, name: str, dtype: np.dtype[Any], offset: int) -> Allocation:
        if name not in self.fields:
            whole = self.recorder.buffers[self.buffer]
            cells, unit, shape, strides = _field_cells(self, dtype, offset, whole)
            address, text = whole.address + offset, f"{whole.name}.{name}"
            buffer = Buffer(text, whole.space, dtype.base.str, shape, strides, address, unit, len(cells))
            self.fields[name] = Allocation(cells, self.recorder.add_buffer(buffer), self.scheduler)
        return self.fields[name]


def _field_cells(
    memory: Allocation, dtype: np.dtype[Any], offset: int, whole: Buffer
) -> tuple[NDArray[Any], int, tuple[int, ...], tuple[int, ...]]:
    """Return (cells, unit, shape, strides) of a field; an array inside a record indexes its own elements."""
    if dtype.subdtype is None:
        cells = np.ndarray(len(memory.cells), dtype, memory.cells, offset, (memory.unit,))
        return cells, memory.unit, whole.shape, whole.strides
    size, inner = dtype.base.itemsize, dtype.shape
    if memory.unit % size:
        raise TypeError(f"{whole.name}: an array in a record of {memory.unit} bytes, no multiple of {size}")
    count = (len(memory.cells) * memory.unit - offset) // size
    cells = np.ndarray(count, dtype.base, memory.cells, offset)
    inner_strides = np.empty(inner, dtype.base).strides
    return cells, size, whole.shape + inner, whole.strides + inner_strides


def take_turn(scheduler: Scheduler) -> Any:
    """End the current thread's turn where threads interleave; return the thread once it is its turn again."""
    me = scheduler.current
    if scheduler.interleaved:
        scheduler.current = other = me.next
        other.switch()
    if len(scheduler.recorder.log) >= FULL:
        scheduler.recorder.flush()
    return me


def converted(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a value as the element type: integers wrap, floats become integers by truncation."""
    if dtype.kind in "iu" and isinstance(value, int | np.integer):
        bits = dtype.itemsize * 8
        wrapped = int(value) & ((1 << bits) - 1)
        return wrapped - (1 << bits) if dtype.kind == "i" and wrapped >> (bits - 1) else wrapped
    return np.asarray(value).astype(dtype) if dtype.kind in "iu" else value
