"""Fused multiply-add: multiply and add with one rounding, as on a GPU."""

from __future__ import annotations

import math
from struct import Struct
from typing import Any

import numpy as np

_pack = Struct("<d").pack
# By kind: NumPy's type, and its largest number.
_SMALLER = {kind: (np.dtype(kind).type, float(np.finfo(kind).max)) for kind in ("float16", "float32")}


def fma(kind: str, a: Any, b: Any, c: Any) -> Any:
    """Compute a * b + c, rounded once, for three floats of a kind: "float16", "float32" or "float64".

    Returns a float for float64 and a NumPy scalar for the others. Overflow gives inf.
    """
    x, y, z = float(a), float(b), float(c)
    if kind == "float64":
        return _fma_float64(x, y, z)
    total = _add_rounding_to_odd(x * y, z)
    cls, largest = _SMALLER[kind]
    if abs(total) <= largest:
        return cls(total)
    with np.errstate(over="ignore"):
        return cls(total)


def _add_rounding_to_odd(product: float, z: float) -> float:
    """Add two float64; an inexact sum gets an odd last bit, so that a second rounding is correct.

    The product of two float32 is exact in float64. See Boldo and Melquiond, "Emulation of FMA and correctly rounded
    sums: proved algorithms using rounding to odd", 2008.
    """
    total = product + z
    if not math.isfinite(total):
        return total
    back = total - product
    error = (product - (total - back)) + (z - back)
    if error and not _pack(total)[0] & 1:
        return math.nextafter(total, math.inf if error > 0 else -math.inf)
    return total


def _fma_float64(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y + z
    if not math.isfinite(z):
        return z
    (a, p), (b, q), (c, r) = x.as_integer_ratio(), y.as_integer_ratio(), z.as_integer_ratio()
    total = a * b * r + c * p * q
    if not total:
        return x * y + z  # exact, with the correct sign of zero
    try:
        return total / (p * q * r)  # Python rounds a quotient of integers once
    except OverflowError:
        return math.inf if total > 0 else -math.inf
