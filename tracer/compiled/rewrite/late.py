"""Numbers that compiled code is told as it begins: whether one of them would decide more than values as a constant.

Numba looks at constants before it knows types: it leaves branches out that are never taken, and what is assigned there
decides no type any more. Python computes what is made of constants alone, with as many digits as that has. Powers by a
constant are products. Where a number decides something of that kind, a program has to have it as a constant.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from .program import RecordingProgram
from .writer import TOLD

EXACT = 1 << 53  # whole numbers below it are the same in 64 bits and in double precision
_WHOLE = (
    ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor,
)  # fmt: skip
_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Assert)


def decides_more(program: RecordingProgram) -> bool:
    """Return whether a number that a program is told would decide more than values if it were a constant of it."""
    powers = {name for name, value in program.values.items() if "pow" in getattr(value, "__name__", "")}
    told = {f"{TOLD}{place}": number for place, number in enumerate(program.numbers)}
    functions = [list(ast.walk(function)) for function in program.functions]
    return any(_tells_apart(node, powers) for nodes in functions for node in nodes) or any(
        _Function(nodes, told).decides_more()
        for nodes in functions
        if not told.keys().isdisjoint(_used(nodes))
    )


def _tells_apart(node: ast.AST, powers: set[str]) -> bool:
    """Return whether constants may decide more in a node, also those of the function that calls this one.

    Such are powers, and what is compared with None.
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


class _Assigned(NamedTuple):
    """What a variable gets where it is assigned to."""

    value: ast.expr  # or what a loop goes over
    is_copy: bool = False  # whether it is just this
    is_whole: bool = True  # whether it is a whole number where this is one


