"""Values and functions of a replayed thread: numbers, arrays, types, and Python's arithmetic on them."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from msgspec import Struct


class Unknown:
    """A value that a replay can't compute."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Final = Unknown()


class NumberType(Struct, frozen=True):
    """A type that a kernel names, such as float32; a call converts a number."""

    kind: str  # NumPy's letter: f, i, u, b, c
    bits: int

    def convert(self, value: object) -> object:
        """Convert a number as the type does; integers wrap."""
        if not isinstance(value, bool | int | float | complex):
            return UNKNOWN
        if self.kind == "b":
            return bool(value)
        if self.kind == "c":
            return complex(value)
        if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
            return value if self.kind == "f" and not isinstance(value, complex) else UNKNOWN
        if self.kind == "f":
            return _rounded(float(value), self.bits)
        return wrapped(int(value), self.bits, signed=self.kind == "i")


class ArrayValue(Struct, frozen=True):
    """An array, or a part of one with fewer dimensions."""

    shape: tuple[object, ...]  # of each dimension, UNKNOWN where a replay does not know it
    is_record: bool = False  # whether accesses name a field
    name: str = ""  # of the argument; "" for arrays that the kernel declares


class Named(Struct, frozen=True):
    """A module or a function by its dotted name: cuda.shared.array, math.sqrt."""

    name: str


PositionInLaunch = dict[str, int]  # threadIdx.x, ... by name
_TYPE = re.compile(r"(float|int|uint|complex|bool)_?(8|16|32|64|128)?_?")
_INTEGERS = {"intp": "int64", "uintp": "uint64", "byte": "int8", "double": "float64", "single": "float32"}


def number_type(name: str) -> NumberType | None:
    """Return the type with the last part of a dotted name, None for other names."""
    last = name.rpartition(".")[2]
    match = _TYPE.fullmatch(_INTEGERS.get(last, last))
    if not match:
        return None
    kind = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bool": "b"}[match[1]]
    return NumberType(kind, int(match[2] or 64))


def wrapped(value: int, bits: int, *, signed: bool) -> int:
    """Wrap an integer to a number of bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def _rounded(value: float, bits: int) -> float:
    if bits == 64:
        return value
    with np.errstate(over="ignore"):
        return float(np.float32(value) if bits == 32 else np.float16(value))


def _divided(left: float, right: float) -> float:
    if right == 0:
        return math.nan if left == 0 or left != left else math.copysign(math.inf, left)
    return left / right


BINARY: dict[str, Callable[..., object]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": _divided,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
}
COMPARISONS: dict[str, Callable[..., object]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Is": operator.is_,
    "IsNot": operator.is_not,
}
UNARY: dict[str, Callable[..., object]] = {
    "USub": operator.neg,
    "UAdd": operator.pos,
    "Invert": operator.invert,
    "Not": operator.not_,
}
_WIDE = 1 << 63
_LARGEST_SHIFT = 4096  # bits, so that no text makes Python compute for minutes


def computed(function: Callable[..., object], *operands: object) -> object:
    """Apply an operator to numbers; UNKNOWN if an operand is none, or the result is none."""
    for operand in operands:
        if not isinstance(operand, int | float | complex):
            return UNKNOWN  # also for texts and tuples, whose products take any amount of memory
    try:
        if function in (operator.lshift, operator.pow, pow) and not _is_small(operands):
            return UNKNOWN
        result = function(*operands)
    except (TypeError, ValueError, ArithmeticError):
        return UNKNOWN
    if isinstance(result, int) and not -_WIDE <= result < 2 * _WIDE:
        return wrapped(result, 64, signed=True)
    return result if isinstance(result, bool | int | float | complex) else UNKNOWN


def _is_small(operands: Sequence[object]) -> bool:
    if len(operands) != 2:
        return False
    left, right = operands
    if isinstance(left, int) and isinstance(right, int):
        return abs(right) <= 64 and left.bit_length() * max(1, abs(right)) <= _LARGEST_SHIFT
    return True


def _reversed_bits(value: int) -> int:
    return int(f"{value & 0xFFFFFFFF:032b}"[::-1], 2)


def _popcount(value: int) -> int:
    """Count bits; a negative number that fits 32 bits is one of 32 bits, such as the result of a vote."""
    bits = 0xFFFFFFFF if -(1 << 31) <= value < 0 else 0xFFFFFFFFFFFFFFFF
    return (value & bits).bit_count()


def _first_set(value: int) -> int:
    return (value & -value).bit_length()


def _leading_zeros(value: int) -> int:
    return 32 - (value & 0xFFFFFFFF).bit_length()


_MATH: dict[str, Callable[..., object]] = {
    f"math.{name}": function
    for name, function in vars(math).items()
    if callable(function) and name not in ("factorial", "comb", "perm", "prod", "lcm")
}
FUNCTIONS: dict[str, Callable[..., object]] = _MATH | {
    "min": min,
    "max": max,
    "abs": abs,
    "round": round,
    "pow": pow,
    "int": int,
    "float": float,
    "bool": bool,
    "complex": complex,
    "cuda.popc": _popcount,
    "cuda.brev": _reversed_bits,
    "cuda.clz": _leading_zeros,
    "cuda.ffs": _first_set,
    "cuda.fma": lambda a, b, c: a * b + c,
    "cuda.cbrt": lambda a: math.copysign(abs(a) ** (1 / 3), a),
    "numpy.minimum": min,
    "numpy.maximum": max,
    "numpy.abs": abs,
    "numpy.sqrt": math.sqrt,
    "numpy.exp": math.exp,
    "numpy.log": math.log,
    "numpy.floor": math.floor,
    "numpy.ceil": math.ceil,
    "numpy.sin": math.sin,
    "numpy.cos": math.cos,
}
CONSTANTS: dict[str, object] = {
    "math.pi": math.pi,
    "math.e": math.e,
    "math.inf": math.inf,
    "math.nan": math.nan,
    "numpy.pi": math.pi,
    "numpy.e": math.e,
    "numpy.inf": math.inf,
    "numpy.nan": math.nan,
}
