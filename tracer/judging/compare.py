"""What a kernel left in an argument against what is expected of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .result import WrongArgument


def wrong_argument(
    name: str, before: NDArray[Any], got: NDArray[Any], expected: NDArray[Any], tolerance: float
) -> WrongArgument | None:
    """Return how an argument differs from what is expected, None where it is right; nan is right where it is expected.

    before, got, expected: arrays of one shape. tolerance: the largest absolute error that is right.
    """
    error = _errors(got, expected)
    off = error > tolerance
    if not off.any():
        return None
    first = np.unravel_index(int(np.flatnonzero(off)[0]), got.shape)
    largest = float(error.max())
    return WrongArgument(
        name, int(off.sum()), got.size, tuple(int(i) for i in first), _text(got[first]), _text(expected[first]),
        largest if math.isfinite(largest) else None, bool(np.array_equal(before, got)),
    )  # fmt: skip


def _errors(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    """Return the absolute error of each element, infinite where one alone is no number."""
    if got.dtype.kind in "biu" and expected.dtype.kind in "biu":  # of which float64 does not hold all
        return _whole_errors(got, expected)
    wide: Any = np.complex128 if "c" in (got.dtype.kind, expected.dtype.kind) else np.float64
    a, b = got.astype(wide), expected.astype(wide)
    with np.errstate(all="ignore"):
        error = np.abs(a - b)
    error[(a == b) | (np.isnan(a) & np.isnan(b))] = 0  # infinities too
    return np.asarray(np.nan_to_num(error, nan=np.inf, posinf=np.inf))


def _whole_errors(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    error = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    return np.asarray(np.where(got == expected, 0.0, np.maximum(error, 1.0)))


def _text(value: Any) -> str:
    """Return an element as it is read: 12, 0.1, nan, True."""
    return str(value.item() if not isinstance(value, np.float16 | np.float32) else value)
