"""Elements of a result that differ from NumPy: which they are, and what they should be."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ....tracer.model.array_types import Ints
from ...model.session import Session


class Differences(Struct, frozen=True, eq=False):
    """The elements of a buffer that the launch left otherwise than NumPy would."""

    elements: Ints  # numbers in the buffer's shape, in C order, ascending
    expected: NDArray[np.generic]  # what NumPy has, of each
    left: NDArray[np.generic]  # what the launch left, of each


def differences_of(session: Session) -> dict[int, Differences]:
    """Return what differs, by buffer, found once; nothing where all is equal, or nobody knows what is right."""
    kept = session.__dict__.get("_differences")
    if kept is None:
        kept = session.__dict__["_differences"] = _differences(session)
    found: dict[int, Differences] = kept
    return found


def expected_at(session: Session, buffer: int, element: int) -> np.generic | None:
    """Return what NumPy has for an element that differs from it; None for one that does not."""
    found = differences_of(session).get(buffer)
    if found is None:
        return None
    place = int(np.searchsorted(found.elements, element))
    there = place < len(found.elements) and found.elements[place] == element
    expected: np.generic = found.expected[min(place, len(found.elements) - 1)]
    return expected if there else None


def _differences(session: Session) -> dict[int, Differences]:
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
    except KeyError:  # an array of which the trace has no content
        return {}
    found = {}
    for number, buffer in enumerate(trace.buffers):
        if buffer.name in expected and buffer.space == "global":
            left, right = session.memory.values(number, session.end).ravel(), expected[buffer.name].ravel()
            with np.errstate(all="ignore"):
                wrong = ~(np.abs(left.astype(np.complex128) - right.astype(np.complex128)) <= tolerance)
            elements = np.flatnonzero(wrong)
            found[number] = Differences(elements, right[elements], left[elements])
    return {number: one for number, one in found.items() if len(one.elements)}


def differing_now(session: Session, buffer: int, moment: int) -> Ints:
    """Return the elements of a buffer that have the value, which is not NumPy's, that the launch leaves in them."""
    found = differences_of(session).get(buffer)
    if found is None:
        return np.empty(0, np.int64)
    if moment >= session.end:
        return found.elements
    held = session.memory.values(buffer, moment).ravel()[found.elements]
    there = session.memory.written(buffer, moment).ravel()[found.elements]
    shown: Ints = found.elements[there & (held == found.left)]
    return shown
