"""What loaded values may be used for: a conservative account, for loads whose values mean nothing.

A load that finds memory without content, or that lies outside its array, is harmless if nothing depends on it. Unlike
`source_flow`, which follows values that surely arrive, this errs on the other side: where the source leaves it open,
a value counts as used.
"""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
from msgspec import Struct

from ..model.array_types import AnyInts, Ints, Mask
from ..model.syntax_tree import syntax_tree
from ..model.trace import Op, Trace
from .carried import Place
from .walk import ARITHMETIC, MODULES, called

LONGEST = 400_000  # letters of a source text, beyond which nothing is known of it
# Functions of Python and of `cuda` whose result says all of what becomes of their arguments.
PLAIN = {
    "min",
    "max",
    "len",
    "range",
    "selp",
    "fma",
    "grid",
    "gridsize",
    "popc",
    "clz",
    "ffs",
    "brev",
    "cbrt",
}
DECIDES = ("decides",)  # a branch, a loop, another thread, a text that is printed
_Node = tuple[object, ...]  # a load, a store, a variable, what a function returns, or DECIDES


class LoadUses(Struct, frozen=True):
    """What may become of the values of a load."""

    stores: frozenset[
        Place
    ]  # places that may store what depends on them: (line from 1, column in characters)
    decides: bool  # whether they may matter without being stored


def goes_nowhere(trace: Trace, site: AnyInts, block: AnyInts, thread: AnyInts, step: AnyInts) -> Mask:
    """Return which loads are of no consequence: each is given as its site, its thread, and its step.

    False where the source leaves it open, or not all accesses of the launch are kept.
    """
    nowhere = np.zeros(len(site), bool)
    if trace.is_part or not len(site):
        return nowhere
    for number in np.unique(site):
        uses = _uses_at(trace, int(number))
        if uses is not None and not uses.decides:
            mine = np.flatnonzero(site == number)
            last = _last_store(trace, uses.stores)
            nowhere[mine] = last[block[mine].astype(np.int64) * trace.threads + thread[mine]] < step[mine]
    return nowhere


def depends_on_outside(trace: Trace) -> bool:
    """Return whether anything that a launch stored may depend on a load outside its array, which gives poison."""
    outside = trace.outside
    loads = np.flatnonzero(outside.op != Op.STORE)
    given = (outside.site[loads], outside.block[loads], outside.thread[loads], outside.step[loads])
    return not goes_nowhere(trace, *given).all()


def _uses_at(trace: Trace, number: int) -> LoadUses | None:
    site, file = trace.sites[number], next(iter(trace.sources), "")
    if site.file != file:
        return None
    return (uses_of_loads(trace.sources[file], trace.kernel) or {}).get((site.line, site.column))


def _last_store(trace: Trace, places: frozenset[Place]) -> Ints:
    """Return for each thread of the launch the step of its last access at some places, -1 for none."""
    sites = [number for number, site in enumerate(trace.sites) if (site.line, site.column) in places]
    rows = np.flatnonzero(np.isin(trace.site, sites) & (trace.op != Op.LOAD))
    last = np.full(math.prod(trace.grid) * trace.threads, -1)
    np.maximum.at(last, trace.thread_in_grid(rows), trace.steps_of(rows))
    return last


@lru_cache(maxsize=16)
def uses_of_loads(source: str, kernel: str) -> Mapping[Place, LoadUses] | None:
    """Return what may become of each load of a file's functions, by its place; None where that is not known."""
    if len(source) > LONGEST:
        return None
    try:
        tree = syntax_tree(source)
        functions = _functions(tree, kernel)
        if functions is None:
            return None
        reader = _Reader(functions)
        for function in functions.values():
            reader.read(function)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines = source.splitlines()
    return {_in_characters(node[1], lines): _uses(node, reader.edges, lines) for node in reader.loads}


def _functions(tree: ast.Module, kernel: str) -> dict[str, ast.FunctionDef] | None:
    """Return a kernel and the functions that it calls, by name; None where a name means several, or one has others."""
    functions: dict[str, list[ast.FunctionDef]] = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            functions[node.name].append(node)
    found: dict[str, ast.FunctionDef] = {}
    waiting = [kernel]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        if len(functions[name]) != 1:
            return None
        found[name] = functions[name][0]
        for node in ast.walk(found[name]):
            if node is not found[name] and isinstance(node, ast.FunctionDef | ast.Lambda):
                return None  # which shares its variables
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and functions.get(node.func.id):
                waiting.append(node.func.id)
    return found


def _uses(load: _Node, edges: Mapping[_Node, set[_Node]], lines: list[str]) -> LoadUses:
    reached, waiting = {load}, [load]
    while waiting:
        for node in edges.get(waiting.pop(), ()):
            if node not in reached:
                reached.add(node)
                waiting.append(node)
    stores = (node[1] for node in reached if node[0] == "store")
    return LoadUses(frozenset(_in_characters(place, lines) for place in stores), DECIDES in reached)


