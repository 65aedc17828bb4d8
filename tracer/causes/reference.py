"""The first value on a path that differs from a reference: NumPy's result, or another launch of the same shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import DecodeError, Struct
from numpy.typing import NDArray

from ...kernels.scenarios.catalogue import CatalogueError, find
from ..model.launch import decode
from ..model.trace import Trace
from .value_path import Causes, Element, ValuePath


class Difference(Struct, frozen=True):
    """The first write of a path whose value differs from the reference's."""

    row: int  # of the write
    expected: np.generic | None  # the reference's value; None if it makes no such write
    reads: tuple[
        tuple[int, np.generic | None], ...
    ] = ()  # reads that fed it and differ, with the reference's values


class ExpectedResult(Struct, frozen=True, eq=False):
    """NumPy's result for one buffer."""

    buffer: int  # number in the trace's `buffers`
    values: NDArray[Any]  # in the buffer's shape
    tolerance: float  # largest absolute error that passes


def expected_results(trace: Trace) -> list[ExpectedResult]:
    """Compute a scenario's results with NumPy from the inputs in a trace; none without a scenario or for a part."""
    try:
        launch = decode(trace.launch)
        scenario = find(launch.scenario) if launch.scenario else None
    except (DecodeError, CatalogueError):
        return []
    if scenario is None or launch.blocks is not None:
        return []
    inputs: dict[str, NDArray[Any]] = {"gridDim": np.array(trace.grid), "blockDim": np.array(trace.block_dim)}
    numbers = {}
    for number, content in trace.initial.items():
        buffer = trace.buffers[number]
        if buffer.space == "global":
            inputs[buffer.name] = content[buffer.elements()]
            numbers[buffer.name] = number
    try:
        results = scenario.reference(inputs)
        tolerance = float(scenario.tolerance(inputs))
    except (KeyError, ValueError, TypeError, IndexError):
        return []  # the kernel was edited so that its arrays are others
    return [
        ExpectedResult(numbers[name], values, tolerance)
        for name, values in results.items()
        if name in numbers and values.shape == trace.buffers[numbers[name]].shape
    ]


def wrong_elements(causes: Causes, result: ExpectedResult) -> NDArray[np.int64]:
    """List the access indices of a buffer whose final value differs from NumPy's, in the order of its shape."""
    trace = causes.trace
    buffer = trace.buffers[result.buffer]
    final = trace.initial[result.buffer].copy()
    rows = causes.order.all_writes(result.buffer)
    if trace.value is not None:
        values = trace.value[rows] if final.dtype.kind == "c" else trace.value[rows].real
        with np.errstate(all="ignore"):
            final[trace.index[rows]] = values.astype(final.dtype)
    elements = buffer.elements()
    wide = np.complex128 if final.dtype.kind == "c" else np.float64
    errors = np.abs(final[elements].astype(wide) - result.values.astype(wide))
    wrong: NDArray[np.int64] = elements[~(errors <= result.tolerance)]
    return wrong


def first_difference(causes: Causes, path: ValuePath, reference: Causes) -> Difference | None:
    """Find the first write on a path whose value differs in another launch; None if all are equal.

    The k-th write that a thread makes to an element corresponds to the other launch's k-th write of that thread to
    that element.
    """
    for row in sorted(path.writes):
        other = _counterpart(causes, reference, row)
        if other < 0:
            return Difference(row, None)
        if not _is_equal(causes.trace, row, reference.trace, other):
            reads = _differing_reads(causes, path, reference, row, other)
            return Difference(row, _value(reference.trace, other), reads)
    return None


def _counterpart(causes: Causes, reference: Causes, row: int) -> int:
    """Find the other launch's write that corresponds to a write, -1 if there is none."""
    trace, other = causes.trace, reference.trace
    element = causes.element_of(row)
    name, space = trace.buffers[element.buffer].name, trace.buffers[element.buffer].space
    number = next((n for n, b in enumerate(other.buffers) if (b.name, b.space) == (name, space)), -1)
    if number < 0:
        return -1
    own = _writes_by(causes, element, int(trace.block[row]), int(trace.thread[row]))
    theirs = _writes_by(
        reference,
        Element(number, element.index, element.block, element.thread),
        int(trace.block[row]),
        int(trace.thread[row]),
    )
    position = int(np.searchsorted(own, row))
    return int(theirs[position]) if position < len(theirs) else -1


def _writes_by(causes: Causes, element: Element, block: int, thread: int) -> NDArray[np.int64]:
    rows = causes.order.writes(element.buffer, element.index, (element.block, element.thread))
    chosen: NDArray[np.int64] = rows[
        (causes.trace.block[rows] == block) & (causes.trace.thread[rows] == thread)
    ]
    return chosen


def _differing_reads(
    causes: Causes, path: ValuePath, reference: Causes, row: int, other: int
) -> tuple[tuple[int, np.generic | None], ...]:
    """List the reads that fed a write and have another element or value than the reference's, in order."""
    own, theirs = path.writes[row].reads, reference.flows.feeds(other).reads
    pairs: list[tuple[int, np.generic | None]] = []
    for position, read in enumerate(own):
        if position >= len(theirs) or _element(causes, read) != _element(reference, theirs[position]):
            pairs.append((read, None))
        elif not _is_equal(causes.trace, read, reference.trace, theirs[position]):
            pairs.append((read, _value(reference.trace, theirs[position])))
    return tuple(pairs)


def _element(causes: Causes, row: int) -> tuple[str, int]:
    element = causes.element_of(row)
    return causes.trace.buffers[element.buffer].name, element.index


def _value(trace: Trace, row: int) -> np.generic | None:
    return None if trace.value is None else trace.value[row]


def _is_equal(trace: Trace, row: int, other_trace: Trace, other: int) -> bool:
    """Compare two values; nan equals nan here."""
    left, right = _value(trace, row), _value(other_trace, other)
    if left is None or right is None:
        return left is right
    return bool(left == right) or bool(left != left and right != right)
