"""Functions of `cuda` that compute, as compiled code has them: with the results of Numba's simulator."""

from __future__ import annotations

from typing import Any

import numba


def _popc(value: Any) -> Any:
    count = 0
    for place in range(64):
        count += (value >> place) & 1
    return count


def _fma(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _cbrt(value: Any) -> Any:
    return value ** (1 / 3)


def _brev(value: Any) -> Any:
    turned = 0
    for place in range(32):
        turned |= ((value >> place) & 1) << (31 - place)
    return turned


def _clz(value: Any) -> Any:
    for place in range(32):
        if (value >> (31 - place)) & 1:
            return place
    return 32


def _ffs(value: Any) -> Any:
    for place in range(32):
        if (value >> place) & 1:
            return place + 1
    return 0


def _selp(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


ARITHMETIC = {
    f"_ts_cuda{function.__name__}": numba.njit(error_model="numpy")(function)
    for function in (_popc, _fma, _cbrt, _brev, _clz, _ffs, _selp)
}
