"""Comparison of an argument after a launch with the expected values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .result import WrongArgument


def wrong_argument(
    name: str, before: NDArray[Any], got: NDArray[Any], expected: NDArray[Any], tolerance: float
) -> WrongArgument | None:
    """Compare an argument with the expected values; return the difference, None if it is correct.

    before, got, expected: arrays of one shape. tolerance: the largest absolute error that is correct. A nan is correct
    where a nan is expected.
    """
    errors = _errors(got, expected)
    differs = errors > tolerance
    if not differs.any():
        return None
    first = np.unravel_index(int(np.flatnonzero(differs)[0]), got.shape)
    largest = float(errors.max())
    return WrongArgument(
        name, int(differs.sum()), got.size, tuple(int(i) for i in first), _text(got[first]), _text(expected[first]),
        largest if math.isfinite(largest) else None, bool(np.array_equal(before, got)),
    )  # fmt: skip


def _errors(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    """Compute the absolute error of each element, infinite where only one of both is nan."""
    if got.dtype.kind in "biu" and expected.dtype.kind in "biu":  # float64 can't represent all of them
        return _integer_errors(got, expected)
    wide: Any = np.complex128 if "c" in (got.dtype.kind, expected.dtype.kind) else np.float64
    got, expected = got.astype(wide), expected.astype(wide)
    with np.errstate(all="ignore"):
        errors = np.abs(got - expected)
    errors[(got == expected) | (np.isnan(got) & np.isnan(expected))] = 0  # equal infinities too
    return np.asarray(np.nan_to_num(errors, nan=np.inf, posinf=np.inf))


def _integer_errors(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    errors = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    return np.asarray(np.where(got == expected, 0.0, np.maximum(errors, 1.0)))


def _text(value: Any) -> str:
    """Format an element: 12, 0.1, nan, True."""
    return str(value.item() if not isinstance(value, np.float16 | np.float32) else value)
