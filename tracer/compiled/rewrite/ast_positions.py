"""Positions in the source: of the instructions that make accesses, and of the code that replaces them."""

from __future__ import annotations

import ast
import dis
from typing import Any


def _loop_column() -> int:
    """Find the column of the instruction that takes the next element in `for x in y`."""
    code = compile("for x in y:\n    pass", "", "exec")
    positions = [s.positions for s in dis.get_instructions(code) if s.opname == "FOR_ITER"]
    return positions[0].col_offset or 0 if positions and positions[0] else 0


_LOOPS_AT_THEIR_START = _loop_column() == 0


def loop_position(node: ast.For) -> ast.expr | ast.For:
    """Return the node at whose position a loop loads the next element: it depends on CPython's version."""
    return node if _LOOPS_AT_THEIR_START else node.iter


def position_of(node: ast.expr | ast.For) -> tuple[int, int]:
    """Return the (line, byte offset) that CPython gives the instruction of an expression.

    An attribute or method call that spans several lines is at the position of its name.
    """
    method = node.func if isinstance(node, ast.Call) else node
    if isinstance(method, ast.Attribute) and method.end_lineno != method.lineno:
        return method.end_lineno or 0, (method.end_col_offset or 0) - len(method.attr.encode())
    return node.lineno, node.col_offset


def _parse_expression(text: str) -> Any:
    tree = ast.parse(text, mode="eval").body
    for node in ast.walk(tree):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(node, name):
                delattr(node, name)
    return tree


def parse_expression(text: str, where: ast.AST) -> Any:
    """Parse an expression, and give it the position of another node."""
    return ast.copy_location(_parse_expression(text), where)


def parse_statement(text: str, where: ast.AST) -> ast.stmt:
    """Parse a statement, and give it the position of another node."""
    (statement,) = ast.parse(text).body
    for node in ast.walk(statement):
        if "lineno" in node._attributes:
            ast.copy_location(node, where)
    return statement


def make_call(name: str, arguments: list[ast.expr], where: ast.AST) -> ast.expr:
    """Make a call at the position of another node."""
    return set_position(ast.Call(ast.Name(name, ast.Load()), arguments, []), where)  # type: ignore[no-any-return]


def set_position(node: Any, where: ast.AST) -> Any:
    """Give a new node a position, if it has none; nodes inside it get theirs in the end."""
    if "lineno" in node._attributes and not hasattr(node, "lineno"):
        ast.copy_location(node, where)
    return node


def set_line(tree: ast.AST, line: int) -> None:
    """Put every node of a tree on one line."""
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
