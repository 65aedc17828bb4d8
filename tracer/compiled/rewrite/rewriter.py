"""From a kernel's tree to that of a function that records: its accesses and barriers become calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from ...model.trace import Op
from ...model.user_code import user_code_for
from .ast_positions import located, loop_position, move
from .cuda_names import NOTHING, UPDATES
from .expressions import ExpressionRewriter
from .gpu_names import OPERATORS
from .program import RecordingProgram
from .scope import CudaPath, NotKnown, source_of
from .writer import STATE, Writer

SHORT = 1 << 16  # rounds of a loop that is over soon


def rewritten(function: FunctionType) -> RecordingProgram:
    """Return the program of a kernel; raises NotCompilable."""
    program = RecordingProgram(user_code_for(function.__code__.co_filename))
    source = source_of(function)
    program.functions.append(Rewriter(program, source).kernel())
    return program


class Rewriter(ExpressionRewriter):
    """Rewrites one function: its statements, and itself."""

    # Functions

    def kernel(self) -> ast.FunctionDef:
        """Return the kernel."""
        return self._function(self.source.tree.name)

    def device(self, name: str) -> ast.FunctionDef:
        """Return a device function."""
        made = self._function(name)
        if self.caller is not None:  # what a library raises is told there too
            self.program.files[name] = self.caller.file
            move(made, self.caller.line)
        return made

    def _function(self, name: str) -> ast.FunctionDef:
        tree = self.source.tree
        arguments = tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            self.refuse(tree, "arguments with * or **")
        known, values = self.scope.known, self.source.function.__defaults__ or ()
        defaults = dict(
            zip([a.arg for a in arguments.args][len(arguments.args) - len(values) :], values, strict=True)
        )
        arguments.args = [ast.arg(STATE), *(ast.arg(a.arg) for a in arguments.args if a.arg not in known)]
        arguments.defaults = [self._default(tree, v) for n, v in defaults.items() if n not in known]
        self.program.files[name] = self.source.file
        made = ast.FunctionDef(name, arguments, self.block(tree.body), [], None, None)
        return located(ast.fix_missing_locations(ast.copy_location(made, tree)), tree)  # type: ignore[no-any-return]

    def _default(self, where: ast.AST, value: Any) -> ast.expr:
        return self.constant(value, "default", where)

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return statements rewritten."""
        outer, found = self.before, []
        for statement in statements:
            self.before = []
            made = self.visit(statement)
            found += self.before + (made if isinstance(made, list) else [made])
        self.before = outer
        return found or [ast.Pass()]

    # Statements

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Constant):
            return []
        if isinstance(node.value, ast.Call):
            try:
                path = self.scope.value(node.value.func)
            except NotKnown:
                path = ""
            if isinstance(path, CudaPath) and path in NOTHING:
                return []
            if isinstance(path, CudaPath) and path in UPDATES:
                return located(ast.Expr(self.update(path, node.value, Op.REDUCTION)), node)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        for target in node.targets:
            _note_targets(target, node.value, self.targets)
        value = self.visit(node.value)
        if len(node.targets) == 1 and not _stores(node.targets[0]):
            return located(ast.Assign([self.visit(node.targets[0])], value), node)
        if len(node.targets) > 1 or isinstance(node.targets[0], ast.Tuple | ast.List):
            value = self.put(value)
        return [s for target in node.targets for s in self.assign(target, value)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return []
        return self.visit_Assign(located(ast.Assign([node.target], node.value), node))

    def assign(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """Return the statements that assign to a target."""
        if isinstance(target, ast.Subscript):
            place = [self.visit(target.value), self.visit(target.slice)]
            call = self.call("_ts_store", [value, *place, self.site(target, Op.STORE, Op.LOAD)], target)
            return [located(ast.Expr(call), target)]
        if isinstance(target, ast.Tuple | ast.List):
            names = [ast.Name(self.program.temporary(), ast.Store()) for _ in target.elts]
            unpack = located(ast.Assign([ast.Tuple(list(names), ast.Store())], value), target)
            pairs = zip(target.elts, names, strict=True)
            parts = [s for t, n in pairs for s in self.assign(t, located(ast.Name(n.id, ast.Load()), target))]
            return [unpack, *parts]
        if isinstance(target, ast.Attribute):
            place = [self.visit(target.value), ast.Constant(target.attr)]
            call = self.call("_ts_set_field", [value, *place, self.site(target, Op.STORE, Op.LOAD)], target)
            return [located(ast.Expr(call), target)]
        return [located(ast.Assign([self.visit(target)], value), target)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target = node.target
        if isinstance(target, ast.Name):
            if type(node.op) not in OPERATORS:
                return located(ast.AugAssign(self.visit(target), node.op, self.visit(node.value)), node)
            old = self.visit(located(ast.Name(target.id, ast.Load()), target))
            made = self.operation(node.op, old, node.value, self.visit(node.value), node)
            return located(ast.Assign([self.visit(target)], made), node)
        array = self._once(self.visit(target.value))
        if isinstance(target, ast.Attribute):
            name, load = "_ts_set_field", self.field(array, target)
            index: ast.expr = ast.Constant(target.attr)
        else:
            name, index = "_ts_store", self._once(self.visit(target.slice))
            load = self.load(array, index, target)
        value = self.operation(node.op, load, node.value, self.visit(node.value), node)
        site = self.site(target, Op.STORE, Op.LOAD)
        return located(ast.Expr(self.call(name, [value, array, index, site], target)), node)

    def _once(self, value: ast.expr) -> ast.expr:
        """Return an expression that can stand twice, though the one given may access memory."""
        simple = all(
            isinstance(n, ast.Name | ast.Constant | ast.Tuple | ast.expr_context) for n in ast.walk(value)
        )
        return value if simple else self.put(value)

    def visit_For(self, node: ast.For) -> Any:
        numbered = self._enumerated(node)
        body: list[ast.stmt] = []
        if numbered is not None:
            iterated, target, body = self._elements(node, numbered, node.target.elts[0], node.target.elts[1])  # type: ignore[attr-defined]  # a tuple
        elif not isinstance(node.iter, ast.Call | ast.Tuple | ast.List):
            iterated, target, body = self._elements(node, node.iter, None, node.target)
        elif _stores(node.target):
            self.refuse(node, "a loop over the elements of an array as its variable")
        else:
            iterated, target = self.visit(node.iter), self.visit(node.target)
        before, self.before = self.before, []
        body += self.block(node.body)
        orelse = self.block(node.orelse) if node.orelse else []
        self.before = before
        return located(ast.For(target, iterated, _with_tick(self, node, body), orelse, None), node)

    def _enumerated(self, node: ast.For) -> ast.expr | None:
        """Return the array of `for i, x in enumerate(array)`, or None for another loop."""
        call, target = node.iter, node.target
        if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
            return None
        pair = isinstance(target, ast.Tuple | ast.List) and len(target.elts) == 2
        if not pair or isinstance(call.args[0], ast.Call | ast.Tuple | ast.List):
            return None
        try:
            return call.args[0] if self.scope.value(call.func) is enumerate else None
        except NotKnown:
            return None

    def _elements(
        self, node: ast.For, array: ast.expr, number: ast.expr | None, element: ast.expr
    ) -> tuple[ast.expr, ast.expr, list[ast.stmt]]:
        """Return what a loop over the elements of an array iterates over, its variable, and how it begins."""
        known = self.put(self.visit(array))
        length = located(ast.Call(ast.Name("_ts_len", ast.Load()), [known], []), node)
        iterated = located(ast.Call(ast.Name("_ts_range", ast.Load()), [length], []), node)
        place = self.program.temporary()
        site = self.site(loop_position(node), Op.LOAD)
        item = self.call("_ts_load", [known, ast.Name(place, ast.Load()), site], node)
        numbered = self.assign(number, located(ast.Name(place, ast.Load()), node)) if number else []
        return iterated, ast.Name(place, ast.Store()), [*numbered, *self.assign(element, item)]

    def visit_While(self, node: ast.While) -> Any:
        test, body = self.visit(node.test), _with_tick(self, node, self.block(node.body))
        return located(ast.While(test, body, self.block(node.orelse) if node.orelse else []), node)

    def visit_If(self, node: ast.If) -> Any:
        test = self.visit(node.test)
        return located(
            ast.If(test, self.block(node.body), self.block(node.orelse) if node.orelse else []), node
        )

    def visit_Return(self, node: ast.Return) -> Any:
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            return located(ast.Return(None), node)
        return located(ast.Return(node.value and self.visit(node.value)), node)


def _stores(target: ast.expr) -> bool:
    """Return whether an assignment's target has an element of an array in it."""
    return any(isinstance(n, ast.Subscript | ast.Attribute | ast.Starred) for n in ast.walk(target))


def _note_targets(target: ast.expr, value: ast.expr, found: dict[int, str]) -> None:
    """Note which variable each expression of an assignment is for."""
    if isinstance(target, ast.Name):
        found[id(value)] = target.id
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for t, v in zip(target.elts, value.elts, strict=False):
            _note_targets(t, v, found)


def _with_tick(writer: Writer, loop: ast.For | ast.While, body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the body of a loop, which first counts a round if there may be many."""
    inner = sum(_uncounted(writer, node) for node in loop.body)
    if isinstance(loop, ast.For) and _rounds(writer, loop.iter) * max(1, inner) <= SHORT:
        return body
    writer.program.loops.append((writer.source.file, loop.lineno))
    counted: list[ast.expr] = [ast.Constant(len(writer.program.loops)), ast.Constant(1 + inner)]
    return [located(ast.Expr(writer.call("_ts_tick", counted, loop)), loop), *body]


def _uncounted(writer: Writer, node: ast.AST) -> int:
    """Return how many rounds at most the loops in a statement make that are not counted, each of them once."""
    inner = sum(_uncounted(writer, child) for child in ast.iter_child_nodes(node))
    if not isinstance(node, ast.For):
        return inner
    rounds = _rounds(writer, node.iter) * max(1, inner)
    return rounds if rounds <= SHORT else 0


def _rounds(writer: Writer, iterated: ast.expr) -> int:
    """Return how many rounds a loop over this makes at most, more than SHORT where that is not known.

    One over the elements of an array makes an access in each, and is taken for short.
    """
    if not isinstance(iterated, ast.Call):
        return 1
    try:
        return max((abs(int(writer.scope.static(argument))) for argument in iterated.args), default=0)
    except (NotKnown, TypeError, ValueError):  # what it goes over may be a global array
        return SHORT + 1
