"""Elements of a result that differ from NumPy, with their expected values."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ....tracer.model.array_types import Ints
from ...model.session import Session


class Differences(Struct, frozen=True, eq=False):
    """The elements of a buffer whose final values differ from NumPy's."""

    elements: Ints  # numbers in the buffer's shape, in C order, ascending
    expected: NDArray[np.generic]  # NumPy's value of each
    left: NDArray[np.generic]  # the final value of each


def differences_of(session: Session) -> dict[int, Differences]:
    """Return the differences by buffer; empty if all values are equal or no reference exists. Memoised."""
    kept = session.__dict__.get("_differences")
    if kept is None:
        kept = session.__dict__["_differences"] = _compute_differences(session)
    differences: dict[int, Differences] = kept
    return differences


def expected_at(session: Session, buffer: int, element: int) -> np.generic | None:
    """Return NumPy's value for an element that differs from it; None for an equal one."""
    differences = differences_of(session).get(buffer)
    if differences is None:
        return None
    position = int(np.searchsorted(differences.elements, element))
    differs = position < len(differences.elements) and differences.elements[position] == element
    expected: np.generic = differences.expected[min(position, len(differences.elements) - 1)]
    return expected if differs else None


def _compute_differences(session: Session) -> dict[int, Differences]:
    trace, scenario = session.trace, session.scenario
    if scenario is None or trace.check is None or trace.check.equal or not trace.check.differing:
        return {}
    inputs = {
        buffer.name: trace.initial[number].reshape(buffer.shape)
        for number, buffer in enumerate(trace.buffers)
        if number in trace.initial and buffer.is_plain
    }
    inputs |= {"gridDim": np.array(trace.grid), "blockDim": np.array(trace.block_dim)}
    try:
        expected, tolerance = scenario.reference(inputs), scenario.tolerance(inputs)
    except KeyError:  # the trace does not hold the content of an array
        return {}
    differences = {}
    for number, buffer in enumerate(trace.buffers):
        if buffer.name in expected and buffer.space == "global":
            left, right = session.memory.values(number, session.end).ravel(), expected[buffer.name].ravel()
            with np.errstate(all="ignore"):
                wrong = ~(np.abs(left.astype(np.complex128) - right.astype(np.complex128)) <= tolerance)
            elements = np.flatnonzero(wrong)
            differences[number] = Differences(elements, right[elements], left[elements])
    return {
        number: buffer_differences
        for number, buffer_differences in differences.items()
        if len(buffer_differences.elements)
    }


def differing_now(session: Session, buffer: int, moment: int) -> Ints:
    """List the elements of a buffer that already hold a wrong final value at a moment."""
    differences = differences_of(session).get(buffer)
    if differences is None:
        return np.empty(0, np.int64)
    if moment >= session.end:
        return differences.elements
    values = session.memory.values(buffer, moment).ravel()[differences.elements]
    is_written = session.memory.written(buffer, moment).ravel()[differences.elements]
    shown: Ints = differences.elements[is_written & (values == differences.left)]
    return shown
