"""Possible uses of loaded values: a conservative analysis, for loads whose values have no meaning.

A load of memory without content, or outside its array, is harmless if nothing depends on it. `source_flow` follows
values that certainly arrive; this module errs on the other side: if the source leaves it open, a value is used.
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
from .carried import AccessPosition
from .walk import ARITHMETIC, MODULES, called

LONGEST = 400_000  # characters of the longest source text that is analysed
# Functions of Python and of `cuda` that use their arguments only for their result.
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
DECIDES = ("decides",)  # a branch, a loop, another thread, a printed text
_Node = tuple[object, ...]  # a load, a store, a variable, a function's result, or DECIDES


class LoadUses(Struct, frozen=True):
    """The possible uses of a load's values."""

    stores: frozenset[
        AccessPosition
    ]  # places that may store a dependent value: (line from 1, column in characters)
    decides: bool  # whether the values may matter without being stored


def find_unused_loads(trace: Trace, site: AnyInts, block: AnyInts, thread: AnyInts, step: AnyInts) -> Mask:
    """Find the loads whose value nothing depends on; each is given as its site, thread and step.

    False if the source leaves it open, or not all accesses of the launch are kept.
    """
    unused = np.zeros(len(site), bool)
    if trace.is_part or not len(site):
        return unused
    for number in np.unique(site):
        uses = _uses_at(trace, int(number))
        if uses is not None and not uses.decides:
            chosen = np.flatnonzero(site == number)
            last = _last_store(trace, uses.stores)
            unused[chosen] = (
                last[block[chosen].astype(np.int64) * trace.threads + thread[chosen]] < step[chosen]
            )
    return unused


def depends_on_outside(trace: Trace) -> bool:
    """Return True if a stored value may depend on a load outside its array, which gives poison."""
    outside = trace.outside
    loads = np.flatnonzero(outside.op != Op.STORE)
    columns = (outside.site[loads], outside.block[loads], outside.thread[loads], outside.step[loads])
    return not find_unused_loads(trace, *columns).all()


def _uses_at(trace: Trace, number: int) -> LoadUses | None:
    site, file = trace.sites[number], next(iter(trace.sources), "")
    if site.file != file:
        return None
    return (uses_of_loads(trace.sources[file], trace.kernel) or {}).get((site.line, site.column))


def _last_store(trace: Trace, places: frozenset[AccessPosition]) -> Ints:
    """Return for each thread of the launch the step of its last access at the given places, -1 for none."""
    sites = [number for number, site in enumerate(trace.sites) if (site.line, site.column) in places]
    rows = np.flatnonzero(np.isin(trace.site, sites) & (trace.op != Op.LOAD))
    last = np.full(math.prod(trace.grid) * trace.threads, -1)
    np.maximum.at(last, trace.thread_in_grid(rows), trace.steps_of(rows))
    return last


@lru_cache(maxsize=16)
def uses_of_loads(source: str, kernel: str) -> Mapping[AccessPosition, LoadUses] | None:
    """List the possible uses of each load of a file's functions, by its place; None if they are not known."""
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
    """Find a kernel and the functions that it calls, by name.

    None if a name has several definitions, or a function contains others.
    """
    functions: dict[str, list[ast.FunctionDef]] = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            functions[node.name].append(node)
    result: dict[str, ast.FunctionDef] = {}
    pending = [kernel]
    while pending:
        name = pending.pop()
        if name in result:
            continue
        if len(functions[name]) != 1:
            return None
        result[name] = functions[name][0]
        for node in ast.walk(result[name]):
            if node is not result[name] and isinstance(node, ast.FunctionDef | ast.Lambda):
                return None  # a nested function shares its variables
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and functions.get(node.func.id):
                pending.append(node.func.id)
    return result


def _uses(load: _Node, edges: Mapping[_Node, set[_Node]], lines: list[str]) -> LoadUses:
    reached, pending = {load}, [load]
    while pending:
        for node in edges.get(pending.pop(), ()):
            if node not in reached:
                reached.add(node)
                pending.append(node)
    stores = (node[1] for node in reached if node[0] == "store")
    return LoadUses(frozenset(_in_characters(place, lines) for place in stores), DECIDES in reached)


