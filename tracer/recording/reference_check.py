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
    if not record.launch.scenario or record.launch.blocks is not None:
        return None
    return checked(record.launch, record.names, record.finals)


def checked(launch: Launch, names: tuple[str, ...], finals: Mapping[str, NDArray[Any]]) -> Check:
    """Compare the arrays that a launch of a scenario left, by argument name, with the NumPy reference."""
    scenario = find(launch.scenario)
    given = zip(names, launch.arguments, strict=True)
    inputs = {name: content_of(a) for name, a in given if isinstance(a, Array)}
    inputs |= {"gridDim": np.array(launch.grid), "blockDim": np.array(launch.block)}
    expected = scenario.reference(inputs)
    tolerance, largest, differing, elements = scenario.tolerance(inputs), 0.0, 0, 0
    for name, values in expected.items():
        for errors in _errors(finals[name].ravel(), values.ravel()):
            largest = max(largest, float(errors.max()))
            differing += int(np.count_nonzero(errors > tolerance))
            elements += len(errors)
    equal = largest <= tolerance and math.isfinite(largest)  # an infinite tolerance says nothing
    return Check(largest, tolerance, equal, differing, elements)


def _errors(got: NDArray[Any], expected: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    """Yield the absolute error of each element, infinite where one is no number: some at a time, in little memory."""
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    for begin in range(0, len(got), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        difference = np.abs(got[some].astype(wide) - expected[some].astype(wide))
        yield np.nan_to_num(difference, nan=np.inf)
