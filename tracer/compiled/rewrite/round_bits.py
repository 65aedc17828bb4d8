"""Choose the numbers of rounds for a kernel: which kernels need them, and the widths of their fields."""

from __future__ import annotations

import ast
from functools import lru_cache
from types import FunctionType

from ...analysis.loop_rounds import Callee, has_unknown_rounds, nesting_of
from ..not_compilable import NotCompilableError
from .rounds import BITS, RoundBits
from .scope import Scope, UnknownValueError, source_of

MIN_ROUND_BITS = 4  # numbers that count fewer rounds of a loop are of little use


@lru_cache(maxsize=64)  # a program may launch a kernel thousands of times
def round_bits(function: FunctionType) -> RoundBits | None:
    """Choose the fields for a kernel; None if it needs none, or if its loops are too deep."""
    try:
        kernel = _callee(function)
        if not has_unknown_rounds(kernel) or _has_inner_functions(kernel.tree):
            return None
    except NotCompilableError:
        return None
    nesting = nesting_of(kernel)
    statements = (nesting.in_row + 1).bit_length()
    rounds = (BITS - statements * (1 + 2 * nesting.calls + nesting.loops)) // max(1, nesting.loops)
    return RoundBits(statements, rounds) if rounds >= MIN_ROUND_BITS else None


def has_rounds_to_record(function: FunctionType) -> bool:
    """Return True if only compiled code can record in which round a kernel makes each access."""
    return round_bits(function) is not None


def _callee(function: FunctionType) -> Callee:
    source = source_of(function)
    scope = Scope(source, {})

    def resolve(called: ast.expr) -> Callee | None:
        try:
            value = scope.value(called)
            return _callee(value.py_func) if hasattr(value, "py_func") else None
        except (UnknownValueError, NotCompilableError):
            return None

    return Callee(source.tree, resolve)


def _has_inner_functions(tree: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.FunctionDef | ast.Lambda) and node is not tree for node in ast.walk(tree))
