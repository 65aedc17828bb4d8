"""Functions that compute as Numba has them on a GPU: of Python's, of math, of NumPy, and its types as casts.

`typed_function` gives for a function what stands for it, with the rule by which the kind of its result follows from
those of its arguments. Functions of real numbers are libdevice's where it is installed; without it, those of single
precision are computed in double precision and rounded.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any, NamedTuple

import numpy as np

from ...nvidia_math.native import native_function
from ...recording.fixed_width_ints import BitFunctions
from ...recording.rounding import rounded_to
from .conversions import STANDS_FOR, Function, as_computed, caster, converter, kind_of
from .kinds import COMPLEX, FLOATS, INTS, KINDS, common, result, unified
from .operations import BINARY, power

Rule = Callable[..., str | None]
LIKE_INT32 = ("bool", "int8", "int16", "int32", "uint8", "uint16")
LIKE_FLOAT32 = ("bool", "int8", "int16", "uint8", "float16", "float32")


class TypedFunction(NamedTuple):
    """A function as Numba has it: what computes it, and the kind of its result for kinds of arguments."""

    compute: Function
    rule: Rule


def bit_count(value: Any) -> Any:
    """Return what `value.bit_count()` gives: of a whole number the bits that are set, also where it is negative."""
    return BitFunctions().popc(value) if kind_of(value) in INTS else value.bit_count()


def _single_or_double(kind: str) -> str | None:
    return None if kind in COMPLEX else kind if kind in FLOATS else "float64"


def _never_half(kind: str) -> str | None:
    found = _single_or_double(kind)
    return "float32" if found == "float16" else found


def _single_if_all_fit(*kinds: str) -> str | None:
    return "float32" if all(kind in LIKE_FLOAT32 for kind in kinds) else "float64"


def _of_angle(a: str, b: str) -> str | None:
    found = "float64" if a in INTS and b in INTS else common(a, b)
    return "float32" if found == "float16" else found


def _of_power(a: str, b: str) -> str | None:
    fits = a in LIKE_FLOAT32 and b in (*LIKE_FLOAT32, "int32")
    return "float32" if fits or (a, b) == ("float32", "uint16") else "float64"


def _of_first(a: str, b: str) -> str | None:
    return _single_if_all_fit(a)


def _real(function: Function, careful: Function, rule: Rule) -> TypedFunction:
    """Return a function of math's of real numbers; `careful` is NumPy's, for what math's refuses."""

    def compute(*values: Any) -> Any:
        kinds = [kind_of(value) for value in values]
        if None in kinds:
            return function(*values)
        result = rule(*kinds) or "float64"
        on_gpu = native_function(function, *_in_libdevice(function, result, kinds))  # type: ignore[arg-type]  # none is None
        if on_gpu is not None:
            return STANDS_FOR[result](on_gpu(*values))
        floats = [float(value) for value in values]
        try:
            found = function(*floats)
        except (ValueError, OverflowError):
            found = careful(*floats)
        return STANDS_FOR[result](found)

    return TypedFunction(compute, rule)


@cache
def _factor(function: Function, factor: float) -> TypedFunction:
    """Return a function that multiplies by a number, as Numba has it."""

    def compute(value: Any) -> Any:
        kind = kind_of(value)
        if kind is None:
            return function(value)
        cls = STANDS_FOR[_never_half(kind) or "float64"]
        return cls(value) * cls(factor)

    return TypedFunction(compute, _never_half)


def _in_libdevice(function: Function, result: str, kinds: Sequence[str]) -> list[str]:
    """Return the kinds of arguments in libdevice: of the result, but for an integer as the exponent of `math.pow`."""
    single = "float32" if result == "float16" else result
    return ["int32" if function is math.pow and kind in LIKE_INT32 else single for kind in kinds]


def _whole(careful: Function) -> TypedFunction:
    """Return a function that rounds to whole numbers, which stay floats on a GPU."""

    def compute(value: Any) -> Any:
        kind = kind_of(value)
        return (
            careful(value)
            if kind is None
            else STANDS_FOR[_single_or_double(kind) or kind](careful(float(value)))
        )

    return TypedFunction(compute, _single_or_double)


def _test(function: Function) -> TypedFunction:
    return TypedFunction(lambda value: bool(function(value)), lambda kind: "bool")


def _special(name: str, nothing: Callable[[float], float]) -> TypedFunction:
    return _real(getattr(math, name), nothing, _never_half)


def _gamma_pole(value: float) -> float:
    if value == 0:
        return math.copysign(math.inf, value)
    return math.inf if value > 0 else math.nan


