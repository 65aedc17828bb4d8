"""Barriers and warp operations: where a thread stops, what it brings there and what it takes away."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from ...model.trace import BARRIER
from ..state import StopReason
from .known_arguments import known_arguments
from .scope import CudaPath, NotKnown, source_of
from .writer import Writer

SUSPENSION_POINTS = {
    "syncthreads": StopReason.BARRIER,
    "syncthreads_count": StopReason.COUNT,
    "syncthreads_and": StopReason.AND,
    "syncthreads_or": StopReason.OR,
    "syncwarp": StopReason.SYNCWARP,
    "shfl_sync": StopReason.SHUFFLE,
    "shfl_up_sync": StopReason.UP,
    "shfl_down_sync": StopReason.DOWN,
    "shfl_xor_sync": StopReason.XOR,
    "all_sync": StopReason.ALL,
    "any_sync": StopReason.ANY,
    "eq_sync": StopReason.EQUAL,
    "ballot_sync": StopReason.BALLOT,
    "match_any_sync": StopReason.MATCH_ANY,
    "match_all_sync": StopReason.MATCH_ALL,
    "activemask": StopReason.ACTIVE,
}
SHUFFLES = (StopReason.SHUFFLE, StopReason.UP, StopReason.DOWN, StopReason.XOR)
MATCHES = (StopReason.MATCH_ANY, StopReason.MATCH_ALL)
_TAKES = {
    StopReason.BARRIER: 0,
    StopReason.COUNT: 1,
    StopReason.AND: 1,
    StopReason.OR: 1,
    StopReason.SYNCWARP: 1,
    StopReason.ACTIVE: 1,
}
_TAKES |= dict.fromkeys(SHUFFLES, 3)


def suspending_call(writer: Writer, node: ast.AST) -> CudaPath | FunctionType | None:
    """Return the path under `cuda`, or the device function, by which a call makes threads stop; else None."""
    if not isinstance(node, ast.Call):
        return None
    try:
        value = writer.scope.value(node.func)
    except NotKnown:
        return None
    if isinstance(value, CudaPath):
        return value if value in SUSPENSION_POINTS else None
    function = getattr(value, "py_func", None)
    return function if function is not None and _function_suspends(writer, function, node) else None


def _function_suspends(writer: Writer, function: FunctionType, node: ast.Call) -> bool:
    suspending, known = writer.program.suspending, known_arguments(writer, function, node)
    key = (function, *known.items())
    if key not in suspending:
        suspending[key] = False  # while looking, so that a function that calls itself is looked at once
        source = source_of(function)
        suspending[key] = suspends(Writer(writer.program, source, known), source.tree)
    return suspending[key]


def suspends(writer: Writer, node: ast.AST) -> bool:
    """Return whether a thread may stop in a piece of code."""
    return any(suspending_call(writer, part) is not None for part in ast.walk(node))


def suspension(writer: Writer, path: str, arguments: list[ast.expr], node: ast.Call) -> ast.expr:
    """Write the statements of a stop before the one being rewritten, and return the expression of what it gives."""
    reason = SUSPENSION_POINTS[path]
    if reason in (StopReason.SYNCWARP, StopReason.ACTIVE) and not arguments:
        arguments = [ast.Constant(0xFFFFFFFF)]
    if node.keywords or len(arguments) != _TAKES.get(reason, 2):
        writer.refuse(node, f"cuda.{path} with {len(node.args)} arguments")
    brought = _brought(writer, reason, arguments)
    for name, value in brought.items():
        writer.write(ast.Expr(writer.call(f"_ts_bring_{name}", [value], node)), node)
    writer.write(ast.Expr(writer.call("_ts_arrive", [writer.site(node, BARRIER)], node)), node)
    writer.write(ast.Expr(ast.Yield(ast.Constant(int(reason)))), node)
    return _taken(writer, reason, brought, node)


def _brought(writer: Writer, reason: StopReason, arguments: list[ast.expr]) -> dict[str, ast.expr]:
    """Return what a thread brings, by the table in which it lies."""
    if reason <= StopReason.OR:
        return dict(zip(("value",), map(_vote, arguments), strict=False))
    names = ("mask", "value", "extra")
    found = dict(zip(names, arguments, strict=False))
    if "value" in found:
        found["value"] = found["value"] if reason in (*SHUFFLES, *MATCHES) else _vote(found["value"])
        found["value"] = writer.put(found["value"])
    return found


def _vote(value: ast.expr) -> ast.expr:
    return ast.copy_location(ast.IfExp(value, ast.Constant(1), ast.Constant(0)), value)


def _taken(writer: Writer, reason: StopReason, brought: dict[str, ast.expr], node: ast.Call) -> ast.expr:
    if reason in (StopReason.BARRIER, StopReason.SYNCWARP):
        return ast.copy_location(ast.Constant(None), node)
    if reason in SHUFFLES:
        return writer.put(writer.call("_ts_taken_like", [brought["value"]], node))
    taken = writer.put(writer.call("_ts_taken", [], node))
    if reason in (StopReason.ALL, StopReason.ANY, StopReason.EQUAL):
        return _true(taken)
    return (
        ast.copy_location(ast.Tuple([taken, _true(taken)], ast.Load()), node)
        if reason == StopReason.MATCH_ALL
        else taken
    )


def _true(taken: ast.expr) -> ast.expr:
    made: Any = ast.Compare(taken, [ast.NotEq()], [ast.Constant(0)])
    return ast.copy_location(made, taken)  # type: ignore[no-any-return]
