"""Line coverage of kernels for coverage.py: their lines run as other code than the program's."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Collection, Iterator

import numpy as np

from ..model.notebook_cells import cell_of
from ..model.syntax_tree import syntax_tree
from ..model.trace import Trace

JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Raise)


def note_lines(trace: Trace) -> None:
    """Let coverage.py count the lines that a launch ran, if it measures this process.

    An access shows that its line ran, and the statements before and after it in the same branches. A branch without an
    access counts only in the simulator, which runs it as Python with the program's lines.
    """
    coverage = sys.modules.get("coverage")
    if coverage is None or coverage.Coverage.current() is None:
        return
    lines: dict[str, set[int]] = {}
    for number in np.unique(trace.site).tolist():
        site = trace.sites[number]
        lines.setdefault(site.file, set()).add(site.line)
    for file, accessed in lines.items():
        if not cell_of(file) and (text := "".join(linecache.getlines(file))):
            _touch(file, sorted(lines_around(syntax_tree(text), accessed)))


def lines_around(tree: ast.Module, accessed: Collection[int]) -> set[int]:
    """Return the lines of the statements that ran, from lines with accesses."""
    lines: set[int] = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            lines |= _ran(function.body, accessed)
    return lines


def _ran(body: list[ast.stmt], accessed: Collection[int]) -> set[int]:
    """Return the lines of a body that ran; none if no statement in it has an access."""
    inner = [_ran_in(statement, accessed) for statement in body]
    numbers = [number for number, lines in enumerate(inner) if lines]
    if not numbers:
        return set()
    last = numbers[-1]
    while last < len(body) - 1 and not any(isinstance(node, JUMPS) for node in ast.walk(body[last])):
        last += 1
    return set().union(*inner) | {statement.lineno for statement in body[: last + 1]}


def _ran_in(statement: ast.stmt, accessed: Collection[int]) -> set[int]:
    """Return the lines of a statement that ran, of which its bodies may be a part."""
    bodies = [*_bodies(statement)]
    lines = set[int]().union(*(_ran(body, accessed) for body in bodies))
    inside = {
        line for body in bodies for node in body for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    own = {*range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)} - inside
    return lines | {statement.lineno} if lines or not own.isdisjoint(accessed) else set()


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        if body := getattr(statement, name, None):
            yield body


def _touch(file: str, lines: list[int]) -> None:
    """Run code that has no effect on these lines of a file: coverage.py sees it as it sees the file's own."""
    names = [
        ast.Name("_", ast.Load(), lineno=line, end_lineno=line, col_offset=0, end_col_offset=1)
        for line in lines
    ]
    module = ast.Module([ast.copy_location(ast.Expr(name), name) for name in names], [])
    exec(compile(module, file, "exec"), {"_": None})
