"""Places in the source: of the instructions that make accesses, and of what is written in their stead."""

from __future__ import annotations

import ast
import dis
from typing import Any


def _of_loops() -> int:
    """Return the column of the instruction that takes the next element in `for x in y`."""
    code = compile("for x in y:\n    pass", "", "exec")
    places = [s.positions for s in dis.get_instructions(code) if s.opname == "FOR_ITER"]
    return places[0].col_offset or 0 if places and places[0] else 0


_LOOPS_AT_THEIR_START = _of_loops() == 0


def loop_position(node: ast.For) -> ast.expr | ast.For:
    """Return where a loop loads the next element: versions of CPython differ."""
    return node if _LOOPS_AT_THEIR_START else node.iter


def position_of(node: ast.expr | ast.For) -> tuple[int, int]:
    """Return the (line, byte offset) that CPython gives the instruction of an expression.

    An attribute, or a method called, over several lines is where its name stands.
    """
    method = node.func if isinstance(node, ast.Call) else node
    if isinstance(method, ast.Attribute) and method.end_lineno != method.lineno:
        return method.end_lineno or 0, (method.end_col_offset or 0) - len(method.attr)
    return node.lineno, node.col_offset


def _parsed(text: str) -> Any:
    tree = ast.parse(text, mode="eval").body
    for node in ast.walk(tree):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(node, name):
                delattr(node, name)
    return tree


def parsed(text: str, where: ast.AST) -> Any:
    """Return the tree of an expression, at the place of another in the source."""
    return ast.copy_location(_parsed(text), where)


def parsed_statement(text: str, where: ast.AST) -> ast.stmt:
    """Return the tree of a statement, at the place of another in the source."""
    (made,) = ast.parse(text).body
    for node in ast.walk(made):
        if "lineno" in node._attributes:
            ast.copy_location(node, where)
    return made


def parsed_call(name: str, arguments: list[ast.expr], where: ast.AST) -> ast.expr:
    """Return a call, at the place of something else in the source."""
    return located(ast.Call(ast.Name(name, ast.Load()), arguments, []), where)  # type: ignore[no-any-return]


def located(made: Any, where: ast.AST) -> Any:
    """Give a new node a place in the source; what is new in it gets its place in the end."""
    if "lineno" in made._attributes and not hasattr(made, "lineno"):
        ast.copy_location(made, where)
    return made


def move(tree: ast.AST, line: int) -> None:
    """Give everything in a tree one line for its place."""
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
