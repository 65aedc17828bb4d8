"""Operators as Numba has them, by the kinds of operands and result: without exceptions.

After numba/cpython/numbers.py: an integer division by zero gives 0, one of floats inf or nan.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...nvidia_math.native import native_function
from ...recording.fixed_width_ints import UInt64, wrapped
from ...recording.fused import fma
from .conversions import COMPLEX, INTS, STANDS_FOR, Function, caster, converter

MOST_MULTIPLIED = 0x10000  # a larger exponent goes to pow()
_LOW, _HIGH, _ALL = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1
NATIVE: dict[str, Function] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "and": operator.and_,
    "or": operator.or_, "xor": operator.xor,
}  # fmt: skip
UNARY: dict[str, Function] = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert}


@cache
def binary(name: str, a: str, b: str, kind: str) -> Function:
    """Return an operation of two kinds of numbers, as they are computed with, that gives a third kind."""
    if kind == "bool":
        return _with(lambda x, y: bool(NATIVE[name](x, y)), caster("bool"), caster("bool"))
    if name == "pow" and kind not in COMPLEX and b in INTS and a not in INTS:
        return _with(_real_power(kind), converter(a, kind), converter(b, "int64"))
    inner = _INTEGER[name](kind) if kind in INTS else _real(name, kind)
    if name in ("lshift", "rshift"):
        return _with(inner, converter(a, kind), converter(b, "int64"))
    return _with(inner, converter(a, kind), converter(b, kind))


def _with(inner: Function, first: Function | None, second: Function | None) -> Function:
    """Return an operation on operands that are converted first."""
    if first is None and second is None:
        return inner
    if first is None:
        return lambda x, y: inner(x, second(y))  # type: ignore[misc]  # one of them is there
    if second is None:
        return lambda x, y: inner(first(x), y)
    return lambda x, y: inner(first(x), second(y))


def _wrapping(compute: Function) -> Callable[[str], Function]:
    """Return what makes an operation on integers one of a kind of 64 bits."""

    def of_kind(kind: str) -> Function:
        if kind == "uint64":
            return lambda x, y: UInt64(compute(x, y) & _ALL)

        def signed(x: int, y: int) -> int:
            found: int = compute(x, y)
            return found if _LOW <= found <= _HIGH else wrapped("int64", found)

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
    """Return an operation on two floats, or complex numbers, of one kind."""
    if name == "pow" and kind not in COMPLEX:
        cast, on_gpu = STANDS_FOR[kind], native_function(math.pow, kind, kind)
        return lambda x, y: cast(power(float(x), float(y)) if on_gpu is None else on_gpu(x, y))
    if name in ("floordiv", "mod"):
        return _floor_division(name, kind)
    if kind in COMPLEX and name in ("mul", "truediv"):
        return _complex_product(kind) if name == "mul" else _complex_quotient(kind)
    native = NATIVE[name]
    if kind not in ("float64", "complex128"):
        return native  # NumPy's raise nothing
    if name in ("truediv", "pow"):
        return divided if name == "truediv" else _complex_power
    return native


def _complex_product(kind: str) -> Function:
    """Return a product of complex numbers, fused as on a GPU, after `complex_mul_impl` in numba/cpython/numbers.py."""
    cls, part = STANDS_FOR[kind], f"float{COMPLEX[kind]}"

    def product(x: Any, y: Any) -> Any:
        a, b, c, d = x.real, x.imag, y.real, y.imag
        return cls(complex(fma(part, a, c, -(b * d)), fma(part, b, c, a * d)))

    return product


def _complex_quotient(kind: str) -> Function:
    """Return a quotient of complex numbers, fused as on a GPU, after `complex_div_impl` in numba/cpython/numbers.py."""
    cls, part = STANDS_FOR[kind], f"float{COMPLEX[kind]}"

    def quotient(x: Any, y: Any) -> Any:
        a, b, c, d = x.real, x.imag, y.real, y.imag
        if not c and not d:
            return divided(x, y)
        if abs(c) >= abs(d):
            ratio = divided(d, c)
            below = fma(part, d, ratio, c)
            above = fma(part, b, ratio, a), fma(part, -a, ratio, b)
        else:
            ratio = divided(c, d)
            below = fma(part, c, ratio, d)
            above = fma(part, a, ratio, b), fma(part, b, ratio, -a)
        return cls(complex(divided(above[0], below), divided(above[1], below)))

    return quotient


def divided(x: Any, y: Any) -> Any:
    """Return a quotient of floats or complex numbers."""
    try:
        return x / y
    except ZeroDivisionError:
        found = np.divide(x, y)
        return complex(found) if isinstance(found, np.complexfloating) else float(found)


def _complex_power(x: complex, y: complex) -> complex:
    try:
        return x**y
    except (ZeroDivisionError, OverflowError):
        return complex(np.power(np.complex128(x), np.complex128(y)))


def _floor_division(name: str, kind: str) -> Function:
    """Return a division of floats that rounds down, after `real_divmod_func_body` in numba/cpython/numbers.py."""
    cast = STANDS_FOR[kind]
    one, half, nothing = cast(1), cast(0.5), cast("nan")

    def remainder(x: Any, y: Any) -> Any:
        """Compute `frem` as NVIDIA's compiler has it: the quotient is rounded down, the rest is fused."""
        whole = cast(np.floor(divided(abs(x), abs(y))))
        rest = fma(kind, -whole, abs(y), abs(x))
        return -rest if x < 0 else rest

    def division(x: Any, y: Any) -> Any:
        if y == 0:
            return divided(x, y), nothing
        rest = remainder(x, y)
        quotient = divided(x - rest, y)
        if rest == 0:
            rest = cast(math.copysign(0.0, y))
        elif (rest < 0) != (y < 0):
            rest, quotient = rest + y, quotient - one
        if quotient == 0:
            return divided(x * (quotient * quotient), y), rest
        whole = cast(np.floor(quotient))
        return (whole + one if quotient - whole > half else whole), rest

    part = {"floordiv": 0, "mod": 1}.get(name)
    return division if part is None else lambda x, y: division(x, y)[part]


def power(x: float, y: float) -> float:
    """Return a power of floats, which may be nan or inf."""
    try:
        return math.pow(x, y)
    except (ValueError, OverflowError):
        return float(np.power(x, y))


def _real_power(kind: str) -> Function:
    """Return a float to the power of an integer: multiplications, in their order."""
    cast = STANDS_FOR[kind]

    def power_of(x: Any, y: int) -> Any:
        left = abs(y)
        if left > MOST_MULTIPLIED:
            return cast(power(float(x), float(y)))
        found = cast(1.0)
        while left:
            if left & 1:
                found *= x
            left >>= 1
            x = x * x
        return cast(divided(1.0, float(found))) if y < 0 else found

    return power_of


@cache
def unary(name: str, kind: str) -> Function:
    """Return an operation of one kind of numbers."""
    native = UNARY[name]
    if kind == "bool":
        return (lambda x: not x) if name == "invert" else (lambda x: native(int(x)))
    if kind not in INTS:
        return native
    # What is negated keeps its own width, and is made wider then.
    wide = int if kind[0] == "i" else UInt64
    return lambda x: wide(wrapped(kind, native(int(x))))
