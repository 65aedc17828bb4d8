"""Functions of Python, math and NumPy, computed as by Numba on a GPU.

Functions of real numbers use libdevice if it is installed. Otherwise single precision is computed in double precision
and rounded.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any

import numpy as np

from ...nvidia_math.native import native_function
from ...recording.decimal_rounding import round_to_digits
from ...recording.fixed_width_ints import BitFunctions
from .conversions import COMPLEX, INTS, TYPE_OF_KIND, Function, caster, kind_of, to_computable
from .operations import binary, power

LIKE_INT32 = ("bool", "int8", "int16", "int32", "uint8", "uint16")
Maker = Callable[
    [tuple[str, ...], str], Function
]  # makes a function for the kinds of its arguments and its result


def bit_count(value: Any) -> Any:
    """Compute `value.bit_count()`: count the set bits of an integer, also of a negative one."""
    return BitFunctions().popc(value) if kind_of(value) in INTS else value.bit_count()


def function_for(value: Any, kinds: tuple[str, ...], result: str) -> Function | None:
    """Return an implementation of a function for these kinds of arguments and this kind of result.

    None means that the function is called unchanged. kinds, result: "" for anything but numbers.
    """
    try:
        maker = _makers().get(value)
    except TypeError:  # the object is not hashable
        return None
    return None if maker is None else maker(kinds, result)


@cache
def _makers() -> dict[Any, Maker]:
    return _python_functions() | _math_functions() | _numpy_functions()


# Functions of math


def _real(function: Function, careful: Function) -> Maker:
    """Return a maker for a function of real numbers; `careful` replaces math's function if that raises."""

    def make(kinds: tuple[str, ...], result: str) -> Function:
        cls = TYPE_OF_KIND[result]
        on_gpu = native_function(function, *_libdevice_kinds(function, result, kinds))
        if on_gpu is not None:
            return lambda *values: cls(on_gpu(*values))

        def compute(*values: Any) -> Any:
            floats = [float(value) for value in values]
            try:
                result_value = function(*floats)
            except (ValueError, OverflowError):
                result_value = careful(*floats)
            return cls(result_value)

        return compute

    return make


def _libdevice_kinds(function: Function, result: str, kinds: Sequence[str]) -> list[str]:
    """Return the kinds of libdevice's arguments: that of the result, except an integer exponent of `math.pow`."""
    kind_of_result = "float32" if result == "float16" else result
    return ["int32" if function is math.pow and kind in LIKE_INT32 else kind_of_result for kind in kinds]


def _factor(factor: float) -> Maker:
    """Return a maker for a function that multiplies by a number."""

    def make(kinds: tuple[str, ...], result: str) -> Function:
        cls = TYPE_OF_KIND[result]
        return lambda value: cls(value) * cls(factor)

    return make


def _rounding(careful: Function) -> Maker:
    """Return a maker for a function that rounds to integers, which stay floats on a GPU."""
    return lambda kinds, result: lambda value: caster(result)(careful(float(value)))


def _test(function: Function) -> Maker:
    return lambda kinds, result: lambda value: bool(function(value))


def _gamma_pole(value: float) -> float:
    if value == 0:
        return math.copysign(math.inf, value)
    return math.inf if value > 0 else math.nan


_CAREFUL: dict[str, Function] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "cos": np.cos, "cosh": np.cosh, "sin": np.sin, "sinh": np.sinh, "tan": np.tan,
    "tanh": np.tanh, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log10": np.log10,
    "log1p": np.log1p, "log2": np.log2, "sqrt": np.sqrt, "fabs": np.fabs, "atan2": np.arctan2, "hypot": np.hypot,
    "fmod": np.fmod, "copysign": np.copysign, "remainder": lambda x, y: math.nan, "pow": power,
    "erf": lambda value: math.nan, "erfc": lambda value: math.nan, "gamma": _gamma_pole,
    "lgamma": lambda value: math.inf,
}  # fmt: skip


def _math_functions() -> dict[Any, Maker]:
    functions = {
        getattr(math, name): _real(getattr(math, name), careful)
        for name, careful in _CAREFUL.items()
        if hasattr(math, name)
    }
    functions |= {getattr(math, name): _rounding(getattr(np, name)) for name in ("floor", "ceil", "trunc")}
    functions |= {getattr(math, name): _test(getattr(math, name)) for name in ("isnan", "isinf", "isfinite")}
    return functions | {math.degrees: _factor(180 / math.pi), math.radians: _factor(math.pi / 180)}


