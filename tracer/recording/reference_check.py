"""The check of what a scenario's launch left against its NumPy reference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.scenarios.catalogue import find
from ..model.launch import Array, Launch
from ..model.trace import Check
from .kernel_loader import content_of
from .run_record import RunRecord

AT_ONCE = 1 << 15  # elements that are compared at once, in a processor's cache


def check(record: RunRecord) -> Check | None:
    """Compare what the kernel left with the scenario's NumPy reference; None where only a part ran."""
    expect(record)
    if record.expected is None:
        return None
    return _compared(record.launch, _inputs(record.launch, record.names), record.finals, record.expected)


def expect(record: RunRecord) -> None:
    """Compute what a scenario's kernel should leave, unless that is known or only a part of it runs."""
    if record.expected is None and record.launch.scenario and record.launch.blocks is None:
        record.expected = find(record.launch.scenario).reference(_inputs(record.launch, record.names))


def checked(launch: Launch, names: tuple[str, ...], finals: Mapping[str, NDArray[Any]]) -> Check:
    """Compare the arrays that a launch of a scenario left, by argument name, with the NumPy reference."""
    inputs = _inputs(launch, names)
    return _compared(launch, inputs, finals, find(launch.scenario).reference(inputs))


def _inputs(launch: Launch, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    given = zip(names, launch.arguments, strict=True)
    inputs = {name: content_of(a) for name, a in given if isinstance(a, Array)}
    return inputs | {"gridDim": np.array(launch.grid), "blockDim": np.array(launch.block)}


def _compared(
    launch: Launch,
    inputs: dict[str, NDArray[Any]],
    finals: Mapping[str, NDArray[Any]],
    expected: Mapping[str, NDArray[Any]],
) -> Check:
    tolerance, largest, differing, elements = find(launch.scenario).tolerance(inputs), 0.0, 0, 0
    for name, values in expected.items():
        elements += finals[name].size
        for errors in _errors(finals[name].ravel(), values.ravel()):
            largest = max(largest, float(errors.max()))
            differing += int(np.count_nonzero(errors > tolerance))
    equal = largest <= tolerance and math.isfinite(largest)  # an infinite tolerance says nothing
    return Check(largest, tolerance, equal, differing, elements)


def _errors(got: NDArray[Any], expected: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    """Yield absolute errors, infinite where one is no number: of some elements at a time, in little memory.

    Of those alone of which any differs.
    """
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    for begin in range(0, len(got), AT_ONCE):
        mine, other = got[begin : begin + AT_ONCE], expected[begin : begin + AT_ONCE]
        if not (np.array_equal(mine, other) and np.isfinite(mine).all()):
            yield np.nan_to_num(np.abs(mine.astype(wide) - other.astype(wide)), nan=np.inf)
