"""Conversions between kinds of numbers, and the Python types that represent each kind.

An int is an int64 and a float a float64. See `INTEGERS` for the other integers; the rest are NumPy's scalars.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...recording.fixed_width_ints import INTEGERS, is_signed, width_of, wrap_integer

Function = Callable[..., Any]
FLOATS = {"float16": 16, "float32": 32, "float64": 64}
COMPLEX = {"complex64": 32, "complex128": 64}  # bits of a part
INTS = ("bool", *INTEGERS)
TYPE_OF_KIND: dict[str, type] = {
    "bool": bool, **INTEGERS, "float16": np.float16, "float32": np.float32, "float64": float,
    "complex64": np.complex64, "complex128": complex,
}  # fmt: skip
KIND_OF: dict[type, str] = {cls: kind for kind, cls in TYPE_OF_KIND.items()}
# NumPy's scalars too, from NumPy's functions and from global arrays.
KIND_OF |= {np.dtype(kind).type: kind for kind in TYPE_OF_KIND}
_TO_COMPUTE = {np.dtype(kind).type: cls for kind, cls in TYPE_OF_KIND.items()}


def kind_of(value: Any) -> str | None:
    """Return the kind of a number, None for anything else."""
    return KIND_OF.get(type(value))


def to_computable(value: Any) -> Any:
    """Convert a number, or a tuple of numbers, to the type that represents its kind; leave other values unchanged."""
    if type(value) is tuple:
        return tuple(map(to_computable, value))
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
    """Return a function that converts any number to this kind, as `int32(x)` does in a kernel."""
    if kind == "bool":
        return bool
    if kind in INTS:
        return _integer_caster(kind)
    if kind == "float64":
        return float
    cls = TYPE_OF_KIND[kind]

    def cast(value: Any) -> Any:
        if type(value) is int and not -(1 << 53) <= value <= 1 << 53:
            return cls(np.int64(value))  # rounds once; a detour through float64 would round twice
        return cls(value)

    return cast


def _integer_caster(kind: str) -> Function:
    low, high = range_of(kind)
    cls = INTEGERS[kind]

    def cast(value: Any) -> Any:
        if not isinstance(value, int) and isinstance(value, float | np.floating):
            return _from_float(kind, value)
        number = int(value)
        return cls(number) if low <= number <= high else wrap_integer(kind, number)

    return cast


def _from_float(kind: str, value: float | np.floating[Any]) -> int:
    """Convert a float to a kind of integer like PTX's `cvt`: saturate, and convert nan to 0 or 0x80...

    Numba rounds half precision to the nearest integer, and truncates other floats. LLVM converts the latter to at least
    16 bits, of which 8 remain.
    """
    is_half = isinstance(value, np.float16)
    bits = width_of(kind) if is_half else max(16, width_of(kind))
    low, high = range_of(f"{'int' if is_signed(kind) else 'uint'}{bits}")
    if math.isnan(value):
        is_single = is_half or isinstance(value, np.float32)
        return wrap_integer(kind, 0 if is_single and bits < 64 else 1 << (bits - 1))
    if math.isinf(value):
        return wrap_integer(kind, high if value > 0 else low)
    number = float(value)
    return wrap_integer(kind, min(max(round(number) if is_half else int(number), low), high))


@cache
def converter(before: str, after: str) -> Function | None:
    """Return a function that converts between two kinds, None if no conversion is needed."""
    if before == after and before != "bool":
        return None
    if before in FLOATS and after == "float64":
        return float
    if before in INTS and after == "int64" and before != "uint64":
        return int
    if after in COMPLEX:
        return TYPE_OF_KIND[after]
    return caster(after)
