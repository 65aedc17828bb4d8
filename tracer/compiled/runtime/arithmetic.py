"""Functions of `cuda` that compute, as compiled code has them; those of bits look at as many as a number's type has."""

from __future__ import annotations

from typing import Any

import numba
from numba.core import types
from numba.core.extending import overload


def width_of(value: Any) -> int:
    """Return how many bits of a whole number count: 64 or, of smaller types, 32 (compiled code)."""
    raise NotImplementedError


def _width_of(value: Any) -> Any:
    width = 32 if isinstance(value, types.Integer) and value.bitwidth <= 32 else 64
    return lambda value: width


overload(width_of, strict=False)(_width_of)


def _popc(value: Any) -> Any:
    count = 0
    for bit in range(width_of(value)):
        count += (value >> bit) & 1
    return count


def _fma(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _brev(value: Any) -> Any:
    width = width_of(value)
    turned = 0
    for bit in range(width):
        turned |= ((value >> bit) & 1) << (width - 1 - bit)
    return turned


def _clz(value: Any) -> Any:
    width = width_of(value)
    for bit in range(width):
        if (value >> (width - 1 - bit)) & 1:
            return bit
    return width


def _ffs(value: Any) -> Any:
    for bit in range(width_of(value)):
        if (value >> bit) & 1:
            return bit + 1
    return 0


def _selp(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


ARITHMETIC = {
    f"_ts_cuda{function.__name__}": numba.njit(error_model="numpy")(function)
    for function in (_popc, _fma, _brev, _clz, _ffs, _selp)
}