# NumPy's functions

_NUMPY_OF_REALS = {
    "sqrt": "sqrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "fabs": "fabs", "radians": "radians",
    "degrees": "degrees", "deg2rad": "radians", "rad2deg": "degrees", "arctan2": "atan2", "hypot": "hypot",
}  # fmt: skip


def _of_reals(by_math: Function, function: np.ufunc) -> Maker:
    """Return a maker for a NumPy function that computes math's function in the result's kind."""

    def make(kinds: tuple[str, ...], result: str) -> Function:
        if result in COMPLEX:
            return _in_result(function)(kinds, result)
        cls, compute = TYPE_OF_KIND[result], function_for(by_math, (result,) * len(kinds), result)
        assert compute is not None
        return lambda *values: compute(*map(cls, values))

    return make


def _in_result(function: np.ufunc) -> Maker:
    """Return a maker for a NumPy function that computes in its result's kind, or in a complex argument's kind."""

    def make(kinds: tuple[str, ...], result: str) -> Function:
        kind = kinds[0] if kinds[0] in COMPLEX else result
        cls, convert, result_type = np.dtype(kind).type, caster(kind), TYPE_OF_KIND[result]
        return lambda *values: result_type(function(*(cls(convert(value)) for value in values)))

    return make


def _numpy_functions() -> dict[Any, Maker]:
    functions = {
        getattr(np, name): _of_reals(getattr(math, other), getattr(np, name))
        for name, other in _NUMPY_OF_REALS.items()
        if hasattr(math, other)
    }
    in_result = (
        np.absolute, np.floor, np.ceil, np.trunc, np.rint, np.square, np.sign, np.maximum, np.minimum, np.fmax,
        np.fmin, np.add, np.subtract, np.multiply,
    )  # fmt: skip
    functions |= {function: _in_result(function) for function in in_result}
    return functions | {function: _test(function) for function in (np.isnan, np.isinf, np.isfinite)}


# Python's functions


def _least(better: Callable[[Any, Any], bool]) -> Maker:
    """Return a maker for `min` or `max`, which ignore nan."""

    def choose(a: Any, b: Any) -> Any:
        if a != a:
            return b
        return b if better(b, a) else a

    def make(kinds: tuple[str, ...], result: str) -> Function:
        convert = caster(result) if result else to_computable

        def compute(*values: Any) -> Any:
            return reduce(choose, map(convert, values if len(values) > 1 else values[0]))

        return compute

    return make


def _abs(kinds: tuple[str, ...], result: str) -> Function:
    convert = caster(result)
    if kinds[0] not in COMPLEX:
        return lambda value: convert(abs(value))
    length = function_for(math.hypot, (result, result), result)
    assert length is not None
    return lambda value: length(to_computable(value.real), to_computable(value.imag))


def _round(kinds: tuple[str, ...], result: str) -> Function:
    convert = caster(result)
    if len(kinds) > 1:
        return lambda value, digits: convert(round_to_digits(float(value), int(digits)))
    return convert if kinds[0] in INTS else lambda value: convert(float(np.rint(float(value))))


def _cast(kinds: tuple[str, ...], result: str) -> Function:
    return caster(result)


def _power(kinds: tuple[str, ...], result: str) -> Function:
    return binary("pow", kinds[0], kinds[1], result)


def _divmod(kinds: tuple[str, ...], result: str) -> Function:
    """Make `divmod`; result: the kind of both parts."""
    quotient, remainder = (binary(name, kinds[0], kinds[1], result) for name in ("floordiv", "mod"))
    return lambda a, b: (quotient(a, b), remainder(a, b))


def _python_functions() -> dict[Any, Maker]:
    return {
        builtins.abs: _abs,
        builtins.min: _least(lambda a, b: a < b),
        builtins.max: _least(lambda a, b: a > b),
        builtins.round: _round,
        builtins.int: _cast,
        builtins.float: _cast,
        builtins.bool: _cast,
        builtins.divmod: _divmod,
        builtins.pow: _power,
    }
