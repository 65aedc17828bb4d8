"""The index expression of an access in the source: its parts and the expressions that it is computed from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeGuard

from ...analysis.kernel_structure import byte_column, kernel_file
from ...model.syntax_tree import syntax_tree
from ...model.trace import Site, Trace

INDEX_OF_ATOMIC = 1  # position of the index among the arguments of cuda.atomic's functions


@lru_cache(maxsize=16)
def _indices(source: str) -> dict[tuple[int, int], tuple[ast.expr, ...]]:
    """Map the position of each subscript or atomic in a source text to the parts of its index."""
    indices: dict[tuple[int, int], tuple[ast.expr, ...]] = {}
    for node in ast.walk(syntax_tree(source)):
        if isinstance(node, ast.Subscript):
            indices.setdefault((node.lineno, node.col_offset), _parts_of_subscript(node))
        elif _is_atomic(node):
            indices[node.lineno, node.col_offset] = _parts(node.args[INDEX_OF_ATOMIC])
    return indices


def _is_atomic(node: ast.AST) -> TypeGuard[ast.Call]:
    """Return True if a node is a call of cuda.atomic.add or a similar function."""
    return (
        isinstance(node, ast.Call)
        and len(node.args) > INDEX_OF_ATOMIC
        and isinstance(node.func, ast.Attribute)
        and last_name(node.func.value) == "atomic"
    )


def last_name(node: ast.expr) -> str:
    """Return the last part of a dotted name: grid of cuda.grid; "" of any other expression."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _parts_of_subscript(node: ast.Subscript) -> tuple[ast.expr, ...]:
    """Return the parts of an index, those of a[i][j] joined."""
    parts, value = _parts(node.slice), node.value
    while isinstance(value, ast.Subscript):
        parts, value = _parts(value.slice) + parts, value.value
    return parts


def _parts(index: ast.expr) -> tuple[ast.expr, ...]:
    return tuple(index.elts) if isinstance(index, ast.Tuple) else (index,)


def index_at(trace: Trace, site: Site) -> tuple[ast.expr, ...]:
    """Return the parts of the index that a site uses; none if the source does not show it."""
    source = trace.sources.get(site.file, "")
    return _indices(source).get((site.line, byte_column(source, site)), ())


def index_text(trace: Trace, site: Site) -> str:
    """Return the source text of the index that a site uses: row, k."""
    source = trace.sources.get(site.file, "")
    return ", ".join(ast.get_source_segment(source, part) or "" for part in index_at(trace, site))


@lru_cache(maxsize=16)
def _functions(source: str) -> tuple[ast.FunctionDef, ...]:
    return tuple(node for node in ast.walk(syntax_tree(source)) if isinstance(node, ast.FunctionDef))


def _function(source: str, line: int) -> ast.FunctionDef | None:
    """Find the innermost function around a line."""
    enclosing = [f for f in _functions(source) if f.lineno <= line <= (f.end_lineno or 0)]
    return max(enclosing, key=lambda function: function.lineno, default=None)


def assigned_values(source: str, line: int) -> dict[str, tuple[ast.expr, ...]]:
    """List the expressions assigned to each name in the innermost function around a line; of `a, b = f()` the call."""
    function = _function(source, line)
    return _assigned_in(function) if function else {}


@lru_cache(maxsize=64)
def _assigned_in(function: ast.FunctionDef) -> dict[str, tuple[ast.expr, ...]]:
    values: dict[str, tuple[ast.expr, ...]] = {}
    for name, value in _assignments(function):
        values[name] = (*values.get(name, ()), value)
    return values


def _assignments(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _pairs(target, node.value)
        elif isinstance(node, ast.AugAssign):
            yield from _pairs(node.target, ast.BinOp(node.target, node.op, node.value))
        elif isinstance(node, ast.For):
            yield from _pairs(node.target, node.iter)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else None
        for position, part in enumerate(target.elts):
            yield from _pairs(part, values[position] if values else value)


def comes_from_data(trace: Trace, site: Site) -> bool:
    """Return True if an index is computed from elements of arrays."""
    values = assigned_values(trace.sources.get(site.file, ""), site.line)
    pending, seen = list(index_at(trace, site)), set[str]()
    while pending:
        for node in ast.walk(pending.pop()):
            if isinstance(node, ast.Subscript) and not _is_of_shape(node):
                return True
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                pending.extend(values.get(node.id, ()))
    return False


def _is_of_shape(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Attribute) and node.value.attr in ("shape", "strides")


def parameters(source: str, line: int) -> tuple[str, ...]:
    """List the parameters of the innermost function around a line."""
    function = _function(source, line)
    return tuple(argument.arg for argument in function.args.args) if function else ()


def kernel_parameters(trace: Trace) -> tuple[str, ...]:
    """List the kernel's parameters; none if its source is not known."""
    functions = [f for f in _functions(trace.sources.get(kernel_file(trace), "")) if f.name == trace.kernel]
    return tuple(argument.arg for argument in functions[-1].args.args) if functions else ()


class ShortFunction(NamedTuple):
    """A function whose body is one `return`."""

    parameters: tuple[str, ...]
    result: ast.expr


def short_function(source: str, name: str) -> ShortFunction | None:
    """Find a function of a source text whose body, apart from a docstring, is one `return`; None for all others."""
    for node in _functions(source):
        if node.name == name:
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
                return ShortFunction(tuple(argument.arg for argument in node.args.args), body[0].value)
    return None
