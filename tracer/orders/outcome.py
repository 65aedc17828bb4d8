"""The outcome of a launch: what it leaves in global memory, and how two outcomes differ."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.array_types import Mask
from ..model.finding import element_text
from ..model.trace import Buffer, Op, Trace, poison

_RELATIVE = {
    2: 1e-2,
    4: 1e-5,
    8: 1e-12,
}  # by bytes of a real number: differences of rounding, which no order means


class Cell(Struct, frozen=True):
    """An element of global memory."""

    buffer: str  # name
    index: int  # access index
    name: str  # as the source names it: "out[3]"


class Outcome(Struct, frozen=True, eq=False, dict=True):
    """The contents of the written global buffers by name, as 1-D arrays, and the error that ended the launch."""

    values: dict[str, NDArray[Any]]
    buffers: dict[str, Buffer]
    error: str = ""  # the type of the exception, "" for none

    @cached_property
    def digest(self) -> bytes:
        """A digest: equal for outcomes with equal bytes."""
        digest = hashlib.sha256(self.error.encode())
        for name in sorted(self.values):
            digest.update(name.encode() + self.values[name].tobytes())
        return digest.digest()

    @property
    def nbytes(self) -> int:
        """Bytes of the contents in memory."""
        return sum(values.nbytes for values in self.values.values())

    def cell(self, buffer: str, index: int) -> Cell:
        """Name an element."""
        return Cell(buffer, index, element_text(self.buffers[buffer], index))

    def value(self, cell: Cell) -> Any:
        """Return the final value of an element as a Python number."""
        return self.values[cell.buffer][cell.index].item()

    def value_text(self, cell: Cell) -> str:
        """Format the final value of an element."""
        return number_text(self.value(cell))


def number_text(value: Any) -> str:
    """Format a number: integers in full, others with six significant digits."""
    return f"{value:.6g}" if isinstance(value, float | complex) else str(value)


def outcome_of(trace: Trace) -> Outcome:
    """Compute the outcome of a trace that keeps all accesses.

    Buffers that overlap are independent here: a store through one does not show in the other.
    """
    values: dict[str, NDArray[Any]] = {}
    buffers: dict[str, Buffer] = {}
    is_write = trace.op != Op.LOAD
    written = trace.access_counts[:, Op.STORE :].sum(axis=1)
    for number, buffer in enumerate(trace.buffers):
        dtype = np.dtype(buffer.dtype)
        if buffer.space != "global" or not written[number] or dtype.kind == "V" or trace.value is None:
            continue
        initial = trace.initial.get(number)
        content = np.full(buffer.size, poison(dtype), dtype) if initial is None else initial.astype(dtype)
        rows = np.flatnonzero(is_write & (trace.buffer == number))
        index = trace.index[rows].astype(np.int64)
        last = np.full(buffer.size, -1, np.int64)
        last[index] = rows  # of several rows of an element the last one stays, since rows ascend
        cells = np.flatnonzero(last >= 0)
        content[cells] = _cast(trace.value[last[cells]], dtype)
        values[buffer.name], buffers[buffer.name] = content, buffer
    return Outcome(values, buffers, trace.error.type if trace.error else "")


def _cast(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if values.dtype.kind == "c" and dtype.kind != "c":
        values = values.real
    with np.errstate(invalid="ignore", over="ignore"):
        return values.astype(dtype)


def differing_cells(first: Outcome, second: Outcome) -> list[Cell]:
    """List the elements whose values differ by more than rounding, of each buffer in ascending order."""
    cells = []
    for name in sorted(first.values.keys() | second.values.keys()):
        if name in first.values and name in second.values:
            different = _differ(first.values[name], second.values[name])
            cells += [first.cell(name, int(index)) for index in np.flatnonzero(different)]
    return cells


def outcomes_differ(first: Outcome, second: Outcome) -> bool:
    """Check if two outcomes differ by more than rounding: in an element, in what was written, or in the error."""
    if first.digest == second.digest:
        return False
    if first.error != second.error or first.values.keys() != second.values.keys():
        return True
    return any(bool(_differ(first.values[name], second.values[name]).any()) for name in first.values)


def _differ(first: NDArray[Any], second: NDArray[Any]) -> Mask:
    if first.dtype.kind not in "fc":
        different: Mask = first != second
        return different
    size = first.dtype.itemsize // (1 + (first.dtype.kind == "c"))
    scale = np.nanmax(np.abs(first[np.isfinite(first)]), initial=0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.isclose(
            first, second, rtol=_RELATIVE[size], atol=float(scale) * _RELATIVE[size], equal_nan=True
        )
    apart: Mask = ~close
    return apart