class _Function:
    """What the names of a function may be."""

    def __init__(self, nodes: list[ast.AST], told: dict[str, int]) -> None:
        self._nodes, self._told = nodes, told
        self._arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
        self._assigned: dict[str, list[_Assigned]] = {}
        for name, assigned in (pair for node in nodes for pair in _assignments(node)):
            if name not in self._told:
                self._assigned.setdefault(name, []).append(assigned)
        tests = [node for node in nodes if isinstance(node, ast.If | ast.While | ast.IfExp)]
        self._in_tests = {id(part) for node in tests for part in _parts(node.test)}
        known = [node for node in tests if any(map(self._is_known, _parts(node.test)))]
        self._decided = {name for node in known for name in _stored(node)}  # if Numba knows where tests lead

    def decides_more(self) -> bool:
        """Return whether numbers that it is told decide more than values in it."""
        return any(map(self._decides, self._nodes[1:]))

    def _decides(self, node: ast.AST) -> bool:
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            return True  # Numba writes it out where it is called
        if isinstance(node, ast.Raise | ast.Assert):
            return self._follows(node)
        if isinstance(node, ast.BinOp):
            return self._is_folded(node) and self._is_rounded(node)
        if isinstance(node, ast.If | ast.While):
            return self._is_decided(node.test) and not self._is_neutral(node)
        if isinstance(node, ast.IfExp):
            return self._is_decided(node.test)
        if isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp):
            is_test = not isinstance(node, ast.UnaryOp) or isinstance(node.op, ast.Not)
            return is_test and id(node) not in self._in_tests and self._is_decided(node)
        return False

    def _is_decided(self, test: ast.expr) -> bool:
        """Return whether numbers that are told may decide a test, or a part of it, before types are known."""
        return any(self._is_known(part) and self._follows(part) for part in _parts(test))

    def _is_known(self, part: ast.expr) -> bool:
        """Return whether Numba may know how a part of a test comes out."""
        if not isinstance(part, ast.Compare):
            return self._is_constant(part)
        sides = [self._is_constant(side) for side in (part.left, *part.comparators)]
        return any(a and b for a, b in pairwise(sides))

    def _is_constant(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether Numba may know an expression that has what is told as constants."""
        if isinstance(node, ast.Name):
            if node.id in seen:
                return False
            given = [a.value for a in self._assigned.get(node.id, ()) if a.is_copy]
            is_global = node.id not in self._assigned.keys() | self._arguments
            return is_global or any(self._is_constant(value, seen | {node.id}) for value in given)
        if isinstance(node, ast.Attribute):
            return node.attr not in ("shape", "strides")
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id in ("len", "_ts_len", "bool")
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        if isinstance(node, ast.Tuple | ast.List | ast.IfExp):
            return any(self._is_constant(part, seen) for part in parts)
        folded = isinstance(node, ast.Constant | ast.BinOp | ast.UnaryOp)
        return folded and all(self._is_constant(part, seen) for part in parts)

    def _follows(self, node: ast.AST) -> bool:
        """Return whether a node may follow from what is told."""
        seen, nodes = set[str](), [node]
        while nodes:
            names = set(_used(ast.walk(nodes.pop()))) - seen
            if names & (self._told.keys() | self._decided):
                return True
            seen |= names
            nodes += [assigned.value for name in names for assigned in self._assigned.get(name, ())]
        return False

    def _is_folded(self, node: ast.expr) -> bool:
        """Return whether Python computes an expression if what is told is a constant."""
        if isinstance(node, ast.BinOp):
            return self._is_folded(node.left) and self._is_folded(node.right)
        if isinstance(node, ast.UnaryOp):
            return self._is_folded(node.operand)
        return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id in self._told)

    def _is_rounded(self, node: ast.BinOp) -> bool:
        """Return whether Python may compute something else than compiled code."""
        if not self._follows(node):
            return False
        if any(isinstance(part, ast.Pow) for part in ast.walk(node)):
            return True  # it may have more digits than there is memory
        try:
            value = eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}}, self._told)
        except (ArithmeticError, TypeError, ValueError):
            return True
        return not isinstance(value, int | float) or not abs(value) < EXACT

    def _is_neutral(self, statement: ast.If | ast.While) -> bool:
        """Return whether no type depends on whether Numba knows where a statement leads."""
        inside, everywhere = _used(ast.walk(statement)), _used(self._nodes)
        return not any(isinstance(node, _LEAVES) for node in ast.walk(statement)) and all(
            inside[name] == everywhere[name] or self._is_whole(ast.Name(name)) for name in _stored(statement)
        )

    def _is_whole(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether an expression is a whole number of 64 bits for certain."""
        if isinstance(node, ast.Name):
            given = self._assigned.get(node.id, ())
            known = node.id in self._told or bool(given and node.id not in self._arguments)
            more = seen | {node.id}
            return node.id in seen or (
                known and all(a.is_whole and self._is_whole(a.value, more) for a in given)
            )
        if isinstance(node, ast.BinOp):
            whole = isinstance(node.op, _WHOLE)
            return whole and self._is_whole(node.left, seen) and self._is_whole(node.right, seen)
        return isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < EXACT


def _assignments(node: ast.AST) -> Iterator[tuple[str, _Assigned]]:
    """Yield the variables to which a node assigns, and what."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _pairs(target, node.value)
    elif isinstance(node, ast.AugAssign):
        for name in _stored(node.target):
            yield name, _Assigned(node.value, is_whole=isinstance(node.op, _WHOLE))
    elif isinstance(node, ast.For):
        for name in _stored(node.target):
            yield name, _Assigned(node.iter, is_whole=False)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, _Assigned]]:
    """Yield the variables of a target, and what each gets of a value."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for inner, part in zip(target.elts, value.elts, strict=True):
            yield from _pairs(inner, part)
    else:
        for name in _stored(target):
            yield name, _Assigned(value, is_copy=True, is_whole=isinstance(target, ast.Name))


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    """Yield a test and the tests that it is made of."""
    yield test
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand)
    for part in test.values if isinstance(test, ast.BoolOp) else ():
        yield from _parts(part)


def _used(nodes: Iterable[ast.AST]) -> Counter[str]:
    """Return the names among nodes, and how often they are there."""
    return Counter(node.id for node in nodes if isinstance(node, ast.Name))


def _stored(node: ast.AST) -> set[str]:
    """Return the variables to which something in a node assigns."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
