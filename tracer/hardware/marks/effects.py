"""The effects of a kernel's statements on memory, which determine their kinds of segments."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any, Final, Literal

from msgspec import Struct

from ...compiled.rewrite.scope import CudaPath, Scope, UnknownValueError, source_of
from ..timeline import SegmentKind

Space = Literal["global", "shared", "local"]
Effect = Literal["barrier", "warp barrier", "atomic", "load", "store", "on chip", "loop"]
BLOCK_BARRIERS: Final = ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or")
WARP_BARRIERS: Final = ("syncwarp",)
NOT_ELEMENTS: Final = ("shape", "strides", "size", "ndim", "dtype", "itemsize", "nbytes")
DEEPEST = 8  # nested calls of device functions that are followed


class View(Struct, frozen=True):
    """An array or a part of one: its memory space, and the number of its dimensions."""

    space: Space
    dimensions: int


class Effects:
    """Finds the effects of a function's statements; its arguments may be arrays."""

    def __init__(self, function: FunctionType, arguments: Mapping[str, View], depth: int = 0) -> None:
        source = source_of(function)
        self.tree = source.tree
        self.scope = Scope(source, {})
        self._depth = depth
        self._arrays = dict(arguments)
        # Roughly in the order of the source, so that views precede their uses.
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                self._note_arrays(node)

    def _note_arrays(self, node: ast.Assign) -> None:
        for target in node.targets:
            pairs: Iterable[tuple[ast.expr, ast.expr]] = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
            for name, value in pairs:
                view = self._view(value)
                if isinstance(name, ast.Name) and view is not None and view.dimensions:
                    self._arrays[name.id] = view

    def effects_of(self, nodes: Iterable[ast.AST]) -> frozenset[Effect]:
        """Return all effects of some statements or expressions."""
        effects: set[Effect] = set()
        for node in nodes:
            self._add(node, effects)
        return frozenset(effects)

    def head_effects(self, statement: ast.If | ast.For | ast.While) -> frozenset[Effect]:
        """Return the effects of the first line of a compound statement."""
        if not isinstance(statement, ast.For):
            return self.effects_of([statement.test])
        over = self._view(statement.iter)
        loads = over is not None and over.space == "global" and over.dimensions == 1
        return self.effects_of([statement.target, statement.iter]) | ({"load"} if loads else set())

    def _add(self, node: ast.AST, effects: set[Effect]) -> None:
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            return
        if isinstance(node, ast.Call):
            self._add_call(node, effects)
            return
        if isinstance(node, ast.For | ast.While):
            effects |= {"loop", *self.head_effects(node)}
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            effects |= self._element(node.target, stored=False)
        if isinstance(node, ast.Subscript):
            effects |= self._element(node, stored=not isinstance(node.ctx, ast.Load))
        for child in ast.iter_child_nodes(node):
            self._add(child, effects)

    def _element(self, node: ast.Subscript, stored: bool) -> set[Effect]:
        """Return the effect of an element's use; stores to shared or local memory belong to what is stored."""
        view = self._view(node.value)
        if view is None or (not stored and _remaining_dimensions(view, node.slice)):
            return set()
        if view.space == "global":
            return {"store"} if stored else {"load"}
        return set() if stored else {"on chip"}

    def _view(self, node: ast.expr) -> View | None:
        """Return the array that an expression denotes, or None."""
        if isinstance(node, ast.Name):
            return self._arrays.get(node.id)
        if isinstance(node, ast.Attribute):
            return None if node.attr in NOT_ELEMENTS else self._view(node.value)
        if isinstance(node, ast.Subscript):
            base = self._view(node.value)
            return base and View(base.space, _remaining_dimensions(base, node.slice))
        if isinstance(node, ast.Call):
            return self._created(node)
        return None

    def _created(self, node: ast.Call) -> View | None:
        name = self._cuda_name(node.func)
        if name not in ("shared.array", "local.array"):
            return self._view(node.func.value) if isinstance(node.func, ast.Attribute) else None
        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "shape")]
        try:
            shape = self.scope.static_value(given[0]) if given else 0
        except UnknownValueError:
            shape = 0
        space: Space = "shared" if name == "shared.array" else "local"
        return View(space, len(shape) if isinstance(shape, tuple) else 1)

    def _add_call(self, node: ast.Call, effects: set[Effect]) -> None:
        name = self._cuda_name(node.func)
        for child in (*node.args, *(k.value for k in node.keywords)):
            self._add(child, effects)
        if name in BLOCK_BARRIERS:
            effects.add("barrier")
        elif name in WARP_BARRIERS:
            effects.add("warp barrier")
        elif name.startswith("atomic."):
            effects.add("atomic")
        elif not name:
            effects |= self._called(node)

    def _called(self, node: ast.Call) -> frozenset[Effect]:
        """Return the effects of a device function on its arguments."""
        try:
            function = getattr(self.scope.value(node.func), "py_func", None)
        except UnknownValueError:
            return frozenset()
        if not isinstance(function, FunctionType) or self._depth >= DEEPEST:
            return frozenset()
        names = function.__code__.co_varnames
        given = {n: v for n, a in zip(names, node.args, strict=False) if (v := self._view(a)) is not None}
        inside = Effects(function, given, self._depth + 1)
        return inside.effects_of(inside.tree.body)

    def _cuda_name(self, node: ast.expr) -> str:
        """Return a name's meaning under `cuda`, "" for anything else."""
        try:
            value: Any = self.scope.value(node)
        except UnknownValueError:
            return ""
        if isinstance(value, CudaPath):
            return str(value)
        module = str(getattr(value, "__module__", ""))
        return str(getattr(value, "__qualname__", "")) if module.startswith("numba.cuda") else ""


def _remaining_dimensions(view: View, index: ast.expr) -> int:
    """Count the dimensions that remain after an index: 0 for an element."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return max(0, view.dimensions - sum(not isinstance(part, ast.Slice) for part in parts))


def kinds_of(effects: frozenset[Effect]) -> frozenset[SegmentKind]:
    """Return the kinds of segments for these effects; empty for plain arithmetic.

    A statement that loads waits for the loaded values, so it counts as a load whatever else it does.
    """
    if "barrier" in effects or "warp barrier" in effects:
        return frozenset({"wait"})
    kinds: set[SegmentKind] = set()
    if "atomic" in effects:
        kinds.add("atomic")
    elif "load" in effects:
        kinds.add("load")
    elif "store" in effects:
        kinds.add("store")
    elif effects & {"on chip", "loop"}:
        kinds.add("compute")
    return frozenset(kinds)