def _in_characters(place: object, lines: list[str]) -> AccessPosition:
    assert isinstance(place, tuple)
    line, column = place
    text = lines[line - 1] if line <= len(lines) else ""
    return line, len(text.encode()[:column].decode(errors="ignore"))


class _Reader:
    """Collects dependencies between values: `edges` leads from each node to its dependents."""

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
            self._assign(node.target, self._value(node.value) | self._value(node.target))
        elif isinstance(node, ast.AnnAssign):
            self._assign(node.target, self._value(node.value) if node.value else set())
        elif isinstance(node, ast.Return):
            self._lead(self._value(node.value) if node.value else set(), ("returned", self._function))
        elif isinstance(node, ast.Expr):
            self._value(node.value)
        elif isinstance(node, ast.If | ast.While):
            self._lead(self._value(node.test), DECIDES)
            self._body([*node.body, *node.orelse])
        elif isinstance(node, ast.For):
            values = self._value(node.iter)
            self._lead(values, DECIDES)
            self._assign(node.target, values | self._load(node.iter) | self._load(node))
            self._body([*node.body, *node.orelse])
        else:  # with, try, match, raise: values in them count as used
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.stmt):
                    self._statement(part)
                elif isinstance(part, ast.expr):
                    self._lead(self._value(part), DECIDES)
                else:
                    self._lead(self._all(part), DECIDES)

    def _all(self, node: ast.AST) -> set[_Node]:
        """Return the values in a part that is no expression; its statements are read too."""
        values: set[_Node] = set()
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.stmt):
                self._statement(part)
            else:
                values |= self._value(part) if isinstance(part, ast.expr) else self._all(part)
        return values

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
            self._assign(target, self._value(value))
        elif len(target.elts) == len(value.elts):
            for part, part_value in zip(target.elts, value.elts, strict=True):
                self._assign_value(part, part_value)

    def _assign(self, target: ast.expr, values: set[_Node]) -> None:
        if isinstance(target, ast.Name):
            self._lead(values, ("variable", self._function, target.id))
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._assign(part, values)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, values)
        else:
            index = set[_Node]().union(*map(self._value, _indices(target)))
            self._lead(values | index, ("store", (target.lineno, target.col_offset)))

    def _value(self, node: ast.expr) -> set[_Node]:
        """Return the values that an expression may depend on."""
        if isinstance(node, ast.Name):
            return {("variable", self._function, node.id)}
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.NamedExpr):
            values = self._value(node.value)
            self._assign(node.target, values)
            return values
        parts = (self._value(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
        dependencies = set[_Node]().union(*parts)
        if isinstance(node, ast.Subscript | ast.Attribute):
            dependencies |= self._load(node)
        elif isinstance(node, ast.IfExp | ast.BoolOp) and any(
            isinstance(part_node, ast.Call) for part_node in ast.walk(node)
        ):
            self._lead(dependencies, DECIDES)  # they decide on a call
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
            self._lead(self._all(node), DECIDES)
        return dependencies

    def _call(self, node: ast.Call) -> set[_Node]:
        name, owner = called(node.func)
        arguments = [
            self._value(part) for part in (*node.args, *(keyword.value for keyword in node.keywords))
        ]
        values = set[_Node]().union(*arguments)
        if owner == "atomic":
            self._lead(values, ("store", (node.lineno, node.col_offset)))
            return values | self._load(node)
        if not owner and name in self._functions:
            parameters = self._functions[name].args
            if len(node.args) == len(arguments) and not any(
                isinstance(argument, ast.Starred) for argument in node.args
            ):
                names = [arg.arg for arg in (*parameters.posonlyargs, *parameters.args)]
                for parameter, argument in zip(names, arguments, strict=False):
                    self._lead(argument, ("variable", name, parameter))
            else:
                self._lead(values, DECIDES)
            return {("returned", name)}
        if not (name in PLAIN or owner in MODULES or ARITHMETIC.fullmatch(name)):
            values |= self._value(node.func)
            self._lead(values, DECIDES)
        return values


def _indices(node: ast.expr) -> Iterable[ast.expr]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        if isinstance(node, ast.Subscript):
            yield node.slice
        node = node.value
    yield node
