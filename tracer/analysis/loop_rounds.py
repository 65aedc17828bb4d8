"""Find kernels in which the number of an access at its line is not that of the round that makes it.

In `for j in range(5): if (j + t) % 2 == 0: s += a[j, t]` the first load of lane 0 is in round 0 and that of lane 1 in
round 1: two requests. A loop whose every round makes the access, or none does, needs no such care.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from types import UnionType
from typing import NamedTuple

from ..model.cpp_text import holds_cpp
from ..model.syntax_tree import syntax_tree
from ..model.trace import Trace
from .cpp_statements import functions_of

# Calls whose result is the same in all lanes of a warp if their arguments are.
UNIFORM_CALLS = frozenset(
    (
        "range", "len", "min", "max", "abs", "int", "float", "bool", "round", "pow", "divmod", "gridsize", "zip",
        "enumerate", "reversed", "complex",
    )
)  # fmt: skip
UNIFORM_MODULES = frozenset(("math", "np", "numpy", "libdevice"))
LANE_NAMES = frozenset(("threadIdx", "laneid"))  # of `cuda`: they differ between the lanes of a warp
BARRIER = "syncthreads"
METADATA = ("shape", "strides")
DEEPEST = 8  # calls of device functions within each other that are followed


class Callee(NamedTuple):
    """A device function, and what the names of its calls mean."""

    tree: ast.FunctionDef
    resolve: Resolve


Resolve = Callable[[ast.expr], Callee | None]  # finds the device function that a call names, if it names one


class Nesting(NamedTuple):
    """How deep loops and calls lie in each other, and the most statements with one of them, or calls, in a row.

    Those in a row are all in the body of one loop, or of a function, and not in a loop within.
    """

    loops: int
    calls: int
    in_row: int


def has_unknown_rounds(kernel: Callee) -> bool:
    """Return True if a round of a loop may make an access that another round of the same thread does not make."""
    lanes = _Lanes(kernel.tree, frozenset())
    return _Walk(kernel, lanes, (), 0).block(kernel.tree.body, False)


def are_rounds_unknown(trace: Trace) -> bool:
    """Return True if a trace does not record which of its accesses are made in the same round of a loop.

    Then its requests are an estimate: the n-th access of each lane at a site counts as one request.
    """
    if trace.round is not None or trace.schedule == "order" or trace.threads == 1:
        return False
    kernel = re.split(r"[<(]", trace.kernel)[0]  # without template arguments
    return any(_has_unknown_rounds(source, kernel) for source in trace.sources.values())


@lru_cache(maxsize=64)
def _has_unknown_rounds(source: str, kernel: str) -> bool:
    python = (node for node in ast.walk(syntax_tree(source)) if isinstance(node, ast.FunctionDef))
    trees = functions_of(source) if holds_cpp(source) else {node.name: node for node in python}

    def resolve(called: ast.expr) -> Callee | None:
        tree = trees.get(_name(called))
        return Callee(tree, resolve) if tree is not None else None

    return kernel in trees and has_unknown_rounds(Callee(trees[kernel], resolve))


def nesting_of(function: Callee, depth: int = 0) -> Nesting:
    """Measure the loops and calls of a kernel and of the device functions that it calls."""
    return _nesting(function, function.tree.body, depth)


def _nesting(function: Callee, statements: Sequence[ast.stmt], depth: int) -> Nesting:
    """Measure the body of a function or of a loop."""
    loops = calls = in_row = own_calls = 0
    for statement in statements:
        in_row += _count_marked(function, statement)
    for node in _in_row(statements):
        inner = Nesting(0, 0, 0)
        if isinstance(node, ast.For | ast.While):
            inner = _nesting(function, node.body, depth)
            inner = inner._replace(loops=inner.loops + 1)
        elif isinstance(node, ast.Call) and (callee := function.resolve(node.func)):
            own_calls += 1
            inner = nesting_of(callee, depth + 1) if depth < DEEPEST else inner
            inner = inner._replace(calls=inner.calls + 1)
        loops, calls = max(loops, inner.loops), max(calls, inner.calls)
        in_row = max(in_row, inner.in_row)
    return Nesting(loops, calls, max(in_row, own_calls))


def _count_marked(function: Callee, statement: ast.stmt) -> int:
    """Count a statement and those within it, but not in a loop, that contain loops or calls of device functions."""
    if not any(
        isinstance(node, ast.For | ast.While)
        or (isinstance(node, ast.Call) and function.resolve(node.func) is not None)
        for node in ast.walk(statement)
    ):
        return 0
    inner = [*statement.body, *statement.orelse] if isinstance(statement, ast.If) else []
    return 1 + sum(_count_marked(function, each) for each in inner)


def _in_row(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield nodes and those within them, but not those in the bodies of loops."""
    for node in nodes:
        yield node
        if isinstance(node, ast.For | ast.While):
            yield from _in_row([node.iter if isinstance(node, ast.For) else node.test, *node.orelse])
        else:
            yield from _in_row(ast.iter_child_nodes(node))


