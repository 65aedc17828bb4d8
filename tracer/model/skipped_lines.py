"""A kernel's file with some lines skipped; the result has as many lines, so that all others keep their numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from . import cpp_text
from .syntax_tree import syntax_tree

BARRIERS = ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "syncwarp", "sync")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BLOCKS = (ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.AsyncFor, ast.AsyncWith)


class SkippedLineError(ValueError):
    """A line that can't be skipped; the text is one sentence."""


def without_lines(source: str, lines: Iterable[int]) -> str:
    """Return a file's text without the statements that begin on these lines (from 1), with the same number of lines.

    `pass` replaces a statement, `;` in C++. Of an `if` only the condition is removed, so that its body always runs.
    Raises SkippedLineError for a line without a statement, and for one that others need.
    """
    chosen = sorted(set(lines))
    if not chosen:
        return source
    rows = source.splitlines(keepends=True)
    for line in chosen:
        first, last, replacement = _replacement(source, line)
        indent = rows[first - 1][: len(rows[first - 1]) - len(rows[first - 1].lstrip())]
        for row in range(first, last + 1):
            rows[row - 1] = (indent + replacement if row == first else "") + _end_of(rows[row - 1])
    return "".join(rows)


def skip_refusal(source: str, line: int) -> str:
    """Return the sentence that explains why a line can't be skipped, "" if it can."""
    try:
        _replacement(source, line)
    except SkippedLineError as error:
        return str(error)
    return ""


def first_line(source: str, line: int) -> int:
    """Return the first line of the statement that is skipped with a line; raises SkippedLineError if none can be."""
    return _replacement(source, line)[0]


def statement_lines(source: str, line: int) -> range:
    """Return all lines of the statement that is skipped with a line; only that line if it can't be skipped."""
    try:
        first, last, _ = _replacement(source, line)
    except SkippedLineError:
        return range(line, line + 1)
    return range(first, last + 1)


@lru_cache(maxsize=64)
def barrier_lines(source: str, function: str) -> tuple[int, ...]:
    """List the first lines of the statements of a function that wait for other threads, ascending; () without it."""
    functions = [
        node
        for node in ast.walk(syntax_tree(source))
        if isinstance(node, DEFINITIONS) and node.name == function
    ]
    if not functions and cpp_text.holds_cpp(source):
        return cpp_text.barrier_lines(source, function)
    statements = (node for definition in functions[:1] for node in _statements(definition))
    return tuple(sorted(node.lineno for node in statements if _waits(node)))


def _waits(node: ast.stmt) -> bool:
    """Return True for a barrier: a statement that only calls one."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in BARRIERS


def _replacement(source: str, line: int) -> tuple[int, int, str]:
    """Return the first and last line to skip, and their replacement; raises SkippedLineError."""
    if cpp_text.is_cpp(source) or cpp_text.statements_on(source, line):
        return _cpp_replacement(source, line)
    statements = _by_line(source).get(line, ())
    if not statements:
        raise SkippedLineError(f"Line {line} has no statement to skip.")
    if len(statements) > 1:
        raise SkippedLineError(f"Line {line} has several statements; put each on a separate line first.")
    node = statements[0]
    if isinstance(node, DEFINITIONS):
        raise SkippedLineError(f"Line {line} begins a function and can't be skipped; skip the lines in it.")
    if isinstance(node, BLOCKS):
        raise SkippedLineError(
            f"Line {line} begins a block and can't be skipped; skip the lines in it one by one."
        )
    if isinstance(node, ast.If) and node.body[0].lineno > node.lineno:
        if source.splitlines()[node.lineno - 1].lstrip().startswith("elif"):
            raise SkippedLineError(
                f"Line {line} is a further condition and can't be skipped; skip the lines below it."
            )
        return node.lineno, max(node.lineno, _first_inside(node) - 1), "if True:"
    return node.lineno, node.end_lineno or node.lineno, "pass"


def _cpp_replacement(source: str, line: int) -> tuple[int, int, str]:
    """Return the same for a text in C++: only simple statements that fill their lines can be skipped."""
    statements = cpp_text.statements_on(source, line)
    if not statements:
        raise SkippedLineError(f"Line {line} has no statement to skip.")
    if len(statements) > 1:
        raise SkippedLineError(f"Line {line} has several statements; put each on a separate line first.")
    statement = statements[0]
    if not statement.is_simple:
        raise SkippedLineError(
            f"Line {line} begins a block and can't be skipped; skip the lines in it one by one."
        )
    return statement.first, statement.last, f"{statement.before};"


@lru_cache(maxsize=16)
def _by_line(source: str) -> dict[int, tuple[ast.stmt, ...]]:
    """Map each line to the statements that begin there; continuation lines belong to their statement."""
    statements: dict[int, list[ast.stmt]] = {}
    for node in _statements(syntax_tree(source)):
        body_start = _first_inside(node)
        last = max(node.lineno, body_start - 1) if body_start else node.end_lineno or node.lineno
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
        for line in range(first, last + 1):
            statements.setdefault(line, []).append(node)
    return {line: _outermost(nodes) for line, nodes in statements.items()}


def _first_inside(node: ast.stmt) -> int:
    """Return the line of the first statement inside another one, 0 if there can be none."""
    if isinstance(node, ast.Match):
        return node.cases[0].pattern.lineno
    body = getattr(node, "body", None)
    return body[0].lineno if isinstance(body, list) and body else 0


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.stmt))


def _outermost(nodes: list[ast.stmt]) -> tuple[ast.stmt, ...]:
    """Drop statements nested in another one on the same line: of `if a: return` the return."""
    within = {id(inner) for node in nodes for inner in ast.walk(node) if inner is not node}
    return tuple(node for node in nodes if id(node) not in within)


def _end_of(row: str) -> str:
    return row[len(row.rstrip("\r\n")) :]
