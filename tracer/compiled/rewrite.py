"""From a kernel's tree to that of a generator: accesses become calls, barriers become `yield`."""

from __future__ import annotations

import ast
import copy
import dis
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from ..trace import Op, Site
from .constants import constant
from .cudanames import CALLS, EXPRESSIONS, FUNCTIONS, NOTHING, UPDATES
from .declarations import declaration
from .inline import inlined
from .linear import flat
from .names import CudaPath, Names, NotCompilable, Source, Unknown, source_of
from .program import Program
from .stops import STOPS, stop

STATE = "_ts_state"


def rewritten(function: FunctionType) -> Program:
    """Return the program of a kernel; raises NotCompilable."""
    program = Program()
    source = source_of(function)
    program.functions.append(Rewriter(program, source).kernel())
    return program


def parsed(text: str, where: ast.AST) -> Any:
    """Return the tree of an expression, at the place of another in the source."""
    tree = ast.parse(text, mode="eval").body
    for node in ast.walk(tree):
        ast.copy_location(node, where)
    return tree


def parsed_call(name: str, arguments: list[ast.expr], where: ast.AST) -> ast.expr:
    """Return a call, at the place of something else in the source."""
    return _located(ast.Call(ast.Name(name, ast.Load()), arguments, []), where)  # type: ignore[no-any-return]


