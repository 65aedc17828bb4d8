"""The structure of a kernel's source: branches and loops around a line, calls, and lines where threads return."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from ..model.cpp_text import function_lines, holds_cpp, loop_lines, return_lines
from ..model.embedded_cpp import MARK
from ..model.launch import decode, is_cuda_cpp, is_cuda_cpp_launch
from ..model.syntax_tree import syntax_tree
from ..model.trace import Site, Trace

DEEPEST_CALL = 6  # functions on the way from a kernel to an access
SUITE_KINDS = {ast.If: "branch", ast.For: "loop", ast.While: "loop", ast.FunctionDef: "function"}


class Suite(Struct, frozen=True):
    """Consecutive statements under another statement."""

    kind: str  # of that statement: "branch", "loop", "function", or "" for others
    line: int  # of that statement, from 1
    number: int  # 0 for the body, 1 for `else`, 2 for `finally`
    first: int  # line of the first statement; of a loop's body, the line of the loop's head
    last: int  # line on which the last statement ends


@lru_cache(maxsize=16)
def _suites(source: str) -> tuple[Suite, ...]:
    return tuple(suite for node in ast.walk(syntax_tree(source)) for suite in _suites_of(node))


def _suites_of(node: ast.AST) -> Iterator[Suite]:
    """Yield the suites of a statement; a loop's body begins with its head, which runs in every round."""
    kind = SUITE_KINDS.get(type(node), "")
    for number, name in enumerate(("body", "orelse", "finalbody")):
        body = getattr(node, name, None)
        if isinstance(node, ast.stmt) and isinstance(body, list) and body:
            first = node.lineno if kind == "loop" and number == 0 else body[0].lineno
            last = body[-1].end_lineno or body[-1].lineno
            yield Suite(kind, node.lineno, number, first, last)


def suites_at(trace: Trace, site: Site) -> tuple[Suite, ...]:
    """List the suites that contain a site, the outermost first."""
    enclosing = [
        suite for suite in _suites(trace.sources.get(site.file, "")) if suite.first <= site.line <= suite.last
    ]
    return tuple(sorted(enclosing, key=lambda suite: (suite.first - suite.last, suite.line)))


def site_in_kernel(trace: Trace, site: Site) -> Site:
    """Find the call in the kernel that leads to a site in another function; the site itself if several do."""
    file, calling = kernel_file(trace), site
    for _ in range(DEEPEST_CALL):
        if (calling.file, calling.function) == (file, trace.kernel):
            return calling
        calls = _calls_by_function(trace.sources.get(file, "")).get(calling.function, ())
        if calling.file != file or len(calls) != 1:
            break
        calling = Site(calls[0][0], file, calls[0][1].lineno, calls[0][1].col_offset)
    return site


