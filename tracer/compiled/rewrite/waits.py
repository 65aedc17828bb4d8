"""Barriers, warp operations and fences: calls that stop a thread, with the values that it brings and takes."""

from __future__ import annotations

import ast
from typing import Any

from ...model.trace import BARRIER
from .ast_positions import make_call
from .scope import CudaPath
from .writer import Writer

_BARRIERS = {"syncthreads": "barrier", "threadfence": "fence", "threadfence_system": "fence"}
_BARRIERS |= {"threadfence_block": "block_fence", "activemask": "active"}
_VOTES = {f"syncthreads_{name}": name for name in ("count", "and", "or")}
_SHUFFLES = {"shfl_sync": "shuffle", "shfl_up_sync": "up", "shfl_down_sync": "down", "shfl_xor_sync": "xor"}
_WARP_VOTES = {"all_sync": "all", "any_sync": "any", "eq_sync": "equal", "ballot_sync": "ballot"}
_MATCHES = {"match_any_sync": "match_any", "match_all_sync": "match_all"}
WAIT_NAMES = _BARRIERS | _VOTES | _SHUFFLES | _WARP_VOTES | _MATCHES | {"syncwarp": "syncwarp"}
_ARGUMENT_COUNTS = (
    dict.fromkeys(_BARRIERS, 0) | dict.fromkeys((*_VOTES, "syncwarp"), 1) | dict.fromkeys(_SHUFFLES, 3)
)
_BOOLEAN_VOTES = ("all_sync", "any_sync", "eq_sync")
THIS_GRID = "cg.this_grid"


def make_wait(writer: Writer, path: CudaPath, arguments: list[ast.expr], node: ast.Call) -> ast.expr:
    """Return the call that stops a thread for one of NAMES; its arguments are already rewritten."""
    if path == "syncwarp" and not arguments:
        arguments = [ast.Constant(0xFFFFFFFF)]
    if node.keywords or len(arguments) != _ARGUMENT_COUNTS.get(path, 2):
        writer.refuse(node, f"cuda.{path} with {len(node.args)} arguments")
    if path in _VOTES or path in _WARP_VOTES:
        arguments = [*arguments[:-1], _vote(arguments[-1])]
    call = writer.call(f"_ts_wait_{WAIT_NAMES[path]}", [*arguments, writer.site(node, BARRIER)], node)
    if path in _BOOLEAN_VOTES:
        return make_call("_ts_is_true", [call], node)
    return make_call("_ts_and_whether", [call], node) if path == "match_all_sync" else call


def this_grid(writer: Writer, node: ast.Call) -> ast.expr:
    """Return the call that gives the group of all threads of the grid, whose blocks wait for each other."""
    if node.args or node.keywords:
        writer.refuse(node, f"cuda.{THIS_GRID} with {len(node.args)} arguments")
    writer.program.waits_for_grid = True
    return make_call("_ts_this_grid", [], node)


def make_group_wait(writer: Writer, group: ast.expr, node: ast.Call) -> ast.expr:
    """Return the call that stops a thread until all threads of a group, already rewritten, have come."""
    return writer.call("_ts_wait_group", [group, writer.site(node, BARRIER)], node)


def _vote(value: ast.expr) -> ast.expr:
    choice: Any = ast.IfExp(value, ast.Constant(1), ast.Constant(0))
    return ast.copy_location(choice, value)  # type: ignore[no-any-return]