class Rewriter(ast.NodeTransformer):
    """Rewrites one function. `before` holds the statements that come before the one being rewritten."""

    def __init__(
        self, program: Program, source: Source, prefix: str = "", stack: tuple[FunctionType, ...] = ()
    ) -> None:
        self.program, self.source, self.prefix = program, source, prefix
        self.stack = (*stack, source.function)
        self.names = Names(source)
        self.before: list[ast.stmt] = []
        self.targets: dict[int, str] = {}

    # Functions

    def kernel(self) -> ast.FunctionDef:
        """Return the kernel as a generator."""
        made = self._function(self.source.tree.name)
        if not any(isinstance(node, ast.Yield) for node in ast.walk(made)):
            never = f"if {STATE} == 0:\n    yield 0"
            made.body.insert(0, _located(ast.parse(never).body[0], made))
        return made

    def device(self, name: str) -> ast.FunctionDef:
        """Return a device function that holds no barrier."""
        return self._function(name)

    def _function(self, name: str) -> ast.FunctionDef:
        tree = copy.deepcopy(self.source.tree)
        arguments = tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            self.refuse(tree, "arguments with * or **")
        arguments.args.insert(0, ast.arg(STATE))
        arguments.defaults = [self._default(tree, v) for v in self.source.function.__defaults__ or ()]
        for argument in arguments.args:
            argument.annotation = None
        self.program.files[name] = self.source.file
        made = ast.FunctionDef(name, arguments, self.block(tree.body), [], None, None)
        return _located(ast.fix_missing_locations(ast.copy_location(made, tree)), tree)  # type: ignore[no-any-return]

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

    def within(self, function: FunctionType) -> Rewriter:
        """Return what rewrites a function that is written out where this one calls it."""
        return Rewriter(self.program, source_of(function), self.program.temporary() + "_", self.stack)

    def renamed(self, name: str) -> str:
        """Return what a variable of this function is called in the rewritten one."""
        return self.prefix + name if name in self.names.locals else name

    # Where threads stop

    def _stop(self, node: ast.AST) -> Any:
        """Return the path under `cuda`, or the device function, by which a call makes threads stop; else None."""
        if not isinstance(node, ast.Call):
            return None
        try:
            value = self.names.value(node.func)
        except Unknown:
            return None
        if isinstance(value, CudaPath):
            return value if value in STOPS else None
        function = getattr(value, "py_func", None)
        return function if function is not None and self._function_stops(function) else None

    def _function_stops(self, function: FunctionType) -> bool:
        known = self.program.stopping
        if function not in known:
            known[function] = False  # while looking, so that a function that calls itself is looked at once
            source = source_of(function)
            known[function] = Rewriter(self.program, source).stops(source.tree)
        return known[function]

    def stops(self, node: ast.AST) -> bool:
        """Return whether a thread may stop in a piece of code."""
        return any(self._stop(part) is not None for part in ast.walk(node))

    def stopping_call(self, node: ast.Call, arguments: list[ast.expr], keywords: dict[str, ast.expr]) -> ast.expr:
        """Return the value of a call whose arguments are given; threads stop in them, or in the call itself."""
        found = self._stop(node)
        if isinstance(found, CudaPath):
            return stop(self, found, arguments, node)
        if found is not None:
            return inlined(self, found, node, arguments, keywords)
        names = [ast.keyword(k, v) for k, v in keywords.items()]
        shell = _located(ast.Call(node.func, [], []), node)
        made = self.visit(shell)
        made.args, made.keywords = [*made.args, *arguments], [*made.keywords, *names]
        return self.put(_located(made, node))

    def expression(self, node: ast.expr) -> ast.expr:
        """Return an expression rewritten; what must come before it is written."""
        return flat(self, node) if self.stops(node) else self.visit(node)

    def write(self, statement: ast.stmt, where: ast.AST) -> None:
        """Write a statement before the one being rewritten."""
        self.before.append(_located(statement, where))

    # Where things are

    def refuse(self, node: ast.AST, what: str) -> Any:
        """Raise NotCompilable for a construct."""
        raise NotCompilable(f"line {getattr(node, 'lineno', self.source.tree.lineno)}: {what}.")

    def site(self, node: ast.expr | ast.For, kind: int, *others: int) -> ast.expr:
        """Return the number of the site of an expression."""
        line, offset = _position(node)
        name = self.source.function.__code__.co_name
        site = Site(name, self.source.file, line, self.source.column(line, offset))
        return ast.copy_location(ast.Constant(self.program.site(site, kind, *others)), node)

    def call(self, name: str, arguments: list[ast.expr], where: ast.AST) -> ast.expr:
        """Return a call of a function that takes the state."""
        made = ast.Call(ast.Name(name, ast.Load()), [ast.Name(STATE, ast.Load()), *arguments], [])
        return _located(made, where)  # type: ignore[no-any-return]

    def constant(self, value: Any, stem: str, where: ast.AST) -> ast.expr:
        """Return an expression with a value known at launch."""
        made = constant(self.program, value, stem)
        if made is None:
            self.refuse(where, f"{stem} is {type(value).__name__}, which can't be compiled")
        return _located(made, where)  # type: ignore[no-any-return]

    def put(self, value: ast.expr) -> ast.Name:
        """Assign a value to a new variable, before the statement being rewritten."""
        name = self.program.temporary()
        target = ast.Name(name, ast.Store())
        self.before.append(_located(ast.Assign([target], value), value))
        return _located(ast.Name(name, ast.Load()), value)  # type: ignore[no-any-return]

    # Expressions

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802
        if node.id in self.names.locals:
            return ast.copy_location(ast.Name(self.renamed(node.id), node.ctx), node)
        return self._known(node, node.id) or node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:  # noqa: N802
        known = self._known(node, node.attr)
        if known is None:
            return self.generic_visit(node)  # type: ignore[return-value]
        return known

    def _known(self, node: ast.expr, stem: str) -> ast.expr | None:
        try:
            value = self.names.value(node)
        except Unknown:
            return None
        if isinstance(value, CudaPath):
            if value in EXPRESSIONS:
                return parsed(EXPRESSIONS[value], node)  # type: ignore[no-any-return]
            self.refuse(node, f"cuda.{value}")
        return self.constant(value, stem, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:  # noqa: N802
        plain = isinstance(node.value, ast.Attribute) and node.value.attr in ("shape", "strides")
        if plain:
            return self.generic_visit(node)  # type: ignore[return-value]
        return self.load(self.visit(node.value), self.visit(node.slice), node)

    def load(self, array: ast.expr, index: ast.expr, node: ast.expr) -> ast.expr:
        """Return the call that loads an element."""
        return self.call("_ts_load", [array, index, self.site(node, Op.LOAD)], node)

    def visit_Call(self, node: ast.Call) -> ast.expr:  # noqa: N802
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.refuse(node, "arguments with * or **")
        try:
            value = self.names.value(node.func)
        except Unknown:
            return self._method(node) or self.generic_visit(node)
        if isinstance(value, CudaPath):
            return self._cuda_call(value, node)
        if hasattr(value, "py_func"):
            return self._device_call(value.py_func, node)
        return self.generic_visit(node)  # type: ignore[return-value]

    def _method(self, node: ast.Call) -> ast.expr | None:
        """Return the call of what a method of an array is in compiled code; None for another method."""
        if not isinstance(node.func, ast.Attribute) or node.keywords:
            return None
        array, arguments = self.visit(node.func.value), [self.visit(a) for a in node.args]
        name, count = node.func.attr, len(arguments)
        if name == "transpose" and not count:
            return parsed_call("_ts_turned", [array], node)
        if name == "ravel" and not count:
            return parsed_call("_ts_reshape", [array, ast.Constant(-1)], node)
        if name == "reshape" and count:
            whole = arguments[0] if count == 1 else ast.Tuple(arguments, ast.Load())
            return parsed_call("_ts_reshape", [array, whole], node)
        if name == "view" and count == 1:
            return parsed_call("_ts_view", [array, *arguments], node)
        return None

    def _cuda_call(self, path: CudaPath, node: ast.Call) -> ast.expr:
        made = declaration(self, path, node)
        if made is not None:
            return made
        if path in ("grid", "gridsize"):
            return self._grid(path, node)
        if path in UPDATES:
            return self.update(path, node, Op.ATOMIC)
        if path in FUNCTIONS:
            return self._helper(path, node)
        if path in CALLS and not node.args:
            return parsed(CALLS[path], node)  # type: ignore[no-any-return]
        return self.refuse(node, f"cuda.{path}")  # type: ignore[no-any-return]

    def _helper(self, path: str, node: ast.Call) -> ast.expr:
        """Return the call of a function of `cuda` that computes."""
        return parsed_call(f"_ts_cuda_{path}", [self.visit(a) for a in node.args], node)

    def _grid(self, path: str, node: ast.Call) -> ast.expr:
        try:
            dimensions = self.names.static(node.args[0])
        except (Unknown, IndexError):
            self.refuse(node, f"cuda.{path} of a number that is not constant")
        if dimensions not in (1, 2, 3):
            self.refuse(node, f"cuda.{path} takes 1, 2 or 3, not {dimensions}")
        return parsed(EXPRESSIONS[f"{path}{dimensions}"], node)  # type: ignore[no-any-return]

    def update(self, path: str, node: ast.Call, kind: Op) -> ast.expr:
        """Return the call of an atomic operation."""
        name, values = UPDATES[path]
        arguments = [self.visit(a) for a in node.args]
        if node.keywords or len(arguments) != values:
            self.refuse(node, f"cuda.{path} with {len(arguments)} arguments")
        if path == "atomic.compare_and_swap":
            arguments.insert(1, ast.Constant(0))
        return self.call(name, [*arguments, self.site(node, kind)], node)

    def _device_call(self, function: FunctionType, node: ast.Call) -> ast.expr:
        if function not in self.program.devices:
            name = f"{function.__name__}_{len(self.program.devices)}"
            self.program.devices[function] = name
            made = Rewriter(self.program, source_of(function)).device(name)
            self.program.functions.append(made)
        call = self.call(self.program.devices[function], [self.visit(a) for a in node.args], node)
        assert isinstance(call, ast.Call)
        call.keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        return _located(call, node)  # type: ignore[no-any-return]

    # Statements

    def visit_Expr(self, node: ast.Expr) -> Any:  # noqa: N802
        if isinstance(node.value, ast.Constant):
            return []
        if self.stops(node.value):
            flat(self, node.value)
            return []
        if isinstance(node.value, ast.Call):
            try:
                path = self.names.value(node.value.func)
            except Unknown:
                path = ""
            if isinstance(path, CudaPath) and path in NOTHING:
                return []
            if isinstance(path, CudaPath) and path in UPDATES:
                return _located(ast.Expr(self.update(path, node.value, Op.REDUCTION)), node)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:  # noqa: N802
        for target in node.targets:
            _note_targets(target, node.value, self.targets)
        value = self.expression(node.value)
        if len(node.targets) == 1 and not _stores(node.targets[0]):
            return _located(ast.Assign([self.visit(node.targets[0])], value), node)
        if len(node.targets) > 1 or isinstance(node.targets[0], ast.Tuple | ast.List):
            value = self.put(value)
        return [s for target in node.targets for s in self.assign(target, value)]

    def assign(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """Return the statements that assign to a target."""
        if self.stops(target):
            self.refuse(target, "a barrier or warp operation in what is assigned to")
        if isinstance(target, ast.Subscript):
            place = [self.visit(target.value), self.visit(target.slice)]
            call = self.call("_ts_store", [value, *place, self.site(target, Op.STORE, Op.LOAD)], target)
            return [_located(ast.Expr(call), target)]
        if isinstance(target, ast.Tuple | ast.List):
            names = [ast.Name(self.program.temporary(), ast.Store()) for _ in target.elts]
            unpack = _located(ast.Assign([ast.Tuple(list(names), ast.Store())], value), target)
            pairs = zip(target.elts, names, strict=True)
            parts = [s for t, n in pairs for s in self.assign(t, _located(ast.Name(n.id, ast.Load()), target))]
            return [unpack, *parts]
        if not isinstance(target, ast.Name):
            self.refuse(target, "an assignment to an attribute")
        return [_located(ast.Assign([self.visit(target)], value), target)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:  # noqa: N802
        target = node.target
        if isinstance(target, ast.Name):
            return _located(ast.AugAssign(self.visit(target), node.op, self.expression(node.value)), node)
        if not isinstance(target, ast.Subscript):
            self.refuse(target, "an assignment to an attribute")
        array, index = (self._once(self.visit(part)) for part in (target.value, target.slice))
        load = self.call("_ts_load", [array, index, self.site(target, Op.LOAD)], target)
        load = self.put(load) if self.stops(node.value) else load
        value = _located(ast.BinOp(load, node.op, self.expression(node.value)), node)
        site = self.site(target, Op.STORE, Op.LOAD)
        return _located(ast.Expr(self.call("_ts_store", [value, array, index, site], target)), node)

    def _once(self, value: ast.expr) -> ast.expr:
        """Return an expression that can stand twice, though the one given may access memory."""
        simple = all(isinstance(n, ast.Name | ast.Constant | ast.Tuple | ast.expr_context) for n in ast.walk(value))
        return value if simple else self.put(value)

    def visit_For(self, node: ast.For) -> Any:  # noqa: N802
        steps = isinstance(node.iter, ast.Call | ast.Tuple | ast.List)
        target, iterated = node.target, self.expression(node.iter)
        body: list[ast.stmt] = []
        if not steps:
            array = self.put(iterated)
            length = _located(ast.Call(ast.Name("len", ast.Load()), [array], []), node)
            iterated = _located(ast.Call(ast.Name("range", ast.Load()), [length], []), node)
            place = ast.Name(self.program.temporary(), ast.Store())
            item = self.call("_ts_load", [array, ast.Name(place.id, ast.Load()), self.site(_looping(node), Op.LOAD)], node)
            body, target = self.assign(target, item), place
        elif _stores(target):
            self.refuse(node, "a loop over the elements of an array as its variable")
        else:
            target = self.visit(target)
        before, self.before = self.before, []
        body += self.block(node.body)
        orelse = self.block(node.orelse) if node.orelse else []
        self.before = before
        return _located(ast.For(target, iterated, body, orelse, None), node)

    def visit_While(self, node: ast.While) -> Any:  # noqa: N802
        if self.stops(node.test):
            return self._stopping_while(node)
        test = self.visit(node.test)
        return _located(ast.While(test, self.block(node.body), self.block(node.orelse) if node.orelse else []), node)

    def _stopping_while(self, node: ast.While) -> ast.stmt:
        """Return a loop that evaluates its condition, in which threads stop, in its body."""
        if node.orelse:
            self.refuse(node, "else of a loop in whose condition threads stop")
        leave = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
        body = [_located(leave, node.test), *node.body]
        return _located(ast.While(ast.Constant(True), self.block(body), []), node)  # type: ignore[no-any-return]

    def visit_If(self, node: ast.If) -> Any:  # noqa: N802
        test = self.expression(node.test)
        return _located(ast.If(test, self.block(node.body), self.block(node.orelse) if node.orelse else []), node)

    def visit_Return(self, node: ast.Return) -> Any:  # noqa: N802
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            return _located(ast.Return(None), node)
        return _located(ast.Return(node.value and self.expression(node.value)), node)

    def generic_visit(self, node: ast.AST) -> Any:
        """Rewrite what is in a node of a kind that may stay as it is."""
        if not isinstance(node, _STAYS):
            self.refuse(node, f"{_KINDS.get(type(node), type(node).__name__)} in a kernel")
        return super().generic_visit(node)


_KINDS: dict[type, str] = {
    ast.FunctionDef: "a function", ast.Lambda: "a lambda", ast.With: "with", ast.Try: "try", ast.ListComp: "a comprehension",
    ast.GeneratorExp: "a generator", ast.JoinedStr: "an f-string", ast.Dict: "a dictionary", ast.Import: "an import",
    ast.ImportFrom: "an import", ast.Delete: "del", ast.Global: "global", ast.Nonlocal: "nonlocal", ast.Set: "a set",
    ast.DictComp: "a comprehension", ast.SetComp: "a comprehension", ast.Match: "match", ast.NamedExpr: ":=",
}  # fmt: skip
_STAYS = (
    ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Constant, ast.Name, ast.Attribute, ast.Subscript,
    ast.Call, ast.keyword, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List, ast.Slice,
    ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Pass, ast.Break, ast.Continue,
)  # fmt: skip


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


def _of_loops() -> int:
    """Return the column of the instruction that takes the next element in `for x in y`."""
    code = compile("for x in y:\n    pass", "", "exec")
    places = [s.positions for s in dis.get_instructions(code) if s.opname == "FOR_ITER"]
    return places[0].col_offset or 0 if places and places[0] else 0


_LOOPS_AT_THEIR_START = _of_loops() == 0


def _looping(node: ast.For) -> ast.expr | ast.For:
    """Return where a loop loads the next element: versions of CPython differ."""
    return node if _LOOPS_AT_THEIR_START else node.iter


def _position(node: ast.expr | ast.For) -> tuple[int, int]:
    """Return the (line, byte offset) that CPython gives the instruction of an expression.

    A method called over several lines is where its name stands.
    """
    method = node.func if isinstance(node, ast.Call) else None
    if isinstance(method, ast.Attribute) and method.end_lineno != method.lineno:
        return method.end_lineno or 0, (method.end_col_offset or 0) - len(method.attr)
    return node.lineno, node.col_offset


def _located(made: Any, where: ast.AST) -> Any:
    """Give a new node, and what is new in it, a place in the source."""
    for node in ast.walk(made):
        if not hasattr(node, "lineno") and "lineno" in node._attributes:
            ast.copy_location(node, where)
    return made