@lru_cache(maxsize=16)
def _calls_by_function(source: str) -> dict[str, list[tuple[str, ast.Call]]]:
    """List the calls of each function, by its name, with the name of the calling function."""
    calls: dict[str, list[tuple[str, ast.Call]]] = {}
    for function in _functions(source):
        for node in _own_nodes(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                calls.setdefault(node.func.id, []).append((function.name, node))
    return calls


def loops_around(trace: Trace, file: str, line: int) -> list[tuple[int, int]]:
    """List the first and last line of each loop around a line."""
    source = trace.sources.get(file, "")
    if holds_cpp(source):
        return [(first, last) for first, last in loop_lines(source) if first <= line <= last]
    suites = _suites(source)
    return [
        (suite.first, suite.last)
        for suite in suites
        if suite.kind == "loop" and not suite.number and suite.first <= line <= suite.last
    ]


@lru_cache(maxsize=16)
def _conditions(source: str) -> tuple[ast.If, ...]:
    return tuple(node for node in ast.walk(syntax_tree(source)) if isinstance(node, ast.If))


def decides_on(trace: Trace, condition: Site, dependent: Site) -> bool:
    """Check whether an access is in the condition of an `if`, and another access under it."""
    if condition.file != dependent.file:
        return False
    source = trace.sources.get(condition.file, "")
    test_position, body_position = ((site.line, byte_column(source, site)) for site in (condition, dependent))
    return any(
        _is_within(test_position, node.test, node.test)
        and _is_within(body_position, node.body[0], node.body[-1])
        for node in _conditions(source)
    )


def _is_within(position: tuple[int, int], first: ast.expr | ast.stmt, last: ast.expr | ast.stmt) -> bool:
    end = last.end_lineno or last.lineno, last.end_col_offset or last.col_offset
    return (first.lineno, first.col_offset) <= position < end


@lru_cache(maxsize=16)
def _calls(source: str) -> dict[tuple[int, int], str]:
    names = {}
    for node in ast.walk(syntax_tree(source)):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            names[node.lineno, node.col_offset] = name
    return names


def called_name(trace: Trace, site: Site) -> str:
    """Return the name called at a site, without the module: exch, shfl_down_sync; "" if nothing is called.

    A compiler of C++ gives a call the column of its name or of the bracket after it.
    """
    source = trace.sources.get(site.file, "")
    if name := _calls(source).get((site.line, byte_column(source, site)), ""):
        return name
    if not holds_cpp(source):
        return ""
    line = "".join(source.splitlines()[site.line - 1 : site.line])
    before, after = line[: site.column], line[site.column :]
    match = re.search(r"\w*$", before) if after.startswith("(") else re.match(r"\w*", after)
    return match[0] if match else ""


def is_statement(trace: Trace, site: Site) -> bool:
    """Check whether the call at a site is a statement, so that its result is unused."""
    source = trace.sources.get(site.file, "")
    return (site.line, byte_column(source, site)) in _statements(source)


@lru_cache(maxsize=16)
def _statements(source: str) -> frozenset[tuple[int, int]]:
    calls = (node for node in ast.walk(syntax_tree(source)) if isinstance(node, ast.Expr))
    return frozenset((node.lineno, node.col_offset) for node in calls if isinstance(node.value, ast.Call))


def library_function(trace: Trace, site: Site) -> str:
    """Name the library function that makes the loads and stores of a site; "" if the line itself does.

    The site of a library's access is the call that leads to it (see user_code), and an atomic is a call too.
    Builtins of Python (sum, enumerate) access an array for the line that calls them.
    """
    name = called_name(trace, site)
    return "" if hasattr(builtins, name) else name


def byte_column(source: str, site: Site) -> int:
    """Return the column of a site in bytes, as syntax trees count."""
    line = source.splitlines()[site.line - 1 : site.line]
    return len(line[0][: site.column].encode()) if line else site.column


def returns_before(trace: Trace, site: Site) -> tuple[int, ...] | None:
    """List the lines on which a thread may return before it reaches a site, or between two visits of it.

    These are the kernel's own `return`s. For a site in another function all of them count, since its calls are not
    traced back. None if the kernel's source is not known.
    """
    source = trace.sources.get(kernel_file(trace), "")
    if holds_cpp(source):
        return _cpp_returns_before(trace, site, source)
    functions = [function for function in _functions(source) if function.name == trace.kernel]
    loops = loops_around(trace, site.file, site.line)
    lines = set()
    for function in functions:
        is_own = _is_in_kernel(trace, site) and function.lineno <= site.line <= (function.end_lineno or 0)
        for node in filter(lambda node: isinstance(node, ast.Return), _own_nodes(function)):
            line = node.lineno  # type: ignore[attr-defined]  # a Return
            if not is_own or line < site.line or any(a <= line <= b for a, b in loops):
                lines.add(line)
    return tuple(sorted(lines)) if functions else None


def _cpp_returns_before(trace: Trace, site: Site, source: str) -> tuple[int, ...] | None:
    lines = return_lines(source, trace.kernel)
    first, last = function_lines(source, trace.kernel)
    if lines is None or not (site.file == kernel_file(trace) and first <= site.line <= last):
        return lines
    loops = loops_around(trace, site.file, site.line)
    return tuple(
        line for line in lines if line <= site.line or any(begin <= line <= end for begin, end in loops)
    )


def kernel_file(trace: Trace) -> str:
    """Return the file of the kernel, the first of the sources."""
    return next(iter(trace.sources), "")


def is_in_cuda_cpp(trace: Trace) -> bool:
    """Return True if the kernel of a trace is in CUDA C++."""
    return is_cuda_cpp(kernel_file(trace)) or _has_mark(trace.launch)


@lru_cache(maxsize=16)
def _has_mark(text: str) -> bool:
    return MARK in text and is_cuda_cpp_launch(decode(text))


def _is_in_kernel(trace: Trace, site: Site) -> bool:
    return (site.file, site.function) == (kernel_file(trace), trace.kernel)


def _functions(source: str) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(syntax_tree(source)) if isinstance(node, ast.FunctionDef)]


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of nested functions."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
