"""`round(x, digits)` as numba-cuda has it on a GPU: in Python that Numba compiles too, since both engines call it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

END = 9223372036854775808.0  # where the whole numbers end that a GPU rounds to, those of 64 bits


def rounded_to(x: Any, digits: Any) -> Any:
    """Return a float64 rounded to digits after its point, after `round_to_impl` in numba/cuda/cudaimpl.py.

    It multiplies, rounds to a whole number and divides, where Python finds the decimal that is nearest: the last bit
    may differ, and what 64 bits do not hold becomes the largest number that they do.
    """
    if math.isinf(x) or math.isnan(x):
        return x
    left = digits - 22 if digits > 22 else abs(digits)
    shift, power = 1.0, 10.0
    while left:
        if left & 1:
            shift *= power
        left >>= 1
        power *= power
    more = 1e22 if digits > 22 else 1.0
    y = x * shift * more if digits >= 0 else x / shift
    if math.isinf(y):
        return x
    z = float(np.rint(y)) + 0.0  # the even one of two; an integer on a GPU, which has no -0.0
    if not -END < z < END:  # nan too
        z = END if z > 0.0 else -END
    return z / more / shift if digits >= 0 else z * shift