_CAREFUL = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "cos": np.cos, "cosh": np.cosh, "sin": np.sin, "sinh": np.sinh, "tan": np.tan,
    "tanh": np.tanh, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log10": np.log10,
    "log1p": np.log1p, "log2": np.log2, "sqrt": np.sqrt, "fabs": np.fabs,
}  # fmt: skip
_HALF_TOO = ("cos", "exp", "exp2", "fabs", "log", "log10", "log2", "sin", "sqrt")


def _of_math() -> dict[Any, TypedFunction]:
    found: dict[Any, TypedFunction] = {}
    for name, careful in _CAREFUL.items():
        if hasattr(math, name):
            rule = _single_or_double if name in _HALF_TOO else _never_half
            found[getattr(math, name)] = _real(getattr(math, name), careful, rule)
    for name, careful in (("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc)):
        found[getattr(math, name)] = _whole(careful)
    for name in ("isnan", "isinf", "isfinite"):
        found[getattr(math, name)] = _test(getattr(math, name))
    found |= {getattr(math, name): _special(name, lambda value: math.nan) for name in ("erf", "erfc")}
    found |= {
        math.gamma: _special("gamma", _gamma_pole),
        math.lgamma: _special("lgamma", lambda value: math.inf),
    }
    found |= {
        math.atan2: _real(math.atan2, np.arctan2, _of_angle),
        math.hypot: _real(math.hypot, np.hypot, _of_angle),
        math.fmod: _real(math.fmod, np.fmod, _single_if_all_fit),
        math.copysign: _real(math.copysign, np.copysign, _single_if_all_fit),
        math.remainder: _real(math.remainder, lambda x, y: math.nan, _single_if_all_fit),
        math.pow: _real(math.pow, power, _of_power),
        math.degrees: _factor(math.degrees, 180 / math.pi),
        math.radians: _factor(math.radians, math.pi / 180),
    }
    return found


# NumPy's functions


def _loop_kind(kind: str) -> str:
    """Return the kind in which a function of NumPy's computes with real or complex numbers."""
    if kind in COMPLEX:
        return kind
    return "float32" if kind in (*LIKE_FLOAT32, "uint16") else "float64"


def _of_reals(function: np.ufunc, by_math: Function | None) -> TypedFunction:
    def compute(value: Any) -> Any:
        kind = kind_of(value)
        if kind is None:
            return function(value)
        if by_math is not None and kind not in COMPLEX:
            cls = STANDS_FOR[_loop_kind(kind)]
            return cls(by_math(cls(value)))
        return as_computed(function(np.dtype(_loop_kind(kind)).type(value)))

    return TypedFunction(compute, _loop_kind)


def _keeping(function: np.ufunc, rule: Rule) -> TypedFunction:
    """Return a function of NumPy's whose integers stay integers."""

    def compute(value: Any) -> Any:
        kind = kind_of(value)
        if kind is None:
            return function(value)
        return STANDS_FOR[rule(kind) or kind](function(np.dtype(kind).type(value)))

    return TypedFunction(compute, rule)


def _numpy_common(a: str, b: str) -> str:
    if a in INTS and b in INTS:
        return unified(a, b)
    parts = 64 if {a, b} & {"float64", "complex128"} else 32
    return f"complex{2 * parts}" if a in COMPLEX or b in COMPLEX else f"float{parts}"


def _of_two(function: np.ufunc) -> TypedFunction:
    def compute(a: Any, b: Any) -> Any:
        kinds = kind_of(a), kind_of(b)
        if kinds[0] is None or kinds[1] is None:
            return function(a, b)
        kind = _numpy_common(kinds[0], kinds[1])
        cls = np.dtype(kind).type
        return as_computed(function(cls(caster(kind)(a)), cls(caster(kind)(b))))

    return TypedFunction(compute, _numpy_common)


def _magnitude(kind: str) -> str:
    return {"complex64": "float32", "complex128": "float64", "float16": "float32"}.get(kind, kind)


_NUMPY_OF_REALS = {
    "sqrt": "sqrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "fabs": "fabs", "radians": "radians",
    "degrees": "degrees", "deg2rad": "radians", "rad2deg": "degrees", "rint": "",
}  # fmt: skip


def _of_numpy() -> dict[Any, TypedFunction]:
    made = _of_math()
    found: dict[Any, TypedFunction] = {}
    for name, other in _NUMPY_OF_REALS.items():
        by_math = made[getattr(math, other)].compute if hasattr(math, other) else None
        found[getattr(np, name)] = _of_reals(getattr(np, name), by_math)
    for function in (np.absolute, np.floor, np.ceil, np.trunc):
        found[function] = _keeping(function, _magnitude)
    for signed in (np.square, np.sign):
        found[signed] = _keeping(
            signed, lambda k: "int8" if k == "bool" else _magnitude(k) if k in FLOATS else k
        )
    for of_two in (np.maximum, np.minimum, np.fmax, np.fmin, np.add, np.subtract, np.multiply):
        found[of_two] = _of_two(of_two)
    found |= {function: _test(function) for function in (np.isnan, np.isinf, np.isfinite)}
    return found


# Python's functions


def _smallest(better: Callable[[Any, Any], bool]) -> TypedFunction:
    """Return `min` or `max`: of numbers of the kind that they have in common; a nan loses."""

    def choose(a: Any, b: Any) -> Any:
        if a != a:
            return b
        return b if better(b, a) else a

    def compute(*values: Any) -> Any:
        found = values if len(values) > 1 else tuple(values[0])
        kinds = [kind_of(value) for value in found]
        if None in kinds:
            return reduce(lambda a, b: b if better(b, a) else a, found)
        kind = _all_unified(*kinds)  # type: ignore[arg-type]  # none of them is None
        converted = [_as(kind, before, value) for before, value in zip(kinds, found, strict=True)]
        return reduce(choose, converted)

    return TypedFunction(compute, lambda *kinds: _all_unified(*kinds) if len(kinds) > 1 else None)


def _all_unified(*kinds: str) -> str:
    return reduce(unified, kinds)


def _as(kind: str, before: str | None, value: Any) -> Any:
    convert = converter(before, kind) if before is not None else None
    return value if convert is None else convert(value)


def _abs(value: Any) -> Any:
    kind = kind_of(value)
    if kind is None:
        return abs(value)
    if kind in COMPLEX:
        return typed_function(math.hypot).compute(as_computed(value.real), as_computed(value.imag))  # type: ignore[union-attr]
    return caster(_abs_kind(kind))(abs(value))


def _abs_kind(kind: str) -> str:
    return {"bool": "int8", "complex64": "float32", "complex128": "float64"}.get(kind, kind)


def _round(value: Any, digits: Any = None) -> Any:
    kind = kind_of(value)
    if kind is None or kind in COMPLEX or (digits is not None and kind_of(digits) is None):
        return round(value, digits)
    if digits is not None:
        return STANDS_FOR[_single_if_all_fit(kind) or ""](rounded_to(float(value), int(digits)))
    return int(value) if kind in INTS else caster("int64")(float(np.rint(float(value))))


def _round_kind(kind: str, digits: str = "") -> str | None:
    if kind in COMPLEX:
        return None
    return _single_if_all_fit(kind) if digits else "int64"


def _int(value: Any) -> Any:
    kind = kind_of(value)
    return int(value) if kind is None else caster(_int_kind(kind) or "int64")(value)


def _int_kind(kind: str) -> str | None:
    return None if kind in COMPLEX else kind if kind in INTS and kind != "bool" else "int64"


def _float(value: Any) -> Any:
    kind = kind_of(value)
    return value if kind in FLOATS else float(value)


def _of_python() -> dict[Any, TypedFunction]:
    return {
        builtins.abs: TypedFunction(_abs, _abs_kind),
        builtins.min: _smallest(lambda a, b: a < b),
        builtins.max: _smallest(lambda a, b: a > b),
        builtins.round: TypedFunction(_round, _round_kind),
        builtins.int: TypedFunction(_int, _int_kind),
        builtins.float: TypedFunction(_float, _single_or_double),
        builtins.bool: TypedFunction(bool, lambda kind: "bool"),
        builtins.divmod: TypedFunction(BINARY["divmod"], lambda a, b: None),
        builtins.pow: TypedFunction(lambda a, b: BINARY["pow"](a, b), lambda a, b: result("pow", a, b)),
    }


_known: dict[Any, TypedFunction] = {}


def typed_function(value: Any) -> TypedFunction | None:
    """Return what stands for a function or type in a kernel, None for one that may stay as it is."""
    if not _known:
        _known.update(_of_python() | _of_math() | _of_numpy())
    kind = kind_of_type(value)
    if kind is not None and value not in (int, float, bool):
        return TypedFunction(_cast_to(kind), lambda given: kind)
    try:
        return _known.get(value)
    except TypeError:  # of an object that can't be a key
        return None


def _cast_to(kind: str) -> Function:
    cast = caster(kind)
    return lambda value: cast(value) if kind_of(value) is not None else STANDS_FOR[kind](value)


def kind_of_type(value: Any) -> str | None:
    """Return the kind of numbers that a type of NumPy's or Numba's, or Python's int, float or bool, names."""
    if value in (int, float, bool):
        return {int: "int64", float: "float64", bool: "bool"}[value]
    if isinstance(value, type) and issubclass(value, np.generic):
        name = np.dtype(value).name
    elif type(value).__module__.startswith("numba") and hasattr(value, "cast_python_value"):
        name = str(value).replace("boolean", "bool")
    else:
        return None
    return name if name in KINDS else None
