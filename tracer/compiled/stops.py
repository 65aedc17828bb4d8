"""Barriers and warp operations: where a thread stops, what it brings there and what it takes away."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ..trace import BARRIER
from .state import Why

if TYPE_CHECKING:
    from .expressions import Expressions

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


def stop(rewriter: Expressions, path: str, arguments: list[ast.expr], node: ast.Call) -> ast.expr:
    """Write the statements of a stop before the one being rewritten, and return the expression of what it gives."""
    why = STOPS[path]
    if why in (Why.SYNCWARP, Why.ACTIVE) and not arguments:
        arguments = [ast.Constant(0xFFFFFFFF)]
    if node.keywords or len(arguments) != _TAKES.get(why, 2):
        rewriter.refuse(node, f"cuda.{path} with {len(node.args)} arguments")
    brought = _brought(rewriter, why, arguments)
    for name, value in brought.items():
        rewriter.write(ast.Expr(rewriter.call(f"_ts_bring_{name}", [value], node)), node)
    rewriter.write(ast.Expr(rewriter.call("_ts_arrive", [rewriter.site(node, BARRIER)], node)), node)
    rewriter.write(ast.Expr(ast.Yield(ast.Constant(int(why)))), node)
    return _taken(rewriter, why, brought, node)


def _brought(rewriter: Expressions, why: Why, arguments: list[ast.expr]) -> dict[str, ast.expr]:
    """Return what a thread brings, by the table in which it lies."""
    if why <= Why.OR:
        return dict(zip(("value",), map(_vote, arguments), strict=False))
    names = ("mask", "value", "extra")
    found = dict(zip(names, arguments, strict=False))
    if "value" in found:
        found["value"] = found["value"] if why in (*SHUFFLES, *MATCHES) else _vote(found["value"])
        found["value"] = rewriter.put(found["value"])
    return found


def _vote(value: ast.expr) -> ast.expr:
    return ast.copy_location(ast.IfExp(value, ast.Constant(1), ast.Constant(0)), value)


def _taken(rewriter: Expressions, why: Why, brought: dict[str, ast.expr], node: ast.Call) -> ast.expr:
    if why in (Why.BARRIER, Why.SYNCWARP):
        return ast.copy_location(ast.Constant(None), node)
    if why in SHUFFLES:
        return rewriter.put(rewriter.call("_ts_taken_like", [brought["value"]], node))
    taken = rewriter.put(rewriter.call("_ts_taken", [], node))
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
