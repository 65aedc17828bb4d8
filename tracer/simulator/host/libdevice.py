"""libdevice's functions inside kernels: Numba's declarations, implemented with Python and NumPy.

The declarations give the types of arguments and results, to which numbers are converted. If libdevice is installed, it
computes the results, with the bits of a GPU.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from ...nvidia_math.native import native_function_named
from ...recording.fused import fma
from .unsupported import unsupported_message

_MATH = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "copysign", "cos", "cosh", "erf", "erfc", "exp",
    "expm1", "fabs", "fmod", "hypot", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "pow", "remainder", "sin",
    "sinh", "tan", "tanh",
)  # fmt: skip
_IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {
    "abs": abs, "llabs": abs, "cbrt": np.cbrt, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "rint": np.rint,
    "nearbyint": np.rint, "round": lambda x: np.trunc(x + np.copysign(0.5, x)), "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "rcbrt": lambda x: 1 / np.cbrt(x), "exp2": np.exp2, "exp10": lambda x: 10.0**x,
    "fdim": lambda x, y: max(x - y, 0), "fmax": np.fmax, "fmin": np.fmin, "max": max, "min": min, "umax": max,
    "umin": min, "llmax": max, "llmin": min, "ullmax": max, "ullmin": min,
    "fma": lambda x, y, z: fma(type(x).__name__, x, y, z),
    "fdivide": lambda x, y: x / y, "sinpi": lambda x: math.sin(math.pi * x), "cospi": lambda x: math.cos(math.pi * x),
    "sincos": lambda x: (math.sin(x), math.cos(x)), "saturate": lambda x: min(max(x, 0), 1), "tgamma": math.gamma,
    "powi": lambda x, y: x**y, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "finite": np.isfinite,
    "signbit": np.signbit, "nextafter": np.nextafter, "normcdf": lambda x: 0.5 * math.erfc(-x / math.sqrt(2)),
    "popc": lambda x: int(x & 0xFFFFFFFF).bit_count(), "popcll": lambda x: int(x & (2**64 - 1)).bit_count(),
    "clz": lambda x: 32 - int(x & 0xFFFFFFFF).bit_length(), "clzll": lambda x: 64 - int(x & (2**64 - 1)).bit_length(),
    "ffs": lambda x: (int(x) & -int(x)).bit_length(), "ffsll": lambda x: (int(x) & -int(x)).bit_length(),
    "brev": lambda x: int(f"{int(x) & 0xFFFFFFFF:032b}"[::-1], 2), "mulhi": lambda x, y: int(x) * int(y) >> 32,
    "mul24": lambda x, y: int(x) * int(y), "float_as_int": lambda x: np.float32(x).view(np.int32),
    "int_as_float": lambda x: np.int32(x).view(np.float32),
    "double_as_longlong": lambda x: np.float64(x).view(np.int64),
    "longlong_as_double": lambda x: np.int64(x).view(np.float64),
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
    "rcp": lambda x: 1 / x,
}  # fmt: skip


def complete(libdevice: Any) -> None:
    """Implement each declaration in Numba's module."""
    for name, declared in list(vars(libdevice).items()):
        if isinstance(declared, FunctionType):
            setattr(libdevice, name, _lazy_function(name, declared))


def _lazy_function(name: str, declared: FunctionType) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        return _function(name, declared.__doc__ or "")(*arguments)

    call.__name__, call.__module__, call.__doc__ = name, declared.__module__, declared.__doc__
    return call


@cache
def _function(name: str, text: str) -> Callable[..., Any]:
    """Return the implementation of a function with this declaration; raises AttributeError if there is none."""
    compute = native_function_named(name) or _find_implementation(name)
    if compute is None:
        raise AttributeError(
            unsupported_message(f"libdevice.{name}", "its arithmetic is not implemented yet")
        )
    kinds, result = re.findall(r":type \w+: (\w+)", text), re.search(r":rtype: (\w+)", text)
    return _typed(compute, kinds, result[1] if result else "")


def _find_implementation(name: str) -> Callable[..., Any] | None:
    """Find the implementation of a function, ignoring the types and the rounding in its name."""
    base = re.sub(r"_r[nzud]$", "", name).removeprefix("fast_")
    rounded = base != name and re.fullmatch(r"[df](add|sub|mul|div|rcp|sqrt|rsqrt)", base)
    for candidate in (rounded[1] if rounded else base, base.removesuffix("f"), base.removesuffix("d")):
        if candidate in _IMPLEMENTATIONS:
            return _IMPLEMENTATIONS[candidate]
        if candidate in _MATH:
            return getattr(math, candidate)  # type: ignore[no-any-return]  # a function of math
    return None


def _typed(compute: Callable[..., Any], kinds: list[str], result: str) -> Callable[..., Any]:
    argument_types = [np.dtype(kind).type for kind in kinds if hasattr(np, kind)]
    result_type = getattr(np, result, None)

    def call(*arguments: Any) -> Any:
        numbers = [kind(value) for kind, value in zip(argument_types, arguments, strict=False)] or list(
            arguments
        )
        try:
            result_value = compute(*numbers)
        except (ValueError, OverflowError):  # outside the function's domain, or too large
            result_value = math.nan
        return (
            result_type(result_value) if result_type and not isinstance(result_value, tuple) else result_value
        )

    return call
