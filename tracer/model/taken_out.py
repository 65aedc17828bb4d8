"""A kernel's file with some of its lines taken out: what is left has as many lines, so that all others keep theirs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from .syntax_tree import syntax_tree

BARRIERS = ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "syncwarp", "sync")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BLOCKS = (ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.AsyncFor, ast.AsyncWith)


class TakenOutError(ValueError):
    """A line that can't be taken out; the text is one sentence."""


def without_lines(source: str, lines: Iterable[int]) -> str:
    """Return a file's text without the statements that begin on these lines (from 1), in as many lines.

    In place of a statement stands `pass`. Of an `if` the condition is taken out, so that what it guards always runs.
    Raises TakenOutError for a line without a statement, and for one that others need.
    """
    chosen = sorted(set(lines))
    if not chosen:
        return source
    rows = source.splitlines(keepends=True)
    for line in chosen:
        first, last, left = _replacement(source, line)
        indent = rows[first - 1][: len(rows[first - 1]) - len(rows[first - 1].lstrip())]
        for row in range(first, last + 1):
            rows[row - 1] = (indent + left if row == first else "") + _end_of(rows[row - 1])
    return "".join(rows)


def why_it_stays(source: str, line: int) -> str:
    """Return the sentence that says why a line can't be taken out, "" where it can."""
    try:
        _replacement(source, line)
    except TakenOutError as error:
        return str(error)
    return ""


def first_line(source: str, line: int) -> int:
    """Return the first line of the statement that goes with a line; raises TakenOutError where none can."""
    return _replacement(source, line)[0]


def lines_that_go(source: str, line: int) -> range:
    """Return all lines of the statement that goes with a line, that line alone where none can."""
    try:
        first, last, _ = _replacement(source, line)
    except TakenOutError:
        return range(line, line + 1)
    return range(first, last + 1)


@lru_cache(maxsize=64)
def barrier_lines(source: str, function: str) -> tuple[int, ...]:
    """Return the first lines of the statements of a function that wait for other threads, ascending; () without it."""
    found = [
        node
        for node in ast.walk(syntax_tree(source))
        if isinstance(node, DEFINITIONS) and node.name == function
    ]
    statements = (node for one in found[:1] for node in _statements(one))
    return tuple(sorted(node.lineno for node in statements if _waits(node)))


def _waits(node: ast.stmt) -> bool:
    """Return whether a statement is a barrier: a call of one, alone on its line."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in BARRIERS


def _replacement(source: str, line: int) -> tuple[int, int, str]:
    """Return the first and last line that go, and what stands in their place; raises TakenOutError."""
    found = _by_line(source).get(line, ())
    if not found:
        raise TakenOutError(f"Line {line} holds no statement that could be taken out.")
    if len(found) > 1:
        raise TakenOutError(f"Line {line} holds several statements; put each on a line of its own first.")
    node = found[0]
    if isinstance(node, DEFINITIONS):
        raise TakenOutError(f"Line {line} begins a function, which stays; take out lines of it.")
    if isinstance(node, BLOCKS):
        raise TakenOutError(f"Line {line} begins a block, which stays; take out the lines in it one by one.")
    if isinstance(node, ast.If) and node.body[0].lineno > node.lineno:
        if source.splitlines()[node.lineno - 1].lstrip().startswith("elif"):
            raise TakenOutError(
                f"Line {line} is a further condition, which stays; take out the lines below it."
            )
        return node.lineno, max(node.lineno, _first_inside(node) - 1), "if True:"
    return node.lineno, node.end_lineno or node.lineno, "pass"


@lru_cache(maxsize=16)
def _by_line(source: str) -> dict[int, tuple[ast.stmt, ...]]:
    """Return by line the statements that begin there; of those on further lines of one statement, that statement."""
    found: dict[int, list[ast.stmt]] = {}
    for node in _statements(syntax_tree(source)):
        own = _first_inside(node)
        last = max(node.lineno, own - 1) if own else node.end_lineno or node.lineno
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        for line in range(first, last + 1):
            found.setdefault(line, []).append(node)
    return {line: _outermost(nodes) for line, nodes in found.items()}


def _first_inside(node: ast.stmt) -> int:
    """Return the line of the first statement inside another one, 0 where there can be none."""
    if isinstance(node, ast.Match):
        return node.cases[0].pattern.lineno
    body = getattr(node, "body", None)
    return body[0].lineno if isinstance(body, list) and body else 0


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.stmt))


def _outermost(nodes: list[ast.stmt]) -> tuple[ast.stmt, ...]:
    """Leave out what is within another on the same line: of `if a: return` the return."""
    within = {id(inner) for node in nodes for inner in ast.walk(node) if inner is not node}
    return tuple(node for node in nodes if id(node) not in within)


def _end_of(row: str) -> str:
    return row[len(row.rstrip("\r\n")) :]
