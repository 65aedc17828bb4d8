"""Numbers of one kind as numbers of another, with the Python types that stand for each kind.

An int is an int64 and a float a float64; see `INTEGERS` for the other integers; the rest are NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...recording.fixed_width_ints import INTEGERS, is_signed, width_of, wrapped

Function = Callable[..., Any]
FLOATS = {"float16": 16, "float32": 32, "float64": 64}
COMPLEX = {"complex64": 32, "complex128": 64}  # with the bits of a part
INTS = ("bool", *INTEGERS)
STANDS_FOR: dict[str, type] = {
    "bool": bool, **INTEGERS, "float16": np.float16, "float32": np.float32, "float64": float,
    "complex64": np.complex64, "complex128": complex,
}  # fmt: skip
KIND_OF: dict[type, str] = {cls: kind for kind, cls in STANDS_FOR.items()}
# What else comes along: from NumPy's functions, and from global arrays.
KIND_OF |= {np.dtype(kind).type: kind for kind in STANDS_FOR}
_TO_COMPUTE = {np.dtype(kind).type: cls for kind, cls in STANDS_FOR.items()}


def kind_of(value: Any) -> str | None:
    """Return the kind of a number, None of anything else."""
    return KIND_OF.get(type(value))


def as_computed(value: Any) -> Any:
    """Return a number from elsewhere, or a tuple of some, as what stands for its kind; others as they are."""
    if type(value) is tuple:
        return tuple(map(as_computed, value))
    if type(value) is int:
        return INTEGERS["uint64"](value) if 1 << 63 <= value < 1 << 64 else value
    cls = _TO_COMPUTE.get(type(value))
    return value if cls is None or cls is type(value) else cls(value)


def range_of(kind: str) -> tuple[int, int]:
    """Return the lowest and the highest number of a kind of integers."""
    if kind == "bool":
        return 0, 1
    bits = width_of(kind)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed(kind) else (0, (1 << bits) - 1)


@cache
def caster(kind: str) -> Function:
    """Return what makes a number of any kind one of this kind, as `int32(x)` does in a kernel."""
    if kind == "bool":
        return bool
    if kind in INTS:
        return _integer_caster(kind)
    if kind == "float64":
        return float
    cls = STANDS_FOR[kind]

    def cast(value: Any) -> Any:
        if type(value) is int and not -(1 << 53) <= value <= 1 << 53:
            return cls(np.int64(value))  # rounds once, which a detour over float64 does not
        return cls(value)

    return cast


def _integer_caster(kind: str) -> Function:
    low, high = range_of(kind)
    cls = INTEGERS[kind]

    def cast(value: Any) -> Any:
        if not isinstance(value, int) and isinstance(value, float | np.floating):
            return _from_float(kind, value)
        number = int(value)
        return cls(number) if low <= number <= high else wrapped(kind, number)

    return cast


def _from_float(kind: str, value: float | np.floating[Any]) -> int:
    """Return a float as an integer of a kind, as PTX's `cvt` has it: saturated, and a nan as 0 or 0x80...

    Numba takes the nearest integer of half precision, and what lies towards 0 of others. LLVM converts those to 16 bits
    at least, of which 8 remain.
    """
    half = isinstance(value, np.float16)
    bits = width_of(kind) if half else max(16, width_of(kind))
    low, high = range_of(f"{'int' if is_signed(kind) else 'uint'}{bits}")
    if math.isnan(value):
        single = half or isinstance(value, np.float32)
        return wrapped(kind, 0 if single and bits < 64 else 1 << (bits - 1))
    if math.isinf(value):
        return wrapped(kind, high if value > 0 else low)
    number = float(value)
    return wrapped(kind, min(max(round(number) if half else int(number), low), high))


@cache
def converter(before: str, after: str) -> Function | None:
    """Return what converts between two kinds, None where numbers can stay as they are."""
    if before == after and before != "bool":
        return None
    if before in FLOATS and after == "float64":
        return float
    if before in INTS and after == "int64" and before != "uint64":
        return int
    if after in COMPLEX:
        return STANDS_FOR[after]
    return caster(after)
