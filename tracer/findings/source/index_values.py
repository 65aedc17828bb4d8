"""The value of an index, computed again from the source and from elements that the thread had loaded."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...analysis.kernel_structure import byte_column
from ...model.array_types import Ints
from ...model.launch import Scalar, decode
from ...model.syntax_tree import syntax_tree
from ...model.trace import Op, Site, Trace
from .index_expressions import assigned_values, index_at, last_name, parameters, short_function

Values = NDArray[Any]  # one per access
Compare = Callable[[Any, Any], Any]
DEEPEST, MOST = 20, 100  # nesting depth of the expressions that are followed, and their number
OPERATIONS: dict[type, Callable[[Values, Values], Values]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
# Each comparison, and the equivalent one with swapped sides.
COMPARISONS: dict[type, tuple[Compare, Compare]] = {
    ast.Eq: (operator.eq, operator.eq), ast.NotEq: (operator.ne, operator.ne),
    ast.Lt: (operator.lt, operator.gt), ast.Gt: (operator.gt, operator.lt),
    ast.LtE: (operator.le, operator.ge), ast.GtE: (operator.ge, operator.le),
}  # fmt: skip
ROUNDING = {"int": np.trunc, "floor": np.floor, "int32": np.trunc, "int64": np.trunc, "ceil": np.ceil}


class _Unknown(Exception):
    """Raised for an expression whose value does not follow from the trace."""


def index_values(trace: Trace, site: Site, rows: Ints) -> Values | None:
    """Compute the index of each given access of a site; None if it does not follow from the trace.

    rows: of the trace. The index must have one part, computed from numbers, arguments, and elements that the same
    thread loaded at that expression.
    """
    parts = index_at(trace, site)
    if len(parts) != 1 or trace.value is None:
        return None
    try:
        with np.errstate(all="ignore"):
            return _Accesses(trace, site, rows).value(parts[0], 0)
    except _Unknown:
        return None


def compared_with(trace: Trace, site: Site, rows: Ints) -> tuple[Compare, Values] | None:
    """Return the comparison of a site's loads and the other operand at each access; None if it does not follow.

    The comparison takes the loaded value first.
    """
    source = trace.sources.get(site.file, "")
    position = site.line, byte_column(source, site)
    for node in ast.walk(syntax_tree(source)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            compare, swapped = COMPARISONS[type(node.ops[0])]
            left, right = node.left, node.comparators[0]
            if not (_stands_at(left, position) or _stands_at(right, position)):
                continue
            other, ordered = (right, compare) if _stands_at(left, position) else (left, swapped)
            try:
                return ordered, _Accesses(trace, site, rows).value(other, 0)
            except _Unknown:
                return None
    return None


def _stands_at(node: ast.expr, position: tuple[int, int]) -> bool:
    return isinstance(node, ast.Subscript) and (node.lineno, node.col_offset) == position


class _Accesses:
    """Accesses of a site for which expressions are computed."""

    def __init__(self, trace: Trace, site: Site, rows: Ints) -> None:
        self._trace, self._site, self._rows = trace, site, rows
        self._bound: dict[str, Values] | None = None  # values of the parameters, in a function that is called
        self._budget = MOST
        self._source = trace.sources.get(site.file, "")
        self._names = assigned_values(self._source, site.line)

    def value(self, node: ast.expr, depth: int) -> Values:
        """Compute an expression at each access; raises _Unknown."""
        self._budget -= 1
        if depth > DEEPEST or self._budget < 0:
            raise _Unknown
        if isinstance(node, ast.Subscript):
            return self._last_loaded(node)
        if isinstance(node, ast.Name):
            return self._value_of_name(node.id, depth)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.value(node.operand, depth + 1)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
            operands = (self.value(side, depth + 1) for side in (node.left, node.right))
            return OPERATIONS[type(node.op)](*operands)
        if isinstance(node, ast.Call):
            return self._value_of_call(node, depth)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return self._broadcast(node.value)
        raise _Unknown

    def _value_of_call(self, node: ast.Call, depth: int) -> Values:
        """Compute a call that rounds, or a call of a function of the file whose body is one `return`."""
        name = last_name(node.func)
        arguments = [self.value(argument, depth + 1) for argument in node.args]
        if name in ROUNDING and len(arguments) == 1:
            return np.asarray(ROUNDING[name](arguments[0]))
        function = short_function(self._source, name)
        if function is None or len(function.parameters) != len(arguments):
            raise _Unknown
        outer, self._bound = self._bound, dict(zip(function.parameters, arguments, strict=True))
        result = self.value(function.result, depth + 1)
        self._bound = outer
        return result

    def _value_of_name(self, name: str, depth: int) -> Values:
        if self._bound is not None:
            if name not in self._bound:
                raise _Unknown
            return self._bound[name]
        values = self._names.get(name, ())
        if len(values) == 1:
            return self.value(values[0], depth + 1)
        number = None if values else self._constant_of(name)
        if number is None:
            raise _Unknown
        return self._broadcast(number)

    def _constant_of(self, name: str) -> float | None:
        """Look up the launch-wide number behind a name: a scalar argument or a global."""
        launch, names = decode(self._trace.launch), parameters(self._source, self._site.line)
        if name in names and self._site.function == self._trace.kernel:
            argument = launch.arguments[names.index(name)] if len(names) == len(launch.arguments) else None
            return float(argument.value) if isinstance(argument, Scalar) else None
        number = launch.constants.get(name)
        return None if isinstance(number, str) or number is None else float(number)

    def _broadcast(self, number: float) -> Values:
        return np.full(len(self._rows), float(number))

    def _last_loaded(self, node: ast.Subscript) -> Values:
        """Return the last value that the thread of each access had loaded at an expression."""
        trace = self._trace
        sites = [
            number for number, site in enumerate(trace.sites)
            if site.file == self._site.file
            and (site.line, byte_column(self._source, site)) == (node.lineno, node.col_offset)
        ]  # fmt: skip
        loads = np.flatnonzero(np.isin(trace.site, sites) & (trace.op == Op.LOAD))
        if not len(loads) or trace.value is None:
            raise _Unknown
        size = len(trace)
        key = trace.thread_of(loads) * size + loads
        order = np.argsort(key)
        before = np.searchsorted(key[order], trace.thread_of(self._rows) * size + self._rows) - 1
        last = loads[order[np.maximum(before, 0)]]
        if (before < 0).any() or (trace.thread_of(last) != trace.thread_of(self._rows)).any():
            raise _Unknown
        return np.asarray(trace.value[last].real, np.float64)
