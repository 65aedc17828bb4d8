"""Loops that let the driver have its turn: which ones count their rounds."""

from __future__ import annotations

import ast

from .ast_positions import located
from .scope import Unknown
from .writer import Writer

SHORT = 1 << 16  # rounds of a loop that is over soon


def with_tick(writer: Writer, loop: ast.For | ast.While, body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the body of a loop, which first counts a round if there may be many."""
    if isinstance(loop, ast.For) and _is_short(writer, loop.iter):
        return body
    return [located(ast.Expr(writer.call("_ts_tick", [], loop)), loop), *body]


def _is_short(writer: Writer, iterated: ast.expr) -> bool:
    """Return whether a loop over this has few rounds, or an access in each."""
    if not isinstance(iterated, ast.Call):
        return True
    try:
        return all(abs(writer.names.static(argument)) <= SHORT for argument in iterated.args)
    except (Unknown, TypeError):
        return False
