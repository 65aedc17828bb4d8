"""Statements of a kernel, typed: a variable that is given different kinds of numbers becomes the one they share.

As after Numba's SSA form: each assignment has a type of its own, and where ways through the function meet, what comes
from each is converted to the common one (`unify_types`). What is converted on a way is written at its end.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .expressions import OPERATORS, ExpressionTyper, Surroundings, Typed, slices_in
from .operations import AUGMENTED
from .static_types import Known, Number, StaticType, TupleOf, integer, item, joined, widened

MOST_ROUNDS = 8  # in which the types of a loop's variables settle


class NotTyped(Exception):
    """A statement that kernels don't have."""


class Way(list[Any]):
    """Statements at the end of a way to a place where ways meet, written once it is known what they become there."""

    def __init__(self, variables: dict[str, StaticType]) -> None:
        super().__init__()
        self.variables = dict(variables)


class Loop:
    """A loop being typed: the ways that go back to its head, and those that leave it."""

    def __init__(self) -> None:
        self.again: list[Way] = []
        self.leaving: list[Way] = []


class StatementTyper(ExpressionTyper):
    """Types and rewrites one function. `reachable` says whether a statement can be reached from the ones before."""

    def __init__(self, around: Surroundings, local_names: frozenset[str]) -> None:
        super().__init__(around, local_names)
        self.reachable = True
        self.loops: list[Loop] = []
        self.returned: list[tuple[ast.Return, Typed]] = []
        self.may_end = False

    def function(
        self, tree: ast.FunctionDef, types: Sequence[StaticType]
    ) -> tuple[ast.FunctionDef, StaticType]:
        """Return a function rewritten for arguments of these types, and the type of what it returns."""
        names = [argument.arg for argument in (*tree.args.posonlyargs, *tree.args.args)]
        self.variables = dict(zip(names, types, strict=False))
        body = _flat(self.block(tree.body))
        self.may_end = self.may_end or self.reachable
        found = self._end()
        arguments = ast.arguments(
            posonlyargs=[_bare(a) for a in tree.args.posonlyargs], args=[_bare(a) for a in tree.args.args],
            vararg=tree.args.vararg and _bare(tree.args.vararg), kwonlyargs=[_bare(a) for a in tree.args.kwonlyargs],
            kw_defaults=[None for _ in tree.args.kwonlyargs], kwarg=tree.args.kwarg and _bare(tree.args.kwarg),
            defaults=[],
        )  # fmt: skip
        made = ast.FunctionDef(tree.name, arguments, body, [], None, None)
        return ast.fix_missing_locations(ast.copy_location(made, tree)), found

    def _end(self) -> StaticType:
        """Make everything that is returned of one kind."""
        values = [value for _, value in self.returned]
        if not values or self.may_end:
            return None
        found = joined(value.type for value in values)
        for node, value in self.returned:
            node.value = self.converted(value, found)
        return found

    def block(self, statements: Sequence[ast.stmt]) -> list[Any]:
        """Return statements rewritten, up to where none can be reached."""
        made: list[Any] = []
        for statement in statements:
            if not self.reachable:
                break
            method = getattr(self, f"_{type(statement).__name__}", None)
            if method is None:
                raise NotTyped(type(statement).__name__)
            found = method(statement)
            made += found if isinstance(found, list) else [found]
        return made

    def _stays(self, node: ast.stmt) -> ast.stmt:
        return node

    _Pass = _Import = _ImportFrom = _stays

    def _FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        self.variables[node.name] = None
        return node

    def _Expr(self, node: ast.Expr) -> ast.stmt:
        return ast.copy_location(ast.Expr(self.expression(node.value).node), node)

    def _Assert(self, node: ast.Assert) -> ast.stmt:
        return self._parts(node)  # type: ignore[no-any-return]

    def _Delete(self, node: ast.Delete) -> ast.stmt:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.variables.pop(target.id, None)
        return node

    def _Raise(self, node: ast.Raise) -> ast.stmt:
        made = self._parts(node)
        self.reachable = False
        return made  # type: ignore[no-any-return]

    def _Return(self, node: ast.Return) -> ast.stmt:
        value = self.expression(node.value) if node.value is not None else None
        made = ast.copy_location(ast.Return(value and value.node), node)
        self.returned.append((made, value)) if value is not None else None
        self.may_end = self.may_end or value is None
        self.reachable = False
        return made

    # Assignments

    def _Assign(self, node: ast.Assign) -> ast.stmt:
        value = self.expression(node.value)
        targets = [self.target(target, value.type) for target in node.targets]
        return ast.copy_location(ast.Assign(targets, value.node), node)

    def _AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self._Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def target(self, node: ast.expr, found: StaticType) -> ast.expr:
        """Return what is assigned to, and note the type of its value."""
        if isinstance(node, ast.Name):
            self.variables[node.id] = found
            return node
        if isinstance(node, ast.Tuple | ast.List):
            parts: Sequence[StaticType] = [None] * len(node.elts)
            if isinstance(found, TupleOf) and len(found.parts) == len(node.elts):
                parts = found.parts
            made = [self.target(t, p) for t, p in zip(node.elts, parts, strict=True)]
            return ast.copy_location(type(node)(made, ast.Store()), node)
        if isinstance(node, ast.Starred):
            return ast.copy_location(ast.Starred(self.target(node.value, None), ast.Store()), node)
        return self.expression(node).node

    def _AugAssign(self, node: ast.AugAssign) -> Any:
        target, before = node.target, list[ast.stmt]()
        if isinstance(target, ast.Name):
            old = Typed(
                self.variables.get(target.id), ast.copy_location(ast.Name(target.id, ast.Load()), target)
            )
            made = self._augmented(old, node)
            self.variables[target.id] = made.type
            return ast.copy_location(ast.Assign([target], made.node), node)
        base = self._once(self.expression(target.value), before)
        load: ast.expr
        there: StaticType = None
        if isinstance(target, ast.Subscript):
            index = self._once(self.expression(target.slice), before)
            there = item(base.type, index.type, slices_in(target.slice))
            load = ast.Subscript(base.node, index.node, ast.Load())
            store: ast.expr = ast.Subscript(base.node, index.node, ast.Store())
        else:
            load, store = (ast.Attribute(base.node, target.attr, way) for way in (ast.Load(), ast.Store()))
        old = Typed(there, ast.copy_location(load, target))
        made = self._augmented(old, node)
        if isinstance(made.node, ast.BinOp) and made.node.left is old.node and not before:
            there_too: Any = ast.copy_location(store, target)
            return ast.copy_location(ast.AugAssign(there_too, node.op, made.node.right), node)
        return [*before, ast.copy_location(ast.Assign([ast.copy_location(store, target)], made.node), node)]

    def _augmented(self, old: Typed, node: ast.AugAssign) -> Typed:
        value, name = self.expression(node.value), OPERATORS.get(type(node.op), "")
        if name and not (isinstance(old.type, Number) and isinstance(value.type, Number)):
            division = self.around.debug and name in ("truediv", "floordiv", "mod")
            if not division:
                return Typed(None, self.call(AUGMENTED[name], [old.node, value.node], node))
        return self.operation(name, old, value, node, node.op)

    def _once(self, value: Typed, before: list[ast.stmt]) -> Typed:
        """Return an expression that can stand twice; what has to be computed once comes before."""
        kinds = ast.Name | ast.Constant | ast.Tuple | ast.expr_context
        if all(isinstance(node, kinds) for node in ast.walk(value.node)):
            return value
        name = self.temporary()
        put = ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), value.node)], value.node)
        before.append(ast.copy_location(put, value.node))
        return Typed(value.type, _local(name, value.node))

    # Ways that part and meet

    def meet(self, ways: Sequence[Way]) -> dict[str, StaticType]:
        """Return the variables where ways meet; each gets the conversions that make its own the same."""
        found: dict[str, StaticType] = {}
        for name in {name: None for way in ways for name in way.variables}:
            types = [way.variables[name] for way in ways if name in way.variables]
            found[name] = joined(types)
        for way in ways:
            way[:] = [
                made
                for name, before in way.variables.items()
                if (made := self._conversion(name, before, found[name])) is not None
            ]
        return found

    def _conversion(self, name: str, before: StaticType, after: StaticType) -> ast.stmt | None:
        value = Typed(before, ast.Name(name, ast.Load(), lineno=self._line, col_offset=0))
        made = self.converted(value, after)
        if made is value.node:
            return None
        return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], made), value.node)

    _line = 1

    def _way(self) -> list[Way]:
        """Return the way that goes on from here, if one does."""
        return [Way(self.variables)] if self.reachable else []

    def _go_on(self, ways: Sequence[Way]) -> None:
        self.reachable = bool(ways)
        if ways:
            self.variables = self.meet(ways)

    def _If(self, node: ast.If) -> ast.stmt | list[Any]:
        taken = self.decided(node.test)
        if taken is not None:
            return self.block(node.body if taken else node.orelse) or [ast.copy_location(ast.Pass(), node)]
        self._line = node.lineno
        test = self.expression(node.test).node
        before = dict(self.variables)
        body = self.block(node.body)
        ways = self._way()
        body += ways
        self.variables, self.reachable = before, True
        orelse = self.block(node.orelse)
        others = self._way()
        orelse += others
        self._line = node.lineno
        self._go_on([*ways, *others])
        return ast.copy_location(ast.If(test, body, orelse), node)

    def _Break(self, node: ast.Break) -> list[Any]:
        way = Way(self.variables)
        self.loops[-1].leaving.append(way)
        self.reachable = False
        return [way, node]

    def _Continue(self, node: ast.Continue) -> list[Any]:
        way = Way(self.variables)
        self.loops[-1].again.append(way)
        self.reachable = False
        return [way, node]

    def _While(self, node: ast.While) -> list[Any]:
        def head() -> ast.expr:
            return self.expression(node.test).node

        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return self._loop(
            node, head, lambda test, body, orelse: ast.While(test, body, orelse), endless=endless
        )

    def _For(self, node: ast.For) -> list[Any]:
        iterated = self._iterated(node.iter)

        def head() -> ast.expr:
            return self.target(node.target, iterated.type)

        def made(target: ast.expr, body: list[Any], orelse: list[Any]) -> ast.stmt:
            return ast.For(target, iterated.node, body, orelse, None)

        return self._loop(node, head, made)

    def _iterated(self, node: ast.expr) -> Typed:
        """Return what a loop goes over, and what is known of each round's value."""
        found = self.expression(node)
        if not isinstance(node, ast.Call) or node.keywords:
            return Typed(self.given_by(found.type), found.node)
        function = self.expression(node.func).type
        parts = [self.given_by(self.expression(argument).type) for argument in node.args]
        if function == Known(enumerate) and parts:
            return Typed(TupleOf((integer(0, 1 << 40), parts[0])), found.node)
        if function == Known(zip):
            return Typed(TupleOf(tuple(parts)), found.node)
        return Typed(self.given_by(found.type), found.node)

    def _loop(self, node: ast.For | ast.While, head: Any, made: Any, *, endless: bool = False) -> list[Any]:
        """Return a loop whose variables have types that hold in every round."""
        assigned = _assigned(node)
        entry = Way(self.variables)
        start = {n: widened(t) if n in assigned else t for n, t in self.variables.items()}
        returned = len(self.returned)
        for _ in range(MOST_ROUNDS):
            del self.returned[returned:]
            self.variables, self.reachable = dict(start), True
            loop = Loop()
            self.loops.append(loop)
            test = head()
            # A `for` that ends leaves its variable as the round before did; a `while` has evaluated its condition.
            after = dict(self.variables) if isinstance(node, ast.While) else dict(start)
            body = self.block(node.body)
            last = self._way()
            body += last
            self.loops.pop()
            self._line = node.lineno
            met = self.meet([entry, *loop.again, *last])
            settled = {n: widened(t) if n in assigned else t for n, t in met.items()}
            new = {n: t for n, t in settled.items() if n in start}
            if new == start:
                break
            start = new | {n: t for n, t in settled.items() if n not in start and n in entry.variables}
        else:
            raise NotTyped("a loop whose types don't settle")
        self.variables, self.reachable = {**settled, **after}, not endless
        orelse = self.block(node.orelse)
        ways = self._way()
        orelse += ways
        self._line = node.lineno
        self._go_on([*ways, *loop.leaving])
        return [entry, ast.copy_location(made(test, body, orelse), node)]

    def _With(self, node: ast.With) -> ast.stmt:
        for part in node.items:
            if part.optional_vars is not None:
                self.target(part.optional_vars, None)
        return ast.copy_location(ast.With(node.items, self.block(node.body), None), node)

    def _Try(self, node: ast.Try) -> ast.stmt:
        """A thread may come to a handler from anywhere: of what is assigned in the body, nothing is known there."""
        before = {n: None if n in _assigned(node) else t for n, t in self.variables.items()}
        self.variables = dict(before)
        parts: list[list[Any]] = [self.block(node.body)]
        handlers = []
        for handler in node.handlers:
            self.variables, self.reachable = dict(before), True
            body = self.block(handler.body)
            handlers.append(ast.copy_location(ast.ExceptHandler(handler.type, handler.name, body), handler))
        for rest in (node.orelse, node.finalbody):
            self.variables, self.reachable = dict(before), True
            parts.append(self.block(rest))
        self.variables, self.reachable = dict(before), True
        return ast.copy_location(ast.Try(parts[0], handlers, parts[1], parts[2]), node)


def _local(name: str, where: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), where)


def _bare(argument: ast.arg) -> ast.arg:
    return ast.copy_location(ast.arg(argument.arg), argument)


def _assigned(node: ast.AST) -> set[str]:
    """Return the names that are assigned to in a statement."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _flat(statements: Sequence[Any]) -> list[ast.stmt]:
    """Return statements with those of ways in their places; a block of none gets a `pass`."""
    found: list[ast.stmt] = []
    for statement in statements:
        if isinstance(statement, Way):
            found += statement
            continue
        for name in ("body", "orelse", "finalbody"):
            if isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try) and hasattr(
                statement, name
            ):
                inner = _flat(getattr(statement, name))
                setattr(
                    statement, name, inner or [ast.copy_location(ast.Pass(), statement)] * (name == "body")
                )
        for handler in getattr(statement, "handlers", ()):
            handler.body = _flat(handler.body) or [ast.copy_location(ast.Pass(), statement)]
        found.append(statement)
    return found
