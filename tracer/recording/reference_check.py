"""The check of what a scenario's launch left against its NumPy reference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.scenarios.catalogue import find
from ..model.launch import Array, Launch
from ..model.trace import Check
from .kernel_loader import filled
from .run_record import RunRecord


def check(record: RunRecord) -> Check | None:
    """Compare what the kernel left with the scenario's NumPy reference; None where only a part ran."""
    if not record.launch.scenario or record.launch.blocks is not None:
        return None
    return checked(record.launch, record.names, record.finals)


def checked(launch: Launch, names: tuple[str, ...], finals: Mapping[str, NDArray[Any]]) -> Check:
    """Compare the arrays that a launch of a scenario left, by argument name, with the NumPy reference."""
    scenario = find(launch.scenario)
    given = zip(names, launch.arguments, strict=True)
    inputs = {name: filled(a) for name, a in given if isinstance(a, Array)}
    inputs |= {"gridDim": np.array(launch.grid), "blockDim": np.array(launch.block)}
    expected = scenario.reference(inputs)
    errors = np.concatenate([_errors(finals[name], value) for name, value in expected.items()])
    largest, tolerance = float(errors.max(initial=0.0)), scenario.tolerance(inputs)
    differing = int(np.count_nonzero(errors > tolerance))
    equal = largest <= tolerance and math.isfinite(largest)  # an infinite tolerance says nothing
    return Check(largest, tolerance, equal, differing, len(errors))


def _errors(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    """Return the absolute error of each element, infinite where one is no number."""
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    difference = np.abs(got.astype(wide) - expected.astype(wide))
    return np.asarray(np.nan_to_num(difference, nan=np.inf)).ravel()
