"""Numba's operators by the kinds of operands and result; they raise no exceptions.

As in numba/cpython/numbers.py, dividing by zero gives 0 for integers, and inf or nan for floats.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...nvidia_math.native import native_function
from ...recording.fixed_width_ints import UInt64, wrap_integer
from ...recording.fused import fma
from .conversions import COMPLEX, INTS, TYPE_OF_KIND, Function, caster, converter

MAX_EXPONENT = 0x10000  # larger exponents use pow()
_LOW, _HIGH, _ALL = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
NATIVE: dict[str, Function] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "and": operator.and_,
    "or": operator.or_, "xor": operator.xor,
}  # fmt: skip
UNARY: dict[str, Function] = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert}


@cache
def binary(name: str, a: str, b: str, kind: str) -> Function:
    """Return a binary operation on two kinds of numbers that gives a third kind."""
    if kind == "bool":
        return _with_conversions(lambda x, y: bool(NATIVE[name](x, y)), caster("bool"), caster("bool"))
    if name == "pow" and kind not in COMPLEX and b in INTS and a not in INTS:
        return _with_conversions(_real_power(kind), converter(a, kind), converter(b, "int64"))
    inner = _INTEGER[name](kind) if kind in INTS else _real(name, kind)
    if name in ("lshift", "rshift"):
        return _with_conversions(inner, converter(a, kind), converter(b, "int64"))
    return _with_conversions(inner, converter(a, kind), converter(b, kind))


def _with_conversions(inner: Function, first: Function | None, second: Function | None) -> Function:
    """Return an operation that converts its operands first."""
    if first is None and second is None:
        return inner
    if first is None:
        return lambda x, y: inner(x, second(y))  # type: ignore[misc]  # one of them is not None
    if second is None:
        return lambda x, y: inner(first(x), y)
    return lambda x, y: inner(first(x), second(y))


def _wrapping(compute: Function) -> Callable[[str], Function]:
    """Return a maker of an integer operation that wraps to a 64-bit kind."""

    def of_kind(kind: str) -> Function:
        if kind == "uint64":
            return lambda x, y: UInt64(compute(x, y) & _ALL)

        def signed(x: int, y: int) -> int:
            value: int = compute(x, y)
            return value if _LOW <= value <= _HIGH else wrap_integer("int64", value)

        return signed

    return of_kind


def _quotient(x: int, y: int) -> int:
    return 0 if y == 0 or (y == -1 and x == _LOW) else x // y


def _remainder(x: int, y: int) -> int:
    return 0 if y == 0 else x % y


def _shifted_left(x: int, y: int) -> int:
    return x << y if 0 <= y < 64 else 0


def _shifted_right(x: int, y: int) -> int:
    return x >> y if 0 <= y < 64 else -(x < 0)


def _power(x: int, y: int) -> int:
    if y < 0:
        if x == 0:
            return _LOW
        return (x if y & 1 else 1) if x in (1, -1) else 0
    return pow(x, y, 1 << 64)


_INTEGER: dict[str, Callable[[str], Function]] = {
    "add": _wrapping(operator.add), "sub": _wrapping(operator.sub), "mul": _wrapping(operator.mul),
    "floordiv": _wrapping(_quotient), "mod": _wrapping(_remainder), "and": _wrapping(operator.and_),
    "or": _wrapping(operator.or_), "xor": _wrapping(operator.xor), "lshift": _wrapping(_shifted_left),
    "rshift": _wrapping(_shifted_right), "pow": _wrapping(_power),
}  # fmt: skip


def _real(name: str, kind: str) -> Function:
    """Return an operation on two floats or complex numbers of one kind."""
    if name == "pow" and kind not in COMPLEX:
        cast, on_gpu = TYPE_OF_KIND[kind], native_function(math.pow, kind, kind)
        return lambda x, y: cast(power(float(x), float(y)) if on_gpu is None else on_gpu(x, y))
    if name in ("floordiv", "mod"):
        return _floor_division(name, kind)
    if kind in COMPLEX and name in ("mul", "truediv"):
        return _complex_product(kind) if name == "mul" else _complex_quotient(kind)
    native = NATIVE[name]
    if kind not in ("float64", "complex128"):
        return native  # NumPy's scalars raise nothing
    if name in ("truediv", "pow"):
        return divide if name == "truediv" else _complex_power
    return native


def _complex_product(kind: str) -> Function:
    """Return the complex product, fused as on a GPU; see `complex_mul_impl` in numba/cpython/numbers.py."""
    cls, part = TYPE_OF_KIND[kind], f"float{COMPLEX[kind]}"

    def product(x: Any, y: Any) -> Any:
        a, b, c, d = x.real, x.imag, y.real, y.imag
        return cls(complex(fma(part, a, c, -(b * d)), fma(part, b, c, a * d)))

    return product


def _complex_quotient(kind: str) -> Function:
    """Return the complex quotient, fused as on a GPU; see `complex_div_impl` in numba/cpython/numbers.py."""
    cls, part = TYPE_OF_KIND[kind], f"float{COMPLEX[kind]}"

    def quotient(x: Any, y: Any) -> Any:
        a, b, c, d = x.real, x.imag, y.real, y.imag
        if not c and not d:
            return divide(x, y)
        if abs(c) >= abs(d):
            ratio = divide(d, c)
            denominator = fma(part, d, ratio, c)
            numerators = fma(part, b, ratio, a), fma(part, -a, ratio, b)
        else:
            ratio = divide(c, d)
            denominator = fma(part, c, ratio, d)
            numerators = fma(part, a, ratio, b), fma(part, b, ratio, -a)
        return cls(complex(*(divide(numerator, denominator) for numerator in numerators)))

    return quotient


def divide(x: Any, y: Any) -> Any:
    """Divide floats or complex numbers."""
    try:
        return x / y
    except ZeroDivisionError:
        quotient = np.divide(x, y)
        return complex(quotient) if isinstance(quotient, np.complexfloating) else float(quotient)


def _complex_power(x: complex, y: complex) -> complex:
    try:
        return x**y
    except (ZeroDivisionError, OverflowError):
        return complex(np.power(np.complex128(x), np.complex128(y)))


def _floor_division(name: str, kind: str) -> Function:
    """Return a floor division of floats; see `real_divmod_func_body` in numba/cpython/numbers.py."""
    cast = TYPE_OF_KIND[kind]
    unit, half, undefined = cast(1), cast(0.5), cast("nan")

    def remainder(x: Any, y: Any) -> Any:
        """Compute `frem` as NVIDIA's compiler does: round the quotient down, and fuse the rest."""
        rounded = cast(np.floor(divide(abs(x), abs(y))))
        rest = fma(kind, -rounded, abs(y), abs(x))
        return -rest if x < 0 else rest

    def division(x: Any, y: Any) -> Any:
        if y == 0:
            return divide(x, y), undefined
        rest = remainder(x, y)
        quotient = divide(x - rest, y)
        if rest == 0:
            rest = cast(math.copysign(0.0, y))
        elif (rest < 0) != (y < 0):
            rest, quotient = rest + y, quotient - unit
        if quotient == 0:
            return divide(x * (quotient * quotient), y), rest
        rounded = cast(np.floor(quotient))
        return (rounded + unit if quotient - rounded > half else rounded), rest

    part = {"floordiv": 0, "mod": 1}.get(name)
    return division if part is None else lambda x, y: division(x, y)[part]


def power(x: float, y: float) -> float:
    """Compute a power of floats, which may be nan or inf."""
    try:
        return math.pow(x, y)
    except (ValueError, OverflowError):
        return float(np.power(x, y))


def _real_power(kind: str) -> Function:
    """Return a power with an integer exponent, as multiplications in Numba's order."""
    cast = TYPE_OF_KIND[kind]

    def power_of(x: Any, y: int) -> Any:
        exponent = abs(y)
        if exponent > MAX_EXPONENT:
            return cast(power(float(x), float(y)))
        product = cast(1.0)
        while exponent:
            if exponent & 1:
                product *= x
            exponent >>= 1
            x = x * x
        return cast(divide(1.0, float(product))) if y < 0 else product

    return power_of


@cache
def unary(name: str, kind: str) -> Function:
    """Return a unary operation on one kind of numbers."""
    native = UNARY[name]
    if kind == "bool":
        return (lambda x: not x) if name == "invert" else (lambda x: native(int(x)))
    if kind not in INTS:
        return native
    # The operand is negated in its own width and widened afterwards.
    wide = int if kind[0] == "i" else UInt64
    return lambda x: wide(wrap_integer(kind, native(int(x))))