class _Lanes:
    """The variables of a function that may differ between the lanes of a warp."""

    def __init__(self, tree: ast.FunctionDef, varying: frozenset[str]) -> None:
        self.varying = set(varying)
        before = -1
        while len(self.varying) > before:  # a variable may get its value from one that is found later
            before = len(self.varying)
            self._follow(tree.body, False)

    def differ(self, value: ast.AST) -> bool:
        """Return True if an expression may have several values in a warp."""
        return any(self._differs(node) for node in ast.walk(value))

    def _differs(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.varying or node.id in LANE_NAMES
        if isinstance(node, ast.Attribute):
            return node.attr in LANE_NAMES
        if isinstance(node, ast.Subscript):
            return not _is_metadata(node)
        return isinstance(node, ast.Call) and not _is_uniform_call(node.func)

    def _follow(self, statements: Sequence[ast.stmt], differs: bool) -> None:
        """Add the variables that statements assign; `differs`: whether only some lanes may run them."""
        for statement in statements:
            if isinstance(statement, ast.For | ast.While):
                head = statement.iter if isinstance(statement, ast.For) else statement.test
                if isinstance(statement, ast.For) and (differs or self.differ(head)):
                    self.varying |= _stored(statement.target)
                some = differs or self.differ(head) or self.leaves(statement.body, ast.Break | ast.Continue)
                self._follow(statement.body, some)
                self._follow(statement.orelse, some)
            elif isinstance(statement, ast.If):
                some = differs or self.differ(statement.test)
                self._follow(statement.body, some)
                self._follow(statement.orelse, some)
            elif differs or self.differ(statement):
                self.varying |= _stored(statement)

    def leaves(self, statements: Sequence[ast.stmt], kinds: type | UnionType, differs: bool = False) -> bool:
        """Return True if only some lanes may come to a `break` or `continue` of the loop with these statements."""
        for statement in statements:
            if isinstance(statement, kinds):
                if differs:
                    return True
            elif isinstance(statement, ast.If):
                inner = differs or self.differ(statement.test)
                if self.leaves([*statement.body, *statement.orelse], kinds, inner):
                    return True
        return False


class _Walk:
    """Looks for an access that some rounds of a thread make, and others do not.

    around: of each loop since the last barrier, outermost first, the variables that it assigns. calls: those that lead
    to this function.
    """

    def __init__(
        self, function: Callee, lanes: _Lanes, around: tuple[frozenset[str], ...], calls: int
    ) -> None:
        self._function, self._lanes, self._around, self._calls = function, lanes, around, calls
        self._in_caller = len(around)  # loops that are around the function's calls

    def block(self, statements: Sequence[ast.stmt], unsure: bool) -> bool:
        """Check statements in order; unsure: whether only some rounds run them."""
        for statement in statements:
            if self._statement(statement, unsure):
                return True
            unsure |= self._skips_rest(statement)
        return False

    def _skips_rest(self, statement: ast.stmt) -> bool:
        """Return True if some rounds end within a statement, so that only others run the next ones."""
        if not self._around or not isinstance(statement, ast.If):
            return False
        kinds = ast.Continue | ast.Return if self._calls else ast.Continue
        if self._is_steady(statement.test):
            return any(self._skips_rest(inner) for inner in (*statement.body, *statement.orelse))
        return any(isinstance(node, kinds) for node in _without_loops([*statement.body, *statement.orelse]))

    def _statement(self, statement: ast.stmt, unsure: bool) -> bool:
        if isinstance(statement, ast.For | ast.While):
            return self._loop(statement, unsure)
        if isinstance(statement, ast.If):
            inner = unsure or not self._is_steady(statement.test)
            blocks = statement.body, statement.orelse
            return self._expression(statement.test, unsure) or any(self.block(b, inner) for b in blocks)
        if isinstance(statement, ast.FunctionDef):
            return False
        return self._expression(statement, unsure)

    def _loop(self, loop: ast.For | ast.While, unsure: bool) -> bool:
        head, outer = loop.iter if isinstance(loop, ast.For) else loop.test, self._around
        if isinstance(loop, ast.For) and self._expression(head, unsure):
            return True
        if any(_is_barrier(statement) for statement in loop.body):
            self._around, inner = (), False
        else:
            # In a loop within another one, lanes that make different numbers of rounds get out of step.
            varies = self._lanes.differ(head) or self._lanes.leaves(loop.body, ast.Break | ast.Return)
            inner = unsure or (bool(outer) and varies)
            assigned = frozenset().union(*map(_stored, (loop, *loop.body)))
            self._around = (*outer, assigned)
        faulty = isinstance(loop, ast.While) and self._expression(head, inner)
        faulty = faulty or self.block(loop.body, inner)
        self._around = outer
        return faulty or self.block(loop.orelse, unsure or bool(outer))

    def _is_steady(self, test: ast.expr) -> bool:
        """Return True if a condition is the same in all lanes, or for each lane in all rounds."""
        if not self._around or not self._lanes.differ(test):
            return True
        names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
        reads = any(isinstance(node, ast.Subscript) and not _is_metadata(node) for node in ast.walk(test))
        return not reads and not self._in_caller and names.isdisjoint(frozenset().union(*self._around))

    def _expression(self, node: ast.AST, unsure: bool) -> bool:
        """Check an expression, or the expressions of a simple statement."""
        if isinstance(node, ast.IfExp):
            inner = unsure or not self._is_steady(node.test)
            return self._expression(node.test, unsure) or any(
                self._expression(part, inner) for part in (node.body, node.orelse)
            )
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                if self._expression(value, unsure):
                    return True
                unsure = unsure or not self._is_steady(value)
            return False
        if unsure and self._around and (_is_access(node) or _is_atomic(node)):
            return True
        if isinstance(node, ast.Call) and self._call(node, unsure):
            return True
        return any(self._expression(child, unsure) for child in ast.iter_child_nodes(node))

    def _call(self, node: ast.Call, unsure: bool) -> bool:
        callee = self._function.resolve(node.func) if self._calls < DEEPEST else None
        if callee is None:
            return False
        names = [argument.arg for argument in callee.tree.args.args]
        given = dict(zip(names, node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg}
        same = {name for name, value in given.items() if not self._lanes.differ(value)}
        defaults = names[len(names) - len(callee.tree.args.defaults) :]
        same |= set(defaults) - set(given)
        lanes = _Lanes(callee.tree, frozenset(names) - same)
        return _Walk(callee, lanes, self._around, self._calls + 1).block(callee.tree.body, unsure)


def _stored(node: ast.AST) -> frozenset[str]:
    """Return the names that a node assigns."""
    nodes = ast.walk(node)
    return frozenset(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _without_loops(statements: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """Yield statements and those within them, without the insides of loops."""
    for statement in statements:
        yield statement
        if isinstance(statement, ast.If):
            yield from _without_loops([*statement.body, *statement.orelse])


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_barrier(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and _name(call.func) == BARRIER


def _is_metadata(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Attribute) and node.value.attr in METADATA


def _is_access(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and not _is_metadata(node)


def _is_atomic(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and "atomic" in ast.unparse(function.value).split(".")


def _is_uniform_call(function: ast.expr) -> bool:
    module = function.value if isinstance(function, ast.Attribute) else None
    return _name(function) in UNIFORM_CALLS or (isinstance(module, ast.Name) and module.id in UNIFORM_MODULES)
