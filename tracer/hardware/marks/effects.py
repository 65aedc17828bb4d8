"""What a statement of a kernel does to memory: which kind of segment it belongs to, as far as its source says."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any, Final, Literal

from msgspec import Struct

from ...compiled.rewrite.scope import CudaPath, NotKnown, Scope, source_of
from ..timeline import SegmentKind

Space = Literal["global", "shared", "local"]
Effect = Literal["barrier", "warp barrier", "atomic", "load", "store", "on chip", "loop"]
BLOCK_BARRIERS: Final = ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or")
WARP_BARRIERS: Final = ("syncwarp",)
NOT_ELEMENTS: Final = ("shape", "strides", "size", "ndim", "dtype", "itemsize", "nbytes")
DEEPEST = 8  # calls of device functions that are followed


class View(Struct, frozen=True):
    """An array, or a part of one: where it lies, and how many indices name an element of it."""

    space: Space
    dimensions: int


class Effects:
    """Says what the statements of one function do, whose arguments may be arrays."""

    def __init__(self, function: FunctionType, arguments: Mapping[str, View], depth: int = 0) -> None:
        source = source_of(function)
        self.tree = source.tree
        self.scope = Scope(source, {})
        self._depth = depth
        self._arrays = dict(arguments)
        for node in ast.walk(
            self.tree
        ):  # in the order of the source, near enough: views come before they are used
            if isinstance(node, ast.Assign):
                self._note(node)

    def _note(self, node: ast.Assign) -> None:
        for target in node.targets:
            pairs: Iterable[tuple[ast.expr, ast.expr]] = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
            for name, value in pairs:
                view = self._view(value)
                if isinstance(name, ast.Name) and view is not None and view.dimensions:
                    self._arrays[name.id] = view

    def of(self, nodes: Iterable[ast.AST]) -> frozenset[Effect]:
        """Return all that some statements or expressions do."""
        found: set[Effect] = set()
        for node in nodes:
            self._add(node, found)
        return frozenset(found)

    def of_head(self, statement: ast.If | ast.For | ast.While) -> frozenset[Effect]:
        """Return what the first line of a compound statement does, as far as it is more than computing."""
        if not isinstance(statement, ast.For):
            return self.of([statement.test])
        over = self._view(statement.iter)
        loads = over is not None and over.space == "global" and over.dimensions == 1
        return self.of([statement.target, statement.iter]) | ({"load"} if loads else set())

    def _add(self, node: ast.AST, found: set[Effect]) -> None:
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            return
        if isinstance(node, ast.Call):
            self._add_call(node, found)
            return
        if isinstance(node, ast.For | ast.While):
            found |= {"loop", *self.of_head(node)}
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            found |= self._element(node.target, stored=False)
        if isinstance(node, ast.Subscript):
            found |= self._element(node, stored=not isinstance(node.ctx, ast.Load))
        for child in ast.iter_child_nodes(node):
            self._add(child, found)

    def _element(self, node: ast.Subscript, stored: bool) -> set[Effect]:
        """Return what the use of an element does; stores to memory on the chip go with what is stored."""
        view = self._view(node.value)
        if view is None or (not stored and _left(view, node.slice)):
            return set()
        if view.space == "global":
            return {"store"} if stored else {"load"}
        return set() if stored else {"on chip"}

    def _view(self, node: ast.expr) -> View | None:
        """Return what array an expression is, None for none."""
        if isinstance(node, ast.Name):
            return self._arrays.get(node.id)
        if isinstance(node, ast.Attribute):
            return None if node.attr in NOT_ELEMENTS else self._view(node.value)
        if isinstance(node, ast.Subscript):
            base = self._view(node.value)
            return base and View(base.space, _left(base, node.slice))
        if isinstance(node, ast.Call):
            return self._made(node)
        return None

    def _made(self, node: ast.Call) -> View | None:
        name = self._cuda_name(node.func)
        if name not in ("shared.array", "local.array"):
            return self._view(node.func.value) if isinstance(node.func, ast.Attribute) else None
        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "shape")]
        try:
            shape = self.scope.static(given[0]) if given else 0
        except NotKnown:
            shape = 0
        space: Space = "shared" if name == "shared.array" else "local"
        return View(space, len(shape) if isinstance(shape, tuple) else 1)

    def _add_call(self, node: ast.Call, found: set[Effect]) -> None:
        name = self._cuda_name(node.func)
        for child in (*node.args, *(k.value for k in node.keywords)):
            self._add(child, found)
        if name in BLOCK_BARRIERS:
            found.add("barrier")
        elif name in WARP_BARRIERS:
            found.add("warp barrier")
        elif name.startswith("atomic."):
            found.add("atomic")
        elif not name:
            found |= self._called(node)

    def _called(self, node: ast.Call) -> frozenset[Effect]:
        """Return what a device function does with what it is given."""
        try:
            function = getattr(self.scope.value(node.func), "py_func", None)
        except NotKnown:
            return frozenset()
        if not isinstance(function, FunctionType) or self._depth >= DEEPEST:
            return frozenset()
        names = function.__code__.co_varnames
        given = {n: v for n, a in zip(names, node.args, strict=False) if (v := self._view(a)) is not None}
        inside = Effects(function, given, self._depth + 1)
        return inside.of(inside.tree.body)

    def _cuda_name(self, node: ast.expr) -> str:
        """Return what a name means under `cuda`, "" for anything else."""
        try:
            value: Any = self.scope.value(node)
        except NotKnown:
            return ""
        if isinstance(value, CudaPath):
            return str(value)
        module = str(getattr(value, "__module__", ""))
        return str(getattr(value, "__qualname__", "")) if module.startswith("numba.cuda") else ""


def _left(view: View, index: ast.expr) -> int:
    """Return how many dimensions an index leaves of an array: none where it names an element."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return max(0, view.dimensions - sum(not isinstance(part, ast.Slice) for part in parts))


def kinds_of(effects: frozenset[Effect]) -> frozenset[SegmentKind]:
    """Return the kinds of segments that statements make up; none of them where they only compute numbers in passing.

    A statement that loads waits for what it loads, whatever else it does with it: so it counts as loading.
    """
    if "barrier" in effects or "warp barrier" in effects:
        return frozenset({"wait"})
    found: set[SegmentKind] = set()
    if "atomic" in effects:
        found.add("atomic")
    elif "load" in effects:
        found.add("load")
    elif "store" in effects:
        found.add("store")
    elif effects & {"on chip", "loop"}:
        found.add("compute")
    return frozenset(found)
