"""The statements of a kernel around its lines, and edits of its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from ..model.syntax_tree import syntax_tree


class Edit(Struct, frozen=True):
    """A change of consecutive lines: `old`, which begin at `line` (from 1), become `new`."""

    line: int
    old: tuple[str, ...]  # none for an insertion before `line`
    new: tuple[str, ...]


class Fix(Struct, frozen=True):
    """A remedy that is a change of the kernel's text."""

    remedy: str  # the sentence, without a capital or full stop
    text: str  # the complete text with the change

    def edits(self, source: str) -> tuple[Edit, ...]:
        """List the changes that lead from the source to `text`."""
        return edits_between(source, self.text)


def edits_between(before: str, after: str) -> tuple[Edit, ...]:
    """List the changes that lead from one text to another, in the order of their lines."""
    old, new = before.splitlines(), after.splitlines()
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        Edit(low + 1, tuple(old[low:high]), tuple(new[first:last]))
        for tag, low, high, first, last in changes
        if tag != "equal"
    )


class KernelText:
    """A source text with the statements around each of its lines."""

    def __init__(self, source: str) -> None:
        self.source, self.lines = source, source.splitlines()
        self._tree = syntax_tree(source)

    def path(self, line: int) -> list[ast.stmt]:
        """List the statements around a line, from the function's body inwards; none outside functions.

        A statement on the line of its condition is not listed: no line can be inserted before it.
        """
        functions = [node for node in ast.walk(self._tree) if isinstance(node, ast.FunctionDef)]
        around = [node for node in functions if _contains(node, line)]
        path: list[ast.stmt] = []
        inner = _inside(around[-1], line) if around else None
        while inner is not None:
            path.append(inner)
            inner = _inside(inner, line)
        return path

    def statements_around(self, line: int) -> list[ast.AST]:
        """List everything in the innermost function that contains a line."""
        functions = [node for node in ast.walk(self._tree) if isinstance(node, ast.FunctionDef)]
        around = [node for node in functions if _contains(node, line)]
        return list(ast.walk(around[-1])) if around else []

    def nodes(self, line: int) -> list[ast.AST]:
        """List the expressions and statements that begin on a line."""
        return [node for node in ast.walk(self._tree) if getattr(node, "lineno", 0) == line]

    def top_level(self) -> list[ast.stmt]:
        """List the statements of the module."""
        return self._tree.body

    def suite_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the body of the function that a statement is in, outside its compound statements; [] for none."""
        functions = (node for node in ast.walk(self._tree) if isinstance(node, ast.FunctionDef))
        return next((function.body for function in functions if statement in function.body), [])

    def byte_parts(self, line: int, start: int, stop: int, written: str | None = None) -> tuple[str, str]:
        """Return the parts of a line before `start` and from `stop` on, in bytes as syntax trees count.

        written: the line with changes after `stop`.
        """
        encoded = self.lines[line - 1].encode()
        after = encoded[stop:] if written is None else written.encode()[stop:]
        return encoded[:start].decode(), after.decode()

    def indent(self, statement: ast.stmt) -> str:
        """Return the white space before a statement."""
        return self.lines[statement.lineno - 1][: statement.col_offset]

    def header(self, statement: ast.If) -> str | None:
        """Return the line of an `if`, None if it has more than one or is an `elif`."""
        line = self.lines[statement.lineno - 1]
        ends_there = statement.test.end_lineno == statement.lineno < statement.body[0].lineno
        return line if ends_there and line.lstrip().startswith("if") else None

    def segment(self, node: ast.expr) -> str:
        """Return the text of an expression."""
        return ast.get_source_segment(self.source, node) or ast.unparse(node)

    def unused_name(self, wanted: str) -> str:
        """Return a name that the text does not use."""
        used = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}
        names = (wanted, *(f"{wanted}_{number}" for number in range(2, 100)))
        return next(name for name in names if name not in used)

    def replace(self, changes: Sequence[tuple[int, int, Sequence[str]]]) -> str:
        """Replace lines `low` to `high` - 1 (from 1) by others, for each (low, high, new lines)."""
        lines = list(self.lines)
        for low, high, new in sorted(changes, key=lambda change: change[0], reverse=True):
            lines[low - 1 : high - 1] = new
        return "\n".join(lines) + "\n"


def blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the suites of a statement."""
    for name in ("body", "orelse", "finalbody"):
        if suite := getattr(statement, name, None):
            yield suite


def end(statement: ast.stmt) -> int:
    """Return a statement's last line."""
    return statement.end_lineno or statement.lineno


def _inside(statement: ast.stmt, line: int) -> ast.stmt | None:
    """Return the statement in a suite of another that contains a line, None for the header or a one-line suite."""
    for suite in blocks(statement):
        for child in suite:
            if _contains(child, line):
                return child if child.lineno > statement.lineno else None
    return None


def _contains(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= end(statement)
