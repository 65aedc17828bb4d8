"""Edits that keep the threads without an element away from an array: a test of the index, or a corrected one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..findings.source.index_expressions import (
    INDEX_OF_ATOMIC,
    assigned_values,
    comes_from_data,
    index_at,
    last_name,
)
from ..model.trace import Trace
from .kernel_statements import Fix, KernelText, blocks, end

OUTSIDE = re.compile(r"\[(-?\d+(?:, -?\d+)*)\]$")  # the index at the end of "tile[16, 3]"
THREAD = re.compile(r"\b(?:threadIdx|blockIdx|grid)\b")


class IndexTest(NamedTuple):
    """A test that an index lies within one axis of an array."""

    name: str  # the variable that the index is computed from
    written: str  # the text of the index
    array: str
    axis: int
    dimensions: int

    @property
    def extent(self) -> str:
        """The text of the array's length."""
        return f"{self.array}.size" if self.dimensions == 1 else f"{self.array}.shape[{self.axis}]"

    @property
    def text(self) -> str:
        """The test."""
        return f"{self.written} < {self.extent}"


def bounds_fixes(text: KernelText, trace: Trace, space: str) -> list[Fix]:
    """List edits that may mend the accesses outside arrays of a memory space, the smallest first.

    Only indices that follow from a thread's number are tested: of another index, a test would hide the fault.
    """
    outside = trace.outside
    tests: dict[IndexTest, None] = {}
    lines = set[int]()
    for site, buffer, element in zip(
        outside.site.tolist(), outside.buffer.tolist(), outside.text, strict=True
    ):
        if trace.buffers[buffer].space != space or comes_from_data(trace, trace.sites[site]):
            continue
        own = _tests_of(text, trace, site, trace.buffers[buffer].shape, element)
        if not own:
            return []
        tests |= dict.fromkeys(own)
        lines.add(trace.sites[site].line)
    # Arrays of one size need only one test.
    by_array = [
        [test for test in tests if test.array == array] for array in dict.fromkeys(t.array for t in tests)
    ]
    sets = by_array if len(by_array) < 2 else [*by_array, [*tests]]
    placed = [_placed(text, sorted(lines), chosen) for chosen in sets]
    return [fix for fixes in zip(*placed, strict=False) for fix in fixes]


def _tests_of(
    text: KernelText, trace: Trace, number: int, shape: tuple[int, ...], element: str
) -> list[IndexTest]:
    """List the tests that an access outside an array lacks; none if its index is no thread's coordinate."""
    site = trace.sites[number]
    match, parts = OUTSIDE.search(element), index_at(trace, site)
    array = next((name for part in parts for name in [_array_of(text, part)] if name), "")
    index = [int(word) for word in match[1].split(", ")] if match else []
    if not array or not len(index) == len(parts) == len(shape):
        return []
    values = assigned_values(text.source, site.line)
    tests = []
    for axis, (part, position, length) in enumerate(zip(parts, index, shape, strict=True)):
        if 0 <= position < length:
            continue
        name = _variable_of(part)
        is_thread = any(THREAD.search(ast.unparse(value)) for value in values.get(name, ()))
        if position < 0 or not is_thread:
            return []
        tests.append(IndexTest(name, text.segment(part), array, axis, len(shape)))
    return tests


def _array_of(text: KernelText, part: ast.expr) -> str:
    """Return the name of the array that is accessed with a part of an index, "" if it is no name."""
    for node in text.nodes(part.lineno):
        if isinstance(node, ast.Subscript):
            base, index = node.value, node.slice
        elif isinstance(node, ast.Call) and len(node.args) > INDEX_OF_ATOMIC:
            base, index = node.args[0], node.args[INDEX_OF_ATOMIC]
        else:
            continue
        if all(_position(inner) != _position(part) for inner in _parts(index)):
            continue
        while isinstance(base, ast.Subscript):
            base = base.value
        return base.id if isinstance(base, ast.Name) else ""
    return ""


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _parts(index: ast.expr) -> Sequence[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else (index,)


def _variable_of(index: ast.expr) -> str:
    """Return the variable of an index that is a variable, or one plus or minus a constant; else ""."""
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Add | ast.Sub):
        index = index.left if isinstance(index.right, ast.Constant) else ast.Constant(0)
    return index.id if isinstance(index, ast.Name) else ""


def _placed(text: KernelText, lines: list[int], tests: list[IndexTest]) -> list[Fix]:
    """Place tests: into the branch around the lines, into an early return, or around the lines."""
    paths = [text.path(line) for line in lines]
    if not paths or not all(paths):
        return []
    depth = 0
    while all(len(path) > depth + 1 for path in paths) and len({id(path[depth]) for path in paths}) == 1:
        depth += 1
    around, first, last = paths[0][:depth], paths[0][depth], paths[-1][depth]
    fixes: list[Fix] = []
    for branch in reversed(around):
        if isinstance(branch, ast.If) and first.lineno <= end(branch.body[-1]):
            new = _stricter(text, branch.test, tests)
            if new is None:
                return []
            if new[1] and branch.orelse:
                break
            if new[1]:
                return _with_condition(text, branch, new[0])
            if branch is around[-1] and not branch.orelse:
                fixes += _with_condition(text, branch, new[0])
    for branch in _early_returns(text, [*around, first]):
        new = _stricter(text, branch.test, tests, returns=True)
        if new is None:
            return []
        if new[1]:
            return _with_condition(text, branch, new[0])
    return [*fixes, *_wrapped(text, [*around, first], last, tests)]


