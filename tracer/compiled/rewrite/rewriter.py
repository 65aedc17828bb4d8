"""From a kernel's tree to that of a function that records: its accesses and barriers become calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ...model.trace import NEVER_REDUCED, Op
from ...model.user_code import user_code_for
from .ast_positions import located, loop_position, move, parsed, parsed_statement
from .cuda_names import NOTHING, UPDATES
from .expressions import ExpressionRewriter
from .gpu_names import OPERATORS
from .late import decides_more
from .program import RecordingProgram
from .scope import DTYPE, CudaPath, NotKnown, Scope, source_of
from .writer import NUMBER, STATE, TOLD, Writer

SHORT = 1 << 16  # rounds of a loop that is over soon


def rewritten(
    function: FunctionType,
    dtypes: Mapping[str, np.dtype[Any]],
    *,
    debug: bool = False,
    late: frozenset[str] = frozenset(),
) -> RecordingProgram:
    """Return the program of a kernel; `dtypes` are those of its arguments that are arrays. Raises NotCompilable.

    debug: as given to @cuda.jit. late: constants of modules of which the program may be the same whatever their
    values are; none is where one of them decides more than values.
    """
    program = RecordingProgram(user_code_for(function.__code__.co_filename), late, debug=debug)
    source = source_of(function)
    known = {name + DTYPE: dtype for name, dtype in dtypes.items()}
    program.functions.append(Rewriter(program, source, known).kernel())
    if late and decides_more(program):
        return rewritten(function, dtypes, debug=debug)
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
        if arguments.kwarg or arguments.kwonlyargs:
            self.refuse(tree, "arguments with ** or by name alone")
        known, values = self.scope.known, self.source.function.__defaults__ or ()
        defaults = dict(
            zip([a.arg for a in arguments.args][len(arguments.args) - len(values) :], values, strict=True)
        )
        arguments.args = [ast.arg(STATE), *(ast.arg(a.arg) for a in arguments.args if a.arg not in known)]
        arguments.defaults = [self._default(tree, v) for n, v in defaults.items() if n not in known]
        self.program.files[name] = self.source.file
        body = self.block(tree.body)
        if name in self.program.recursive:
            deep = self.call("_ts_go_deeper", [ast.Constant(self.source.function.__name__)], tree)
            body.insert(0, located(ast.Expr(deep), tree))
        body[:0] = [self._told(name, tree) for name in self.scope.told]
        if self._calls_none(body):
            body.insert(0, located(ast.Expr(self.call("_ts_keep_row", [], tree)), tree))
        made = ast.FunctionDef(name, arguments, body, [], None, None)
        return located(ast.fix_missing_locations(ast.copy_location(made, tree)), tree)  # type: ignore[no-any-return]

    def _told(self, name: str, where: ast.AST) -> ast.stmt:
        value = self.call(name.replace(TOLD, NUMBER), [], where)
        return located(ast.Assign([ast.Name(name, ast.Store())], value), where)  # type: ignore[no-any-return]

    def _calls_none(self, body: list[ast.stmt]) -> bool:
        """Return whether a body calls no function that has been rewritten, and has none in it."""
        names = self.program.devices.values()
        nodes = [node for statement in body for node in ast.walk(statement)]
        called = any(isinstance(node, ast.Name) and node.id in names for node in nodes)
        return not called and not any(isinstance(node, ast.FunctionDef | ast.Lambda) for node in nodes)

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

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """A function in a kernel, which Numba writes out where it is called."""
        if node.decorator_list:
            self.refuse(node, f"a function in a kernel with @{ast.unparse(node.decorator_list[0])}")
        with self.inside(node):
            made: Any = ast.FunctionDef(node.name, node.args, self.block(node.body), [], None, None)
        return located(made, node)

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
                kind = Op.ATOMIC if path.removeprefix("atomic.") in NEVER_REDUCED else Op.REDUCTION
                return located(ast.Expr(self.update(path, node.value, kind)), node)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        targets, given = self._without_aliases(node)
        if not targets:
            return []
        for target in targets:
            _note_targets(target, given, self.targets)
        value, unpacked = self.visit(given), _may_be_an_array(given)
        several = any(isinstance(target, ast.Tuple | ast.List) for target in targets)
        is_nested = any(
            isinstance(part, ast.Tuple | ast.List) for t in targets for part in getattr(t, "elts", ())
        )
        if len(targets) == 1 and not _stores(targets[0]) and not (several and unpacked) and not is_nested:
            return located(ast.Assign([self.visit(targets[0])], value), node)
        if len(targets) > 1 or several:
            value = self.put(value)
        return [s for target in targets for s in self.assign(target, value, by_index=unpacked)]

    def _without_aliases(self, node: ast.Assign) -> tuple[list[ast.expr], ast.expr]:
        """Return the targets and the value of an assignment, without names that stand for what is known already."""
        targets: list[ast.expr] = []
        value = node.value
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(node.targets) == 1:
                pairs = [p for p in zip(target.elts, value.elts, strict=False) if not self._is_alias(p[0])]
                if len(pairs) < len(target.elts):
                    made: Any = ast.Tuple([t for t, _ in pairs], ast.Store())
                    value = ast.copy_location(ast.Tuple([v for _, v in pairs], ast.Load()), value)
                    target = ast.copy_location(made, target)
                    if not pairs:
                        continue
            if not self._is_alias(target):
                targets.append(target)
        return targets, value

    def _is_alias(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Name) and target.id in self.scope.aliases

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return []
        return self.visit_Assign(located(ast.Assign([node.target], node.value), node))

    def assign(self, target: ast.expr, value: ast.expr, *, by_index: bool = False) -> list[ast.stmt]:
        """Return the statements that assign to a target.

        by_index: whether the value is a variable whose parts several targets get by their numbers, as an array's are.
        """
        if isinstance(target, ast.Subscript):
            place = [self.visit(target.value), self.visit(target.slice)]
            call = self.call("_ts_store", [value, *place, self.site(target, Op.STORE, Op.LOAD)], target)
            return [located(ast.Expr(call), target)]
        if isinstance(target, ast.Tuple | ast.List):
            names = [ast.Name(self.program.temporary(), ast.Store()) for _ in target.elts]
            unpack = [located(ast.Assign([ast.Tuple(list(names), ast.Store())], value), target)]
            if by_index and not any(isinstance(t, ast.Starred) for t in target.elts):
                items = (ast.Constant(number) for number in range(len(names)))
                loads = [self.call("_ts_load", [value, i, self.site(target, Op.LOAD)], target) for i in items]
                unpack = [located(ast.Assign([n], v), target) for n, v in zip(names, loads, strict=True)]
            pairs = [
                (t, located(ast.Name(n.id, ast.Load()), target))
                for t, n in zip(target.elts, names, strict=True)
            ]
            return [*unpack, *(s for t, v in pairs for s in self.assign(t, v, by_index=True))]
        if isinstance(target, ast.Starred):
            self.refuse(target, "an assignment to a variable with *")
        if isinstance(target, ast.Attribute):
            place = [self.visit(target.value), ast.Constant(target.attr)]
            call = self.call("_ts_set_field", [value, *place, self.site(target, Op.STORE, Op.LOAD)], target)
            return [located(ast.Expr(call), target)]
        return [located(ast.Assign([self.visit(target)], value), target)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target = node.target
        if isinstance(target, ast.Name):
            if type(node.op) not in OPERATORS and not self.program.debug:
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
        if numbered is None and self._is_composed(node.iter):
            return self._composed_loop(node)
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

    def _is_composed(self, iterated: ast.expr) -> bool:
        """Return whether a loop goes over `zip` or `enumerate` of arrays, which Numba has no iterators of."""
        made = composed(self.scope, iterated)
        if made is None:
            return False
        parts = [
            n for n in ast.walk(iterated) if isinstance(n, ast.Call) and composed(self.scope, n) is not None
        ]
        leaves = [a for call in parts for a in elements_of(self.scope, call) if a not in parts]
        plain = all(isinstance(leaf, ast.Call) for leaf in leaves)  # ranges, which Numba has iterators of
        return not plain and all(is_indexed(self.scope, leaf) for leaf in leaves)

    def _composed_loop(self, node: ast.For) -> Any:
        """Return a loop over `zip` or `enumerate`, which takes an element of each part until one has none left."""
        if node.orelse:
            self.refuse(node, "a loop over zip or enumerate with else")
        place, body, first = self.program.temporary(), list[ast.stmt](), list[ast.Name]()
        values = self._element(node.iter, place, node, body, first)
        body += self.assign(node.target, values)
        before, self.before = self.before, []
        body += self.block(node.body)
        self.before = before
        target, iterated = (
            ast.Name(place, ast.Store()),
            parsed(f"_ts_range(_ts_len({first[0].id}) + 1)", node),
        )
        return located(ast.For(target, iterated, _with_tick(self, node, body), [], None), node)

    def _element(
        self, iterated: ast.expr, place: str, node: ast.For, body: list[ast.stmt], known: list[ast.Name]
    ) -> ast.expr:
        """Return the element at a place, which is taken in `body`; what it is taken from gets into `known`."""
        made = composed(self.scope, iterated)
        if made is not None:
            inner = elements_of(self.scope, iterated)
            parts = [self._element(part, place, node, body, known) for part in inner]
            if made is enumerate:
                more = iterated.args[1:]  # type: ignore[attr-defined]  # of a call
                start = self.put(self.visit(more[0])).id if more else "0"
                parts.insert(0, parsed(f"{place} + {start}" if more else place, node))
            return located(ast.Tuple(parts, ast.Load()), node)  # type: ignore[no-any-return]
        if isinstance(iterated, ast.Call):
            iterated.args = [self.put(self.visit(a)) for a in iterated.args]
        known.append(self.put(self.visit(iterated)))
        name, site = self.program.temporary(), self.site(loop_position(node), Op.LOAD)
        body.append(parsed_statement(f"if {place} >= _ts_len({known[-1].id}): break", node))
        item = self.call("_ts_load", [known[-1], ast.Name(place, ast.Load()), site], node)
        if isinstance(iterated, ast.Call):  # a range
            begin, _, step = (
                ["0", "0", "1"] if len(iterated.args) < 2 else [*map(ast.unparse, iterated.args), "1"][:3]
            )
            item = parsed(f"{begin} + {place} * {step}", node)
        body.append(located(ast.Assign([ast.Name(name, ast.Store())], item), node))
        return located(ast.Name(name, ast.Load()), node)  # type: ignore[no-any-return]

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
        if isinstance(element, ast.Tuple | ast.List):
            name = self.program.temporary()
            numbered.append(located(ast.Assign([ast.Name(name, ast.Store())], item), node))
            item = located(ast.Name(name, ast.Load()), node)
        return iterated, ast.Name(place, ast.Store()), [*numbered, *self.assign(element, item, by_index=True)]

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


def composed(scope: Scope, iterated: ast.expr) -> Any:
    """Return `zip` or `enumerate`, where a loop goes over a call of it; else None."""
    if not isinstance(iterated, ast.Call) or not iterated.args or iterated.keywords:
        return None
    try:
        value = scope.value(iterated.func)
    except NotKnown:
        return None
    return value if value is zip or value is enumerate else None


def elements_of(scope: Scope, call: ast.expr) -> list[ast.expr]:
    """Return what a call of `zip` or `enumerate` takes elements of."""
    assert isinstance(call, ast.Call)
    return call.args[:1] if composed(scope, call) is enumerate else call.args


def is_indexed(scope: Scope, iterated: ast.expr) -> bool:
    """Return whether the elements of what a loop goes over have numbers: arrays, tuples, ranges."""
    if not isinstance(iterated, ast.Call):
        return isinstance(iterated, ast.Name | ast.Attribute | ast.Subscript)
    try:
        return scope.value(iterated.func) is range
    except NotKnown:
        return False


def _may_be_an_array(value: ast.expr) -> bool:
    """Return whether an expression may give an array, of which Numba unpacks the elements."""
    if isinstance(value, ast.Attribute):
        return value.attr not in ("shape", "strides")
    return isinstance(value, ast.Name | ast.Subscript)


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
    number = len(writer.program.loops)
    rounds = (
        writer.number(("rounds", number), 1 + inner, loop) if writer.scope.told else ast.Constant(1 + inner)
    )
    counted: list[ast.expr] = [ast.Constant(number), rounds]
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
