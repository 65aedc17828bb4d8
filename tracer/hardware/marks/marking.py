"""Rewrites a kernel to a copy with marks, at which a warp's first lane writes the clock.

A mark begins a segment, which lasts until the next mark: consecutive statements of one kind (load from global memory,
compute with shared or local memory, wait at a barrier, atomic operations, store). Plain arithmetic belongs to the
following statement. A compound statement of one kind is one segment, loops included; others have marks inside. Called
functions get no marks: the call has the kind of what they do.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import Any, Final

import msgspec
from msgspec import Struct

from ...compiled.not_compilable import NotCompilableError
from ..timeline import Detail, SegmentKind
from .effects import Effects, View, kinds_of

PREFIX: Final = "_ts_"
BEGIN, MARK, END = f"{PREFIX}begin", f"{PREFIX}mark", f"{PREFIX}end"
AT = f"{PREFIX}at"
ENDS, MARKS = f"{PREFIX}ends", f"{PREFIX}marks"  # additional arguments of a marked kernel
ADDED: Final = (ENDS, MARKS)
# Constants of the compiled kernel (see `intrinsics.py`).
WARPS, SLOT, LIMIT, DETAILED = (f"{PREFIX}{name}" for name in ("warps", "slot", "limit", "detailed"))
MOST_MARKS: Final = 4096
NO_LINE: Final = 0
COMPOUND = ast.If | ast.For | ast.While


class NotMarkableError(Exception):
    """A kernel whose source can't be marked; the text is one sentence."""


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A segment in the source; a mark's number is its index in the kernel's list."""

    kind: SegmentKind
    first_line: int  # of the kernel's file, from 1
    last_line: int
    barrier: bool = False  # it is a barrier of the block


class MarkedSource(Struct, frozen=True):
    """A kernel with marks: its tree, and the list of marks. Mark 0 is the start of a warp, and is not written."""

    tree: ast.FunctionDef
    marks: tuple[Mark, ...]
    detail: Detail


def marked_source(function: FunctionType, arrays: dict[str, int], detail: Detail) -> MarkedSource:
    """Rewrite a kernel with marks.

    arrays: the array arguments and their dimensions. Raises NotMarkable.
    """
    try:
        effects = Effects(function, {name: View("global", n) for name, n in arrays.items()})
    except NotCompilableError as error:
        raise NotMarkableError(f"The kernel can't be marked: {error}") from error
    return _Marker(effects, detail).function(effects.tree)


class _Marker:
    """Rewrites one kernel."""

    def __init__(self, effects: Effects, detail: Detail) -> None:
        self._effects, self._detail = effects, detail
        self.marks: list[Mark] = []

    def function(self, tree: ast.FunctionDef) -> MarkedSource:
        body = tree.body
        self.marks = [Mark("other", body[0].lineno, NO_LINE)]
        marked_body = body if self._detail == "ends" else self._block(body, top=True)
        if len(self.marks) > MOST_MARKS:
            raise NotMarkableError(f"The kernel would have more than {MOST_MARKS:,} marks in its source.")
        self._complete_first(body)
        begin = _called(BEGIN, [_name(n) for n in (ENDS, WARPS, SLOT, DETAILED)], body[0])
        start = ast.copy_location(ast.Assign([ast.Name(AT, ast.Store())], begin), body[0])
        ended = ast.Module([start, *marked_body, _end(body[-1])], [])
        statements = _Returns().visit(ended).body
        result = ast.FunctionDef(tree.name, _with_added(tree), statements, [], None, None)
        result = ast.fix_missing_locations(ast.copy_location(result, tree))
        return MarkedSource(result, tuple(self.marks), self._detail)

    def _complete_first(self, body: Sequence[ast.stmt]) -> None:
        """Set the end of the segment before the first written mark."""
        first = self.marks[0]
        if first.last_line == NO_LINE:
            last = self.marks[1].first_line - 1 if len(self.marks) > 1 else _last_line(body)
            self.marks[0] = msgspec.structs.replace(first, last_line=max(first.first_line, last))

    def _kind(self, statement: ast.stmt) -> SegmentKind | None:
        """Return a statement's kind: None for plain arithmetic, "other" for several kinds."""
        if not isinstance(statement, COMPOUND):
            return next(iter(kinds_of(self._effects.effects_of([statement]))), None)
        kinds = self._compound_kinds(statement)
        return "other" if len(kinds) > 1 or kinds == {"wait"} else next(iter(kinds), None)

    def _compound_kinds(self, statement: ast.If | ast.For | ast.While) -> set[SegmentKind]:
        """Return the kinds of the parts of a compound statement."""
        kinds = set(kinds_of(self._effects.head_effects(statement)))
        for child in (*statement.body, *statement.orelse):
            if isinstance(child, COMPOUND):
                kinds |= self._compound_kinds(child)
            else:
                kinds |= kinds_of(self._effects.effects_of([child]))
        if isinstance(statement, ast.For) and "load" in self._effects.head_effects(statement):
            kinds -= {"store", "compute"}  # each iteration first waits for an element
        return kinds or ({"compute"} if isinstance(statement, ast.For | ast.While) else set())

    def _block(self, statements: Sequence[ast.stmt], top: bool = False) -> list[ast.stmt]:
        """Insert marks between statements, and inside those of several kinds."""
        block = _Block(top)
        for statement in statements:
            kind = self._kind(statement)
            if kind is None:
                block.passing.append(statement)
            elif isinstance(statement, COMPOUND) and self._is_opened(statement, kind):
                self._open(block, statement)
            else:
                self._add(block, statement, kind)
        return [*block.statements, *block.passing]

    def _add(self, block: _Block, statement: ast.stmt, kind: SegmentKind) -> None:
        """Add a statement to the current segment, or begin another one."""
        if block.first and self._detail == "all":
            block.take_passing()  # the kernel's first lines stay in the first segment
        if self._begins(block, kind):
            block.statements.append(self._mark(kind, [*block.passing, statement]))
        else:
            self._extend(statement, kind)
        block.take_passing()
        block.statements.append(statement)
        block.now, block.first = kind, False

    def _begins(self, block: _Block, kind: SegmentKind) -> bool:
        if self._detail == "barriers":
            return block.now is None or "wait" in (kind, block.now)
        return block.now != kind or kind == "wait"

    def _is_opened(self, statement: ast.If | ast.For | ast.While, kind: SegmentKind) -> bool:
        """Return True if a compound statement gets marks inside."""
        if kind != "other":
            return False
        return self._detail == "all" or "wait" in self._compound_kinds(statement)

    def _open(self, block: _Block, statement: ast.If | ast.For | ast.While) -> None:
        """Add a compound statement with marks inside, and a mark before its first line if that does something."""
        head = next(iter(kinds_of(self._effects.head_effects(statement))), None)
        if head is not None or (block.now == "wait" and block.passing):
            line = ast.Pass(lineno=statement.lineno, end_lineno=_head(statement).end_lineno)
            block.statements.append(self._mark(head or "other", [*block.passing, line]))
            if head == "wait":
                self.marks[-1] = msgspec.structs.replace(self.marks[-1], barrier=True)
        block.take_passing()
        statement.body = self._block(statement.body)
        statement.orelse = self._block(statement.orelse)
        block.statements.append(statement)
        block.now, block.first = None, False

    def _mark(self, kind: SegmentKind, covered: Sequence[ast.stmt]) -> ast.stmt:
        """Create the statement that begins a segment."""
        barrier = kind == "wait" and "barrier" in self._effects.effects_of(covered)
        self.marks.append(Mark(kind, covered[0].lineno, _last_line(covered), barrier))
        number = ast.Constant(len(self.marks) - 1)
        call = _called(MARK, [_name(AT), _name(MARKS), _name(LIMIT), number], covered[0])
        return ast.copy_location(ast.Assign([ast.Name(AT, ast.Store())], call), covered[0])

    def _extend(self, statement: ast.stmt, kind: SegmentKind) -> None:
        """Extend the current segment to the end of a statement."""
        last = self.marks[-1]
        both = kind if last.last_line == NO_LINE or last.kind == kind else "other"
        self.marks[-1] = msgspec.structs.replace(last, kind=both, last_line=_last_line([statement]))