def _in_characters(place: object, lines: list[str]) -> Place:
    assert isinstance(place, tuple)
    line, column = place
    text = lines[line - 1] if line <= len(lines) else ""
    return line, len(text.encode()[:column].decode(errors="ignore"))


class _Reader:
    """Collects which value may depend on which: `edges` leads from each node to those that depend on it."""

    def __init__(self, functions: Mapping[str, ast.FunctionDef]) -> None:
        self.edges: dict[_Node, set[_Node]] = defaultdict(set)
        self.loads: set[_Node] = set()
        self._functions = functions
        self._function = ""

    def read(self, function: ast.FunctionDef) -> None:
        """Read a function's statements."""
        self._function = function.name
        self._body(function.body)

    def _body(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign_value(target, node.value)
        elif isinstance(node, ast.AugAssign):
            self._assign(node.target, self._of(node.value) | self._of(node.target))
        elif isinstance(node, ast.AnnAssign):
            self._assign(node.target, self._of(node.value) if node.value else set())
        elif isinstance(node, ast.Return):
            self._lead(self._of(node.value) if node.value else set(), ("returned", self._function))
        elif isinstance(node, ast.Expr):
            self._of(node.value)
        elif isinstance(node, ast.If | ast.While):
            self._lead(self._of(node.test), DECIDES)
            self._body([*node.body, *node.orelse])
        elif isinstance(node, ast.For):
            values = self._of(node.iter)
            self._lead(values, DECIDES)
            self._assign(node.target, values | self._load(node.iter) | self._load(node))
            self._body([*node.body, *node.orelse])
        else:  # with, try, match, raise: what they do with values is not followed
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.stmt):
                    self._statement(part)
                elif isinstance(part, ast.expr):
                    self._lead(self._of(part), DECIDES)
                else:
                    self._lead(self._all(part), DECIDES)

    def _all(self, node: ast.AST) -> set[_Node]:
        """Return what is in a part that is no expression, whose statements are read too."""
        found: set[_Node] = set()
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.stmt):
                self._statement(part)
            else:
                found |= self._of(part) if isinstance(part, ast.expr) else self._all(part)
        return found

    def _lead(self, values: Iterable[_Node], to: _Node) -> None:
        for value in values:
            self.edges[value].add(to)

    def _load(self, node: ast.AST) -> set[_Node]:
        """Return the load that a node may be."""
        load = ("load", (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
        self.loads.add(load)
        return {load}

    def _assign_value(self, target: ast.expr, value: ast.expr) -> None:
        if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
            self._assign(target, self._of(value))
        elif len(target.elts) == len(value.elts):
            for one, other in zip(target.elts, value.elts, strict=True):
                self._assign_value(one, other)

    def _assign(self, target: ast.expr, values: set[_Node]) -> None:
        if isinstance(target, ast.Name):
            self._lead(values, ("variable", self._function, target.id))
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._assign(part, values)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, values)
        else:
            index = set[_Node]().union(*map(self._of, _indices(target)))
            self._lead(values | index, ("store", (target.lineno, target.col_offset)))

    def _of(self, node: ast.expr) -> set[_Node]:
        """Return what the value of an expression may depend on."""
        if isinstance(node, ast.Name):
            return {("variable", self._function, node.id)}
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.NamedExpr):
            values = self._of(node.value)
            self._assign(node.target, values)
            return values
        parts = (self._of(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
        found = set[_Node]().union(*parts)
        if isinstance(node, ast.Subscript | ast.Attribute):
            found |= self._load(node)
        elif isinstance(node, ast.IfExp | ast.BoolOp) and any(
            isinstance(n, ast.Call) for n in ast.walk(node)
        ):
            self._lead(found, DECIDES)  # whether something is called
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
            self._lead(self._all(node), DECIDES)
        return found

    def _call(self, node: ast.Call) -> set[_Node]:
        name, owner = called(node.func)
        arguments = [self._of(part) for part in (*node.args, *(keyword.value for keyword in node.keywords))]
        values = set[_Node]().union(*arguments)
        if owner == "atomic":
            self._lead(values, ("store", (node.lineno, node.col_offset)))
            return values | self._load(node)
        if not owner and name in self._functions:
            parameters = self._functions[name].args
            if len(node.args) == len(arguments) and not any(isinstance(a, ast.Starred) for a in node.args):
                names = [arg.arg for arg in (*parameters.posonlyargs, *parameters.args)]
                for parameter, given in zip(names, arguments, strict=False):
                    self._lead(given, ("variable", name, parameter))
            else:
                self._lead(values, DECIDES)
            return {("returned", name)}
        if not (name in PLAIN or owner in MODULES or ARITHMETIC.fullmatch(name)):
            values |= self._of(node.func)
            self._lead(values, DECIDES)
        return values


def _indices(node: ast.expr) -> Iterable[ast.expr]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        if isinstance(node, ast.Subscript):
            yield node.slice
        node = node.value
    yield node
