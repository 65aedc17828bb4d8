"""A kernel's source to that of a copy with marks, where a warp's first lane notes the clock.

A mark begins a segment, which lasts to the next mark: statements that follow one another and do the like (load from
global memory, compute with shared or local memory, wait at a barrier, atomic operations, store). What only computes
numbers goes with what follows it, and a compound statement in which all is alike is one, loops included; in others
there are marks inside. Functions that the kernel calls are left alone: such a call is what is done in it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import Any, Final

import msgspec
from msgspec import Struct

from ...compiled.not_compilable import NotCompilable
from ..timeline import Detail, SegmentKind
from .effects import Effects, View, kinds_of

PREFIX: Final = "_ts_"
BEGIN, MARK, END = f"{PREFIX}begin", f"{PREFIX}mark", f"{PREFIX}end"
AT = f"{PREFIX}at"
ENDS, MARKS = f"{PREFIX}ends", f"{PREFIX}marks"  # what a marked kernel takes after its own arguments
ADDED: Final = (ENDS, MARKS)
# Constants of the compiled kernel (see `intrinsics.py`).
WARPS, SLOT, LIMIT, DETAILED = (f"{PREFIX}{name}" for name in ("warps", "slot", "limit", "detailed"))
MOST_MARKS: Final = 4096
NO_LINE: Final = 0
COMPOUND = ast.If | ast.For | ast.While


class NotMarkable(Exception):
    """A kernel whose source can't be marked; the text is one sentence."""


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A segment as the source has it; a mark's number is its place in the kernel's list of them."""

    kind: SegmentKind
    first_line: int  # of the kernel's file, from 1
    last_line: int
    barrier: bool = False  # whether it is a barrier of the block


class MarkedSource(Struct, frozen=True):
    """A kernel with marks: its tree, and what they begin. Mark 0 is where a warp starts, and is not written."""

    tree: ast.FunctionDef
    marks: tuple[Mark, ...]
    detail: Detail


def marked_source(function: FunctionType, arrays: dict[str, int], detail: Detail) -> MarkedSource:
    """Return a kernel's source with marks.

    arrays: the arguments that are arrays, and their dimensions. Raises NotMarkable.
    """
    try:
        effects = Effects(function, {name: View("global", n) for name, n in arrays.items()})
    except NotCompilable as error:
        raise NotMarkable(f"The kernel can't be marked: {error}") from error
    return _Marker(effects, detail).function(effects.tree)


class _Marker:
    """Rewrites one kernel."""

    def __init__(self, effects: Effects, detail: Detail) -> None:
        self._effects, self._detail = effects, detail
        self.marks: list[Mark] = []

    def function(self, tree: ast.FunctionDef) -> MarkedSource:
        body = tree.body
        self.marks = [Mark("other", body[0].lineno, NO_LINE)]
        made = body if self._detail == "ends" else self._block(body, top=True)
        if len(self.marks) > MOST_MARKS:
            raise NotMarkable(f"The kernel would have more than {MOST_MARKS:,} marks in its source.")
        self._complete_first(body)
        begin = _called(BEGIN, [_name(n) for n in (ENDS, WARPS, SLOT, DETAILED)], body[0])
        start = ast.copy_location(ast.Assign([ast.Name(AT, ast.Store())], begin), body[0])
        ended = ast.Module([start, *made, _end(body[-1])], [])
        statements = _Returns().visit(ended).body
        result = ast.FunctionDef(tree.name, _with_added(tree), statements, [], None, None)
        result = ast.fix_missing_locations(ast.copy_location(result, tree))
        return MarkedSource(result, tuple(self.marks), self._detail)

    def _complete_first(self, body: Sequence[ast.stmt]) -> None:
        """Have the segment before the first written mark end where that begins."""
        first = self.marks[0]
        if first.last_line == NO_LINE:
            last = self.marks[1].first_line - 1 if len(self.marks) > 1 else _last_line(body)
            self.marks[0] = msgspec.structs.replace(first, last_line=max(first.first_line, last))

    def _kind(self, statement: ast.stmt) -> SegmentKind | None:
        """Return what a statement is: a kind, None for computing in passing, "other" for several."""
        if not isinstance(statement, COMPOUND):
            return next(iter(kinds_of(self._effects.of([statement]))), None)
        kinds = self._compound_kinds(statement)
        return "other" if len(kinds) > 1 or kinds == {"wait"} else next(iter(kinds), None)

    def _compound_kinds(self, statement: ast.If | ast.For | ast.While) -> set[SegmentKind]:
        """Return the kinds of what a compound statement consists of."""
        found = set(kinds_of(self._effects.of_head(statement)))
        for child in (*statement.body, *statement.orelse):
            if isinstance(child, COMPOUND):
                found |= self._compound_kinds(child)
            else:
                found |= kinds_of(self._effects.of([child]))
        if isinstance(statement, ast.For) and "load" in self._effects.of_head(statement):
            found -= {"store", "compute"}  # each round waits for an element first
        return found or ({"compute"} if isinstance(statement, ast.For | ast.While) else set())

    def _block(self, statements: Sequence[ast.stmt], top: bool = False) -> list[ast.stmt]:
        """Return statements with marks between them, and inside of those that do several things."""
        made = _Block(top)
        for statement in statements:
            kind = self._kind(statement)
            if kind is None:
                made.passing.append(statement)
            elif isinstance(statement, COMPOUND) and self._is_opened(statement, kind):
                self._open(made, statement)
            else:
                self._go_on(made, statement, kind)
        return [*made.statements, *made.passing]

    def _go_on(self, made: _Block, statement: ast.stmt, kind: SegmentKind) -> None:
        """Take a statement into the newest segment, or begin another with it."""
        if made.first and self._detail == "all":
            made.take_passing()  # the kernel's first lines are no part of what comes then
        if self._begins(made, kind):
            made.statements.append(self._mark(kind, [*made.passing, statement]))
        else:
            self._extend(statement, kind)
        made.take_passing()
        made.statements.append(statement)
        made.now, made.first = kind, False

    def _begins(self, made: _Block, kind: SegmentKind) -> bool:
        if self._detail == "barriers":
            return made.now is None or "wait" in (kind, made.now)
        return made.now != kind or kind == "wait"

    def _is_opened(self, statement: ast.If | ast.For | ast.While, kind: SegmentKind) -> bool:
        """Return whether a compound statement gets marks inside."""
        if kind != "other":
            return False
        return self._detail == "all" or "wait" in self._compound_kinds(statement)

    def _open(self, made: _Block, statement: ast.If | ast.For | ast.While) -> None:
        """Take a compound statement with marks inside, before which its first line has one where it does something."""
        head = next(iter(kinds_of(self._effects.of_head(statement))), None)
        if head is not None or (made.now == "wait" and made.passing):
            line = ast.Pass(lineno=statement.lineno, end_lineno=_head(statement).end_lineno)
            made.statements.append(self._mark(head or "other", [*made.passing, line]))
            if head == "wait":
                self.marks[-1] = msgspec.structs.replace(self.marks[-1], barrier=True)
        made.take_passing()
        statement.body = self._block(statement.body)
        statement.orelse = self._block(statement.orelse)
        made.statements.append(statement)
        made.now, made.first = None, False

    def _mark(self, kind: SegmentKind, covered: Sequence[ast.stmt]) -> ast.stmt:
        """Return the statement that begins a segment."""
        barrier = kind == "wait" and "barrier" in self._effects.of(covered)
        self.marks.append(Mark(kind, covered[0].lineno, _last_line(covered), barrier))
        number = ast.Constant(len(self.marks) - 1)
        call = _called(MARK, [_name(AT), _name(MARKS), _name(LIMIT), number], covered[0])
        return ast.copy_location(ast.Assign([ast.Name(AT, ast.Store())], call), covered[0])

    def _extend(self, statement: ast.stmt, kind: SegmentKind) -> None:
        """Have the newest segment reach to the end of a statement."""
        last = self.marks[-1]
        both = kind if last.last_line == NO_LINE or last.kind == kind else "other"
        self.marks[-1] = msgspec.structs.replace(last, kind=both, last_line=_last_line([statement]))


class _Block:
    """Statements of a block as they are rewritten."""

    def __init__(self, top: bool) -> None:
        self.statements: list[ast.stmt] = []
        self.passing: list[ast.stmt] = []  # those that compute in passing, for the next segment
        self.now: SegmentKind | None = (
            "other" if top else None
        )  # of the segment that goes on, None if unknown
        self.first = top  # whether the kernel's first lines are not over yet

    def take_passing(self) -> None:
        self.statements += self.passing
        self.passing = []


class _Returns(ast.NodeTransformer):
    """Puts the end of a warp before each `return`."""

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
        raise NotMarkable("A kernel with default, keyword or starred arguments can't be marked.")
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