def _with_condition(text: KernelText, branch: ast.If, condition: str) -> list[Fix]:
    header = text.header(branch)
    if header is None:
        return []
    line, test = branch.lineno, branch.test
    before, after = text.byte_parts(line, test.col_offset, test.end_col_offset or 0)
    return [
        Fix(
            f"write `if {condition}:` on line {line}",
            text.replace([(line, line + 1, [f"{before}{condition}{after}"])]),
        )
    ]


def _stricter(
    text: KernelText, condition: ast.expr, tests: list[IndexTest], *, returns: bool = False
) -> tuple[str, bool] | None:
    """Add tests to a condition; None if it tests one of the variables against another axis.

    returns: whether threads that pass the condition return. Returns the text, and whether the condition already tests
    one of the variables.
    """
    joiner = ast.Or if returns else ast.And
    is_joined = isinstance(condition, ast.BoolOp) and isinstance(condition.op, joiner)
    operands = condition.values if is_joined and isinstance(condition, ast.BoolOp) else [condition]
    words: list[str] = []
    missing, knows = list(tests), False
    for operand in operands:
        written = text.segment(operand)
        for test in tests:
            limit = _limit_of(operand, test.name, returns=returns)
            if limit is None:
                continue
            knows, axis = True, _axis_of(limit)
            if axis is None:  # a number: the test of the array comes in addition
                continue
            if axis != test.axis:
                return None
            if test in missing:
                sign = ">=" if returns else "<"
                exact = isinstance(limit, ast.Attribute | ast.Subscript)
                written = f"{test.written} {sign} {text.segment(limit) if exact else test.extent}"
                missing.remove(test)
        words.append(f"({written})" if isinstance(operand, ast.BoolOp) and not is_joined else written)
    words += [f"{test.written} >= {test.extent}" if returns else test.text for test in missing]
    return (" or " if returns else " and ").join(words), knows


def _limit_of(operand: ast.expr, name: str, *, returns: bool) -> ast.expr | None:
    """Find the limit with which a comparison keeps, or with `returns` turns away, a variable; None for no limit."""
    if not isinstance(operand, ast.Compare) or len(operand.ops) != 1:
        return None
    wanted = (ast.Gt, ast.GtE) if returns else (ast.Lt, ast.LtE)
    if isinstance(operand.ops[0], wanted) and _variable_of(operand.left) == name:
        return operand.comparators[0]
    return None


def _axis_of(limit: ast.expr) -> int | None:
    """Return the axis of an array whose length is a limit, None if it is no array's."""
    for node in ast.walk(limit):
        if isinstance(node, ast.Subscript) and last_name(node.value) == "shape":
            axis = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return axis if isinstance(axis, int) else None
        if (isinstance(node, ast.Attribute) and node.attr == "size") or (
            isinstance(node, ast.Call) and last_name(node.func) == "len"
        ):
            return 0
    return None


def _early_returns(text: KernelText, path: list[ast.stmt]) -> Iterator[ast.If]:
    """Yield the branches before a statement, in the suites around it, that only return."""
    suites = [text.suite_of(path[0]), *(suite for statement in path[:-1] for suite in blocks(statement))]
    for suite in suites:
        inside = [statement for statement in path if statement in suite]
        for statement in suite[: suite.index(inside[0])] if inside else []:
            is_return = isinstance(statement, ast.If) and not statement.orelse and len(statement.body) == 1
            if is_return and isinstance(statement, ast.If) and isinstance(statement.body[0], ast.Return):
                yield statement


def _wrapped(text: KernelText, path: list[ast.stmt], last: ast.stmt, tests: list[IndexTest]) -> list[Fix]:
    """Put statements under a test, with those after them that need a variable that they set."""
    first = path[-1]
    parent = path[-2] if len(path) > 1 else None
    suite = next((s for s in blocks(parent) if first in s), []) if parent else text.suite_of(first)
    low, high = suite.index(first), suite.index(last) if last in suite else -1
    if high < low:
        return []
    set_names = {name for statement in suite[low : high + 1] for name in _names(statement, ast.Store)}
    for number in range(len(suite) - 1, high, -1):
        if set_names & _names(suite[number], ast.Load):
            high = number
            break
    chosen = suite[low : high + 1]
    if any(_is_barrier_or_return(node) for statement in chosen for node in ast.walk(statement)):
        return []
    start, stop = first.lineno, end(chosen[-1])
    indent = text.indent(first)
    if indent.strip() or text.lines[start - 1][: first.col_offset].strip():
        return []
    header = f"if {' and '.join(test.text for test in tests)}:"
    inner = [f"    {line}" if line.strip() else line for line in text.lines[start - 1 : stop]]
    where = f"line {start}" if start == stop else f"lines {start} to {stop}"
    return [
        Fix(f"put {where} under `{header}`", text.replace([(start, stop + 1, [indent + header, *inner])]))
    ]


def _names(statement: ast.stmt, context: type[ast.expr_context]) -> set[str]:
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, context)
    }


def _is_barrier_or_return(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return "sync" in node.func.attr
    return isinstance(node, ast.Return | ast.Break | ast.Continue)