class _Block:
    """The statements of a block during the rewriting."""

    def __init__(self, top: bool) -> None:
        self.statements: list[ast.stmt] = []
        self.passing: list[ast.stmt] = []  # plain arithmetic, for the next segment
        # Of the current segment, None if unknown.
        self.now: SegmentKind | None = "other" if top else None
        self.first = top  # still in the kernel's first lines

    def take_passing(self) -> None:
        self.statements += self.passing
        self.passing = []


class _Returns(ast.NodeTransformer):
    """Inserts the end of a warp before each `return`."""

    def visit_Return(self, node: ast.Return) -> Any:
        return [_end(node), node]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node


def _head(statement: ast.If | ast.For | ast.While) -> ast.expr:
    return statement.iter if isinstance(statement, ast.For) else statement.test


def _with_added(tree: ast.FunctionDef) -> ast.arguments:
    if tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs or tree.args.defaults:
        raise NotMarkableError("A kernel with default, keyword or starred arguments can't be marked.")
    added = [ast.arg(name) for name in ADDED]
    return ast.arguments(
        posonlyargs=tree.args.posonlyargs,
        args=[*tree.args.args, *added],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )


def _end(where: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Expr(_called(END, [_name(ENDS), _name(WARPS), _name(AT)], where)), where)


def _called(name: str, arguments: list[ast.expr], where: ast.stmt) -> ast.expr:
    return ast.copy_location(ast.Call(_name(name), arguments, []), where)


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _last_line(statements: Sequence[ast.stmt]) -> int:
    return max(s.end_lineno or s.lineno for s in statements)
