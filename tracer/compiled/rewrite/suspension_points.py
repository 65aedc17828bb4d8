"""Barriers and warp operations: where a thread stops, what it brings there and what it takes away."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from ...model.trace import BARRIER
from ..state import Why
from .known_arguments import given_arguments
from .scope import CudaPath, Unknown, source_of
from .writer import Writer

STOPS = {
    "syncthreads": Why.BARRIER, "syncthreads_count": Why.COUNT, "syncthreads_and": Why.AND, "syncthreads_or": Why.OR,
    "syncwarp": Why.SYNCWARP, "shfl_sync": Why.SHUFFLE, "shfl_up_sync": Why.UP, "shfl_down_sync": Why.DOWN,
    "shfl_xor_sync": Why.XOR, "all_sync": Why.ALL, "any_sync": Why.ANY, "eq_sync": Why.EQUAL,
    "ballot_sync": Why.BALLOT, "match_any_sync": Why.MATCH_ANY, "match_all_sync": Why.MATCH_ALL,
    "activemask": Why.ACTIVE,
}  # fmt: skip
SHUFFLES = (Why.SHUFFLE, Why.UP, Why.DOWN, Why.XOR)
MATCHES = (Why.MATCH_ANY, Why.MATCH_ALL)
_TAKES = {Why.BARRIER: 0, Why.COUNT: 1, Why.AND: 1, Why.OR: 1, Why.SYNCWARP: 1, Why.ACTIVE: 1}
_TAKES |= dict.fromkeys(SHUFFLES, 3)


def stop_of(writer: Writer, node: ast.AST) -> CudaPath | FunctionType | None:
    """Return the path under `cuda`, or the device function, by which a call makes threads stop; else None."""
    if not isinstance(node, ast.Call):
        return None
    try:
        value = writer.names.value(node.func)
    except Unknown:
        return None
    if isinstance(value, CudaPath):
        return value if value in STOPS else None
    function = getattr(value, "py_func", None)
    return function if function is not None and _function_stops(writer, function, node) else None


def _function_stops(writer: Writer, function: FunctionType, node: ast.Call) -> bool:
    known, given = writer.program.stopping, given_arguments(writer, function, node)
    key = (function, *given.items())
    if key not in known:
        known[key] = False  # while looking, so that a function that calls itself is looked at once
        source = source_of(function)
        known[key] = stops(Writer(writer.program, source, given), source.tree)
    return known[key]


def stops(writer: Writer, node: ast.AST) -> bool:
    """Return whether a thread may stop in a piece of code."""
    return any(stop_of(writer, part) is not None for part in ast.walk(node))


def stop(writer: Writer, path: str, arguments: list[ast.expr], node: ast.Call) -> ast.expr:
    """Write the statements of a stop before the one being rewritten, and return the expression of what it gives."""
    why = STOPS[path]
    if why in (Why.SYNCWARP, Why.ACTIVE) and not arguments:
        arguments = [ast.Constant(0xFFFFFFFF)]
    if node.keywords or len(arguments) != _TAKES.get(why, 2):
        writer.refuse(node, f"cuda.{path} with {len(node.args)} arguments")
    brought = _brought(writer, why, arguments)
    for name, value in brought.items():
        writer.write(ast.Expr(writer.call(f"_ts_bring_{name}", [value], node)), node)
    writer.write(ast.Expr(writer.call("_ts_arrive", [writer.site(node, BARRIER)], node)), node)
    writer.write(ast.Expr(ast.Yield(ast.Constant(int(why)))), node)
    return _taken(writer, why, brought, node)


def _brought(writer: Writer, why: Why, arguments: list[ast.expr]) -> dict[str, ast.expr]:
    """Return what a thread brings, by the table in which it lies."""
    if why <= Why.OR:
        return dict(zip(("value",), map(_vote, arguments), strict=False))
    names = ("mask", "value", "extra")
    found = dict(zip(names, arguments, strict=False))
    if "value" in found:
        found["value"] = found["value"] if why in (*SHUFFLES, *MATCHES) else _vote(found["value"])
        found["value"] = writer.put(found["value"])
    return found


def _vote(value: ast.expr) -> ast.expr:
    return ast.copy_location(ast.IfExp(value, ast.Constant(1), ast.Constant(0)), value)


def _taken(writer: Writer, why: Why, brought: dict[str, ast.expr], node: ast.Call) -> ast.expr:
    if why in (Why.BARRIER, Why.SYNCWARP):
        return ast.copy_location(ast.Constant(None), node)
    if why in SHUFFLES:
        return writer.put(writer.call("_ts_taken_like", [brought["value"]], node))
    taken = writer.put(writer.call("_ts_taken", [], node))
    if why in (Why.ALL, Why.ANY, Why.EQUAL):
        return _true(taken)
    return (
        ast.copy_location(ast.Tuple([taken, _true(taken)], ast.Load()), node)
        if why == Why.MATCH_ALL
        else taken
    )


def _true(taken: ast.expr) -> ast.expr:
    made: Any = ast.Compare(taken, [ast.NotEq()], [ast.Constant(0)])
    return ast.copy_location(made, taken)  # type: ignore[no-any-return]
