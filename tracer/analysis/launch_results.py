"""What launches left in their arrays, and the elements in which two results differ by more than rounding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model.trace import Buffer, Op, Trace

# Results that differ by less, relative to the largest number of the array, differ by rounding: sums of atomics.
TOLERANCES = {2: 1e-2, 4: 1e-4, 8: 1e-9}  # by the bytes of a number


class BufferResult(NamedTuple):
    """What a launch left in an array: the written elements and their last values."""

    number: int  # of the buffer
    elements: NDArray[Any]  # their indices
    values: NDArray[Any]


class DifferingElements(NamedTuple):
    """The elements of an array in which two results differ."""

    buffer: Buffer
    elements: NDArray[Any]  # their indices
    before: NDArray[Any]
    after: NDArray[Any]


def results_of(trace: Trace) -> dict[str, BufferResult]:
    """Find the last value of each written element of the arrays in global memory."""
    assert trace.value is not None
    writes = np.flatnonzero(trace.op != Op.LOAD)
    writes = writes[np.argsort(trace.steps_of(writes), kind="stable")]
    results = {}
    for number, buffer in enumerate(trace.buffers):
        if buffer.space != "global":
            continue
        rows = writes[trace.buffer[writes] == number]
        index, last = np.unique(trace.index[rows][::-1], return_index=True)
        results[buffer.name] = BufferResult(number, index, trace.value[rows[::-1][last]])
    return results


def differing_elements(
    trace: Trace, results: Mapping[str, BufferResult], other: Trace
) -> Iterator[DifferingElements]:
    """Yield the elements that another launch left with other values, array by array.

    results: of `trace`.
    """
    after = results_of(other)
    for name, before in results.items():
        last = after.get(name, BufferResult(0, before.elements[:0], before.values[:0]))
        buffer = trace.buffers[before.number]
        initial = trace.initial.get(before.number)
        touched = np.union1d(before.elements, last.elements)
        old, new = (_filled(result, touched, initial) for result in (before, last))
        different = np.flatnonzero(_differ(old, new, np.dtype(buffer.dtype)))
        if len(different):
            yield DifferingElements(buffer, touched[different], old[different], new[different])


def _filled(result: BufferResult, touched: NDArray[Any], initial: NDArray[Any] | None) -> NDArray[Any]:
    """Return the last values of elements; those that were not written have what they had before."""
    values = np.zeros(len(touched), result.values.dtype)
    if initial is not None and initial.dtype.kind in "biufc" and len(touched):
        values[:] = initial[touched.astype(np.int64)]
    values[np.searchsorted(touched, result.elements)] = result.values
    return values


def _differ(old: NDArray[Any], new: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[np.bool_]:
    if dtype.kind not in "fc":
        return np.asarray(old != new)
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    finite = np.abs(old[np.isfinite(old)])
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(new - old) <= TOLERANCES.get(size, 1e-9) * float(finite.max(initial=0))
    different: NDArray[np.bool_] = ~(close | (old == new) | (np.isnan(old) & np.isnan(new)))
    return different
