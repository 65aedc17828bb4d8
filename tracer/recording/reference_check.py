"""Compares the results of a scenario's launch with its NumPy reference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.scenarios.catalogue import find
from ..model.launch import Array, Launch
from ..model.trace import Check
from .kernel_loader import shared_content
from .run_record import RunRecord

AT_ONCE = 1 << 15  # elements that are compared at a time, which fit in a processor's cache


def check(record: RunRecord) -> Check | None:
    """Compare the kernel's results with the scenario's NumPy reference; None if only some blocks ran."""
    compute_expected(record)
    if record.expected is None:
        return None
    return _compare(record.launch, _inputs(record.launch, record.names), record.finals, record.expected)


def compute_expected(record: RunRecord) -> None:
    """Compute the expected results of a scenario's kernel, unless they are known or only some blocks run."""
    if record.expected is None and record.launch.scenario and record.launch.blocks is None:
        record.expected = find(record.launch.scenario).reference(_inputs(record.launch, record.names))


def compare_results(launch: Launch, names: tuple[str, ...], finals: Mapping[str, NDArray[Any]]) -> Check:
    """Compare a scenario's result arrays, by argument name, with the NumPy reference."""
    inputs = _inputs(launch, names)
    return _compare(launch, inputs, finals, find(launch.scenario).reference(inputs))


def _inputs(launch: Launch, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    arguments = zip(names, launch.arguments, strict=True)
    inputs = {name: shared_content(argument) for name, argument in arguments if isinstance(argument, Array)}
    return inputs | {"gridDim": np.array(launch.grid), "blockDim": np.array(launch.block)}


def _compare(
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
    equal = largest <= tolerance and math.isfinite(largest)  # an infinite tolerance accepts anything
    return Check(largest, tolerance, equal, differing, elements)


def _errors(got: NDArray[Any], expected: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    """Yield the absolute errors of some elements at a time, infinite for nan, to save memory.

    Groups of elements without any difference are skipped.
    """
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    for begin in range(0, len(got), AT_ONCE):
        got_part, expected_part = got[begin : begin + AT_ONCE], expected[begin : begin + AT_ONCE]
        if not (np.array_equal(got_part, expected_part) and np.isfinite(got_part).all()):
            yield np.nan_to_num(np.abs(got_part.astype(wide) - expected_part.astype(wide)), nan=np.inf)
