"""Runtime constants of a program: would one of them decide more than values if the code contained it?

Numba looks at constants before it infers types. It removes branches that are never taken, so assignments in them
decide no type. Python computes expressions of constants with unlimited digits. Powers with a constant exponent become
products. If a number decides something of that kind, the program must contain it as a constant.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from .program import RecordingProgram
from .writer import RUNTIME_PREFIX

EXACT = 1 << 53  # integers below it are the same in 64 bits and in double precision
_INTEGER_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor,
)  # fmt: skip
_EXITS = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Assert)


def needs_constants(program: RecordingProgram) -> bool:
    """Check if a runtime constant would decide more than values if the program contained it."""
    powers = {name for name, value in program.values.items() if "pow" in getattr(value, "__name__", "")}
    runtime_constants = {f"{RUNTIME_PREFIX}{index}": number for index, number in enumerate(program.numbers)}
    functions = [list(ast.walk(function)) for function in program.functions]
    return any(_depends_on_constants(node, powers) for nodes in functions for node in nodes) or any(
        _Function(nodes, runtime_constants).decides_more()
        for nodes in functions
        if not runtime_constants.keys().isdisjoint(_count_names(nodes))
    )


def _depends_on_constants(node: ast.AST, powers: set[str]) -> bool:
    """Check if constants may decide more in a node, also those of the calling function.

    Such nodes are powers, and comparisons with None.
    """
    if isinstance(node, ast.Compare):
        return any(
            isinstance(side, ast.Constant) and side.value is None for side in (node.left, *node.comparators)
        )
    if isinstance(node, ast.Name):
        return "pow" in node.id or node.id in powers
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Pow):
        return not isinstance(node.right if isinstance(node, ast.BinOp) else node.value, ast.Constant)
    return False


class _Assignment(NamedTuple):
    """A value that is assigned to a variable."""

    value: ast.expr  # or the iterable of a loop
    is_copy: bool = False  # whether the variable gets exactly this value
    is_integer: bool = True  # whether the variable is an integer if this value is one


class _Function:
    """The possible values of the names of a function."""

    def __init__(self, nodes: list[ast.AST], runtime_constants: dict[str, int]) -> None:
        self._nodes, self._runtime_constants = nodes, runtime_constants
        self._arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
        self._assigned: dict[str, list[_Assignment]] = {}
        for name, assignment in (pair for node in nodes for pair in _assignments(node)):
            if name not in self._runtime_constants:
                self._assigned.setdefault(name, []).append(assignment)
        tests = [node for node in nodes if isinstance(node, ast.If | ast.While | ast.IfExp)]
        self._test_part_ids = {id(part) for node in tests for part in _test_parts(node.test)}
        prunable = [node for node in tests if any(map(self._may_be_pruned, _test_parts(node.test)))]
        # Assigned in branches that Numba may prune.
        self._branch_dependent = {name for node in prunable for name in _assigned_names(node)}

    def decides_more(self) -> bool:
        """Check if runtime constants decide more than values in the function."""
        return any(map(self._node_needs_constants, self._nodes[1:]))

    def _node_needs_constants(self, node: ast.AST) -> bool:
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            return True  # Numba inlines it into its callers
        if isinstance(node, ast.Raise | ast.Assert):
            return self._may_depend_on_constants(node)
        if isinstance(node, ast.BinOp):
            return self._would_be_folded(node) and self._may_differ_if_folded(node)
        if isinstance(node, ast.If | ast.While):
            return self._may_be_decided(node.test) and not self._preserves_types(node)
        if isinstance(node, ast.IfExp):
            return self._may_be_decided(node.test)
        if isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp):
            is_test = not isinstance(node, ast.UnaryOp) or isinstance(node.op, ast.Not)
            return is_test and id(node) not in self._test_part_ids and self._may_be_decided(node)
        return False

    def _may_be_decided(self, test: ast.expr) -> bool:
        """Check if runtime constants may decide a test, or a part of it, before Numba infers types."""
        return any(
            self._may_be_pruned(part) and self._may_depend_on_constants(part) for part in _test_parts(test)
        )

    def _may_be_pruned(self, part: ast.expr) -> bool:
        """Check if Numba may know the result of a part of a test."""
        if not isinstance(part, ast.Compare):
            return self._is_constant(part)
        sides = [self._is_constant(side) for side in (part.left, *part.comparators)]
        return any(a and b for a, b in pairwise(sides))

    def _is_constant(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """Check if Numba may know an expression whose runtime constants were true constants."""
        if isinstance(node, ast.Name):
            if node.id in seen:
                return False
            values = [a.value for a in self._assigned.get(node.id, ()) if a.is_copy]
            is_global = node.id not in self._assigned.keys() | self._arguments
            return is_global or any(self._is_constant(value, seen | {node.id}) for value in values)
        if isinstance(node, ast.Attribute):
            return node.attr not in ("shape", "strides")
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id in ("len", "_ts_len", "bool")
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        if isinstance(node, ast.Tuple | ast.List | ast.IfExp):
            return any(self._is_constant(part, seen) for part in parts)
        may_be_folded = isinstance(node, ast.Constant | ast.BinOp | ast.UnaryOp)
        return may_be_folded and all(self._is_constant(part, seen) for part in parts)

    def _may_depend_on_constants(self, node: ast.AST) -> bool:
        """Check if a node may depend on runtime constants."""
        seen, nodes = set[str](), [node]
        while nodes:
            names = set(_count_names(ast.walk(nodes.pop()))) - seen
            if names & (self._runtime_constants.keys() | self._branch_dependent):
                return True
            seen |= names
            nodes += [assignment.value for name in names for assignment in self._assigned.get(name, ())]
        return False

    def _would_be_folded(self, node: ast.expr) -> bool:
        """Check if Python would compute an expression whose runtime constants were true constants."""
        if isinstance(node, ast.BinOp):
            return self._would_be_folded(node.left) and self._would_be_folded(node.right)
        if isinstance(node, ast.UnaryOp):
            return self._would_be_folded(node.operand)
        return isinstance(node, ast.Constant) or (
            isinstance(node, ast.Name) and node.id in self._runtime_constants
        )

    def _may_differ_if_folded(self, node: ast.BinOp) -> bool:
        """Check if Python may compute another result than compiled code."""
        if not self._may_depend_on_constants(node):
            return False
        if any(isinstance(part, ast.Pow) for part in ast.walk(node)):
            return True  # the result may have more digits than fit in memory
        try:
            value = eval(
                compile(ast.Expression(node), "", "eval"), {"__builtins__": {}}, self._runtime_constants
            )
        except (ArithmeticError, TypeError, ValueError):
            return True
        return not isinstance(value, int | float) or not abs(value) < EXACT

    def _preserves_types(self, statement: ast.If | ast.While) -> bool:
        """Check if no type depends on the branch that a statement takes."""
        inside, in_function = _count_names(ast.walk(statement)), _count_names(self._nodes)
        return not any(isinstance(node, _EXITS) for node in ast.walk(statement)) and all(
            inside[name] == in_function[name] or self._is_int64(ast.Name(name))
            for name in _assigned_names(statement)
        )

    def _is_int64(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """Check if an expression is certainly a 64-bit integer."""
        if isinstance(node, ast.Name):
            assignments = self._assigned.get(node.id, ())
            is_candidate = node.id in self._runtime_constants or bool(
                assignments and node.id not in self._arguments
            )
            visited = seen | {node.id}
            return node.id in seen or (
                is_candidate and all(a.is_integer and self._is_int64(a.value, visited) for a in assignments)
            )
        if isinstance(node, ast.BinOp):
            is_integer_operator = isinstance(node.op, _INTEGER_OPERATORS)
            return (
                is_integer_operator and self._is_int64(node.left, seen) and self._is_int64(node.right, seen)
            )
        return isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < EXACT


def _assignments(node: ast.AST) -> Iterator[tuple[str, _Assignment]]:
    """Yield the variables to which a node assigns, with their values."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _target_assignments(target, node.value)
    elif isinstance(node, ast.AugAssign):
        for name in _assigned_names(node.target):
            yield name, _Assignment(node.value, is_integer=isinstance(node.op, _INTEGER_OPERATORS))
    elif isinstance(node, ast.For):
        for name in _assigned_names(node.target):
            yield name, _Assignment(node.iter, is_integer=False)


def _target_assignments(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, _Assignment]]:
    """Yield the variables of a target, with the part of the value that each gets."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for inner, part in zip(target.elts, value.elts, strict=True):
            yield from _target_assignments(inner, part)
    else:
        for name in _assigned_names(target):
            yield name, _Assignment(value, is_copy=True, is_integer=isinstance(target, ast.Name))


def _test_parts(test: ast.expr) -> Iterator[ast.expr]:
    """Yield a test and the tests that it is composed of."""
    yield test
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _test_parts(test.operand)
    for part in test.values if isinstance(test, ast.BoolOp) else ():
        yield from _test_parts(part)


def _count_names(nodes: Iterable[ast.AST]) -> Counter[str]:
    """Count the occurrences of names among nodes."""
    return Counter(node.id for node in nodes if isinstance(node, ast.Name))


def _assigned_names(node: ast.AST) -> set[str]:
    """List the variables to which a node assigns, at any depth."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
