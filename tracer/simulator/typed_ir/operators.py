"""Operators of Numba's IR, chosen only by the kinds of operands and result in the signature."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

from ..arithmetic.conversions import caster
from ..arithmetic.operations import binary, unary

INLINE: dict[str, type[ast.operator]] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "and_": ast.BitAnd, "or_": ast.BitOr, "xor": ast.BitXor,
    "truediv": ast.Div,
}  # fmt: skip
COMPARISONS: dict[str, type[ast.cmpop]] = {
    "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE, "eq": ast.Eq, "ne": ast.NotEq, "is_": ast.Is,
    "is_not": ast.IsNot,
}  # fmt: skip
DIVISIONS = ("truediv", "floordiv", "mod")
CLOSED = ("and_", "or_", "xor")  # operators that can't overflow an int64
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1
REALS = ("float32", "float64", "float16")


def inline_operator(name: str, kinds: tuple[str, str, str]) -> ast.operator | None:
    """Return Python's operator if it computes the same as a GPU, apart from overflow of an int64; otherwise None."""
    if name not in INLINE or len(set(kinds)) != 1:
        return None
    if kinds[0] == "int64" and name != "truediv":
        return INLINE[name]()
    if kinds[0] in REALS and name in ("add", "sub", "mul"):
        return INLINE[name]()
    if kinds[0] == "float32" and name == "truediv":  # NumPy's scalars raise nothing
        return INLINE[name]()
    return None


def inline_comparison(name: str) -> ast.cmpop | None:
    """Return Python's comparison operator, None for other names."""
    return COMPARISONS[name]() if name in COMPARISONS else None


def may_overflow(name: str, kind: str) -> bool:
    """Check whether the result of an inline operation may need wrapping to an int64."""
    return kind == "int64" and name not in CLOSED


@cache
def binary_operator(name: str, kinds: tuple[str, str, str], *, checked: bool) -> Callable[..., Any]:
    """Return an operation on numbers; `checked` raises for a division by zero, as in debug mode."""
    left, right, result = kinds
    operation = binary(name.rstrip("_"), left, right, result)
    return checked_division(operation) if checked and name in DIVISIONS else operation


def checked_division(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a division that raises for a division by zero, as with @cuda.jit(debug=True)."""

    def division(x: Any, y: Any) -> Any:
        if y == 0:
            raise ZeroDivisionError("division by zero")
        return operation(x, y)

    return division


def any_operator(name: str) -> Callable[..., Any]:
    """Return an operation on values that are not two numbers: tuples, None, records, text."""
    function: Callable[..., Any] = getattr(operator, name)
    return function


@cache
def unary_operator(name: str, kind: str, result: str) -> Callable[..., Any]:
    """Return a unary operation on a number."""
    if name == "not_":
        return operator.not_
    compute, convert = unary(name, kind), caster(result)
    return lambda x: convert(compute(x))


def wrap(value: int) -> int:
    """Wrap an integer to an int64."""
    return ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)
