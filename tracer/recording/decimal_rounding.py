"""`round(x, digits)` as numba-cuda computes it on a GPU, in Python that Numba can compile, for both engines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

END = 9223372036854775808.0  # 2**63, the end of the 64-bit integers that a GPU rounds to


def round_to_digits(x: Any, digits: Any) -> Any:
    """Round a float64 to a number of decimal places, like `round_to_impl` in numba/cuda/cudaimpl.py.

    It multiplies, rounds to an integer and divides, while Python finds the nearest decimal. So the last bit may differ,
    and numbers beyond 64 bits become the largest 64-bit integer.
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
    z = float(np.rint(y)) + 0.0  # rounds half to even; an integer on a GPU, so -0.0 becomes 0.0
    if not -END < z < END:  # nan too
        z = END if z > 0.0 else -END
    return z / more / shift if digits >= 0 else z * shift
