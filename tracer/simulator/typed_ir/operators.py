"""Operators as Numba's IR has them: the signature says the kinds of operands and result, nothing else is looked up."""

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
CLOSED = ("and_", "or_", "xor")  # on two int64 they give one
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1
REALS = ("float32", "float64", "float16")


def inline_operator(name: str, kinds: tuple[str, str, str]) -> ast.operator | None:
    """Return Python's own operator where it computes what the GPU does, but for what does not fit an int64."""
    if name not in INLINE or len(set(kinds)) != 1:
        return None
    if kinds[0] == "int64" and name != "truediv":
        return INLINE[name]()
    if kinds[0] in REALS and name in ("add", "sub", "mul"):
        return INLINE[name]()
    if kinds[0] == "float32" and name == "truediv":  # NumPy's raises nothing
        return INLINE[name]()
    return None


def inline_comparison(name: str) -> ast.cmpop | None:
    """Return Python's own comparison, for operands of one kind of numbers or of none."""
    return COMPARISONS[name]() if name in COMPARISONS else None


def may_overflow(name: str, kind: str) -> bool:
    """Return whether the result of an inline operation has to be brought back into an int64."""
    return kind == "int64" and name not in CLOSED


@cache
def binary_operator(name: str, kinds: tuple[str, str, str], *, checked: bool) -> Callable[..., Any]:
    """Return an operation on numbers; `checked` raises for a division by zero, as in debug mode."""
    left, right, result = kinds
    operation = binary(name.rstrip("_"), left, right, result)
    return checked_division(operation) if checked and name in DIVISIONS else operation


def checked_division(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a division that raises where it is by zero, as @cuda.jit(debug=True) asks for."""

    def division(x: Any, y: Any) -> Any:
        if y == 0:
            raise ZeroDivisionError("division by zero")
        return operation(x, y)

    return division


def any_operator(name: str) -> Callable[..., Any]:
    """Return an operation on values that are not two numbers: tuples, None, records, text."""
    found: Callable[..., Any] = getattr(operator, name)
    return found


@cache
def unary_operator(name: str, kind: str, result: str) -> Callable[..., Any]:
    """Return an operation on a number."""
    if name == "not_":
        return operator.not_
    compute, convert = unary(name, kind), caster(result)
    return lambda x: convert(compute(x))


def wrap(value: int) -> int:
    """Return an integer as an int64 holds it."""
    return ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)
