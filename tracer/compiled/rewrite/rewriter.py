"""Rewrite the tree of a kernel into that of a function that records: accesses and barriers become calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ...model.trace import NEVER_REDUCED, Op
from ...model.user_code import user_code_for
from . import rounds
from .ast_positions import loop_position, parse_expression, parse_statement, set_line, set_position
from .cuda_names import NOTHING, UPDATES
from .expressions import ExpressionRewriter
from .gpu_names import OPERATORS
from .launch_constants import needs_constants
from .program import RecordingProgram
from .round_bits import round_bits
from .rounds import Frame, LoopNames
from .scope import DTYPE, CudaPath, Scope, UnknownValueError, source_of
from .writer import READER_PREFIX, RUNTIME_PREFIX, STATE, Writer

SHORT = 1 << 16  # a loop with at most so many rounds counts as short


def rewrite_kernel(
    function: FunctionType,
    dtypes: Mapping[str, np.dtype[Any]],
    *,
    debug: bool = False,
    late: frozenset[str] = frozenset(),
    rounds_recorded: bool = True,
) -> RecordingProgram:
    """Rewrite a kernel into a program; `dtypes` are those of its array arguments. Raises NotCompilableError.

    debug: as given to @cuda.jit. late: names of module constants whose values the program need not contain. None is
    used if one of them decides more than values. rounds_recorded: record the rounds of loops where they are needed.
    """
    program = RecordingProgram(user_code_for(function.__code__.co_filename), late, debug=debug)
    program.round_bits = round_bits(function) if rounds_recorded else None
    source = source_of(function)
    constants = {name + DTYPE: dtype for name, dtype in dtypes.items()}
    program.functions.append(Rewriter(program, source, constants).kernel())
    if late and needs_constants(program):
        return rewrite_kernel(function, dtypes, debug=debug, rounds_recorded=rounds_recorded)
    return program


class Rewriter(ExpressionRewriter):
    """Rewrites one function: its statements, and the function itself."""

    is_device = False
    _frame_of_body: Frame | None = None  # of the loop that is being rewritten, until its body is

    # Functions

    def kernel(self) -> ast.FunctionDef:
        """Write the kernel."""
        bits = self.program.round_bits
        self.frame = rounds.kernel_frame(bits) if bits else None
        definition = self._function(self.source.tree.name)
        if bits:
            definition.body[:0] = rounds.begin_kernel(self.source.tree)
        return definition

    def device(self, name: str) -> ast.FunctionDef:
        """Write a device function."""
        bits = self.program.round_bits
        self.frame, self.is_device = rounds.device_frame(bits) if bits else None, True
        definition = self._function(name)
        if bits:
            where = self.source.tree
            definition.args.args[1:1] = [ast.arg(rounds.CALL), ast.arg(rounds.SHIFT)]
            definition.body = [
                *rounds.begin_device(bits, where), *definition.body, *rounds.end_device(where)
            ]  # fmt: skip
            ast.fix_missing_locations(definition)
        if self.caller is not None:  # errors in a library are reported at the caller's line
            self.program.files[name] = self.caller.file
            set_line(definition, self.caller.line)
        return definition

    def _function(self, name: str) -> ast.FunctionDef:
        tree = self.source.tree
        arguments = tree.args
        if arguments.kwarg or arguments.kwonlyargs:
            self.refuse(tree, "** or keyword-only arguments")
        constants, default_values = self.scope.constants, self.source.function.__defaults__ or ()
        defaults = dict(
            zip(
                [a.arg for a in arguments.args][len(arguments.args) - len(default_values) :],
                default_values,
                strict=True,
            )
        )
        arguments.args = [ast.arg(STATE), *(ast.arg(a.arg) for a in arguments.args if a.arg not in constants)]
        arguments.defaults = [self._default(tree, v) for n, v in defaults.items() if n not in constants]
        self.program.files[name] = self.source.file
        body = self.block(tree.body)
        if name in self.program.recursive:
            depth_check = self.call("_ts_go_deeper", [ast.Constant(self.source.function.__name__)], tree)
            body.insert(0, set_position(ast.Expr(depth_check), tree))
        body[:0] = [self._read_runtime_constant(name, tree) for name in self.scope.runtime_constants]
        if self._calls_no_function(body):
            body.insert(0, set_position(ast.Expr(self.call("_ts_keep_row", [], tree)), tree))
        definition = ast.FunctionDef(name, arguments, body, [], None, None)
        return set_position(ast.fix_missing_locations(ast.copy_location(definition, tree)), tree)  # type: ignore[no-any-return]

    def _read_runtime_constant(self, name: str, where: ast.AST) -> ast.stmt:
        value = self.call(name.replace(RUNTIME_PREFIX, READER_PREFIX), [], where)
        return set_position(ast.Assign([ast.Name(name, ast.Store())], value), where)  # type: ignore[no-any-return]

    def _calls_no_function(self, body: list[ast.stmt]) -> bool:
        """Check if a body calls no rewritten function, and contains no function."""
        names = self.program.devices.values()
        nodes = [node for statement in body for node in ast.walk(statement)]
        called = any(isinstance(node, ast.Name) and node.id in names for node in nodes)
        return not called and not any(isinstance(node, ast.FunctionDef | ast.Lambda) for node in nodes)

    def _default(self, where: ast.AST, value: Any) -> ast.expr:
        return self.constant(value, "default", where)

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements, each with the statements that come before it."""
        outer, rewritten_statements = self.before, []
        for statement in statements:
            self.before, has_loops = [], self.frame is not None and self._has_loops(statement)
            rewritten_statement = self.visit(statement)
            rewritten_statements += self.before + (
                rewritten_statement if isinstance(rewritten_statement, list) else [rewritten_statement]
            )
            if has_loops and self.frame is not None and self.program.round_bits is not None:
                rewritten_statements += rounds.end_statement(self.frame, self.program.round_bits, statement)
        self.before = outer
        return rewritten_statements or [ast.Pass()]

    def _has_loops(self, statement: ast.stmt) -> bool:
        """Check if a statement, after which others may run, contains loops or calls."""
        if isinstance(statement, ast.Return):
            return False
        return any(
            isinstance(node, ast.For | ast.While)
            or (isinstance(node, ast.Call) and self._is_device(node.func))
            for node in ast.walk(statement)
        )

    def _is_device(self, called: ast.expr) -> bool:
        try:
            return hasattr(self.scope.value(called), "py_func")
        except UnknownValueError:
            return False

    def _loop(self, node: ast.For | ast.While, make: Callable[[], ast.For | ast.While]) -> list[ast.stmt]:
        """Rewrite a loop with `make`; it counts its rounds if rows record them."""
        outer, bits = self.frame, self.program.round_bits
        if outer is None or bits is None:
            return [make()]
        names = LoopNames(*(self.program.temporary() for _ in LoopNames._fields))
        self._frame_of_body = rounds.loop_frame(names, outer, bits)
        loop = make()
        loop.body[:0] = rounds.begin_round(names, outer, bits, node)
        return [*rounds.begin_loop(names, node), loop]

    def _body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Rewrite the body of a loop."""
        outer = self.frame
        self.frame, self._frame_of_body = self._frame_of_body or outer, None
        body = self.block(statements)
        self.frame = outer
        return body

    # Statements

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Rewrite a function in a kernel, which Numba inlines into its callers."""
        if node.decorator_list:
            self.refuse(node, f"a function in a kernel with @{ast.unparse(node.decorator_list[0])}")
        with self.nested_scope(node):
            definition: Any = ast.FunctionDef(node.name, node.args, self.block(node.body), [], None, None)
        return set_position(definition, node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Constant):
            return []
        if isinstance(node.value, ast.Call):
            try:
                path = self.scope.value(node.value.func)
            except UnknownValueError:
                path = ""
            if isinstance(path, CudaPath) and path in NOTHING:
                return []
            if isinstance(path, CudaPath) and path in UPDATES:
                kind = Op.ATOMIC if path.removeprefix("atomic.") in NEVER_REDUCED else Op.REDUCTION
                return set_position(ast.Expr(self.update(path, node.value, kind)), node)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        targets, source_value = self._without_aliases(node)
        if not targets:
            return []
        for target in targets:
            _note_target_names(target, source_value, self.targets)
        value, may_unpack_array = self.visit(source_value), _may_be_an_array(source_value)
        has_sequence_target = any(isinstance(target, ast.Tuple | ast.List) for target in targets)
        is_nested = any(
            isinstance(part, ast.Tuple | ast.List) for t in targets for part in getattr(t, "elts", ())
        )
        if (
            len(targets) == 1
            and not _has_stores(targets[0])
            and not (has_sequence_target and may_unpack_array)
            and not is_nested
        ):
            return set_position(ast.Assign([self.visit(targets[0])], value), node)
        if len(targets) > 1 or has_sequence_target:
            value = self.assign_temporary(value)
        return [s for target in targets for s in self.assign(target, value, by_index=may_unpack_array)]

    def _without_aliases(self, node: ast.Assign) -> tuple[list[ast.expr], ast.expr]:
        """List the targets and the value of an assignment, without names that are aliases of constants."""
        targets: list[ast.expr] = []
        value = node.value
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(node.targets) == 1:
                pairs = [p for p in zip(target.elts, value.elts, strict=False) if not self._is_alias(p[0])]
                if len(pairs) < len(target.elts):
                    kept_targets: Any = ast.Tuple([t for t, _ in pairs], ast.Store())
                    value = ast.copy_location(ast.Tuple([v for _, v in pairs], ast.Load()), value)
                    target = ast.copy_location(kept_targets, target)
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
        return self.visit_Assign(set_position(ast.Assign([node.target], node.value), node))

    def assign(self, target: ast.expr, value: ast.expr, *, by_index: bool = False) -> list[ast.stmt]:
        """Return the statements that assign to a target.

        by_index: whether the value is a variable whose parts several targets get by index, as those of an array.
        """
        if isinstance(target, ast.Subscript):
            destination = [self.visit(target.value), self.visit(target.slice)]
            call = self.call("_ts_store", [value, *destination, self.site(target, Op.STORE, Op.LOAD)], target)
            return [set_position(ast.Expr(call), target)]
        if isinstance(target, ast.Tuple | ast.List):
            names = [ast.Name(self.program.temporary(), ast.Store()) for _ in target.elts]
            unpack = [set_position(ast.Assign([ast.Tuple(list(names), ast.Store())], value), target)]
            if by_index and not any(isinstance(t, ast.Starred) for t in target.elts):
                items = (ast.Constant(number) for number in range(len(names)))
                loads = [self.call("_ts_load", [value, i, self.site(target, Op.LOAD)], target) for i in items]
                unpack = [set_position(ast.Assign([n], v), target) for n, v in zip(names, loads, strict=True)]
            pairs = [
                (t, set_position(ast.Name(n.id, ast.Load()), target))
                for t, n in zip(target.elts, names, strict=True)
            ]
            return [*unpack, *(s for t, v in pairs for s in self.assign(t, v, by_index=True))]
        if isinstance(target, ast.Starred):
            self.refuse(target, "an assignment to a variable with *")
        if isinstance(target, ast.Attribute):
            destination = [self.visit(target.value), ast.Constant(target.attr)]
            call = self.call(
                "_ts_set_field", [value, *destination, self.site(target, Op.STORE, Op.LOAD)], target
            )
            return [set_position(ast.Expr(call), target)]
        return [set_position(ast.Assign([self.visit(target)], value), target)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target = node.target
        if isinstance(target, ast.Name):
            if type(node.op) not in OPERATORS and not self.program.debug:
                return set_position(ast.AugAssign(self.visit(target), node.op, self.visit(node.value)), node)
            old = self.visit(set_position(ast.Name(target.id, ast.Load()), target))
            result = self.operation(node.op, old, node.value, self.visit(node.value), node)
            return set_position(ast.Assign([self.visit(target)], result), node)
        array = self._make_reusable(self.visit(target.value))
        if isinstance(target, ast.Attribute):
            name, load = "_ts_set_field", self.field(array, target)
            index: ast.expr = ast.Constant(target.attr)
        else:
            name, index = "_ts_store", self._make_reusable(self.visit(target.slice))
            load = self.load(array, index, target)
        value = self.operation(node.op, load, node.value, self.visit(node.value), node)
        site = self.site(target, Op.STORE, Op.LOAD)
        return set_position(ast.Expr(self.call(name, [value, array, index, site], target)), node)

    def _make_reusable(self, value: ast.expr) -> ast.expr:
        """Return an expression that can be used twice, even if the given one accesses memory."""
        simple = all(
            isinstance(n, ast.Name | ast.Constant | ast.Tuple | ast.expr_context) for n in ast.walk(value)
        )
        return value if simple else self.assign_temporary(value)

    def visit_For(self, node: ast.For) -> Any:
        return self._loop(node, lambda: self._for(node))

    def _for(self, node: ast.For) -> Any:
        enumerated = self._enumerated_array(node)
        body: list[ast.stmt] = []
        if enumerated is None and self._is_composed(node.iter):
            return self._rewrite_composed_loop(node)
        if enumerated is not None:
            assert isinstance(node.target, ast.Tuple | ast.List)
            index, element = node.target.elts
            iterated, target, body = self._element_loop(node, enumerated, index, element)
        elif not isinstance(node.iter, ast.Call | ast.Tuple | ast.List):
            iterated, target, body = self._element_loop(node, node.iter, None, node.target)
        elif _has_stores(node.target):
            self.refuse(node, "a loop whose variable is an element of an array")
        else:
            iterated, target = self.visit(node.iter), self.visit(node.target)
        before, self.before = self.before, []
        body += self._body(node.body)
        orelse = self.block(node.orelse) if node.orelse else []
        self.before = before
        return set_position(ast.For(target, iterated, _with_tick(self, node, body), orelse, None), node)

    def _enumerated_array(self, node: ast.For) -> ast.expr | None:
        """Return the array of `for i, x in enumerate(array)`; None for another loop."""
        call, target = node.iter, node.target
        if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
            return None
        pair = isinstance(target, ast.Tuple | ast.List) and len(target.elts) == 2
        if not pair or isinstance(call.args[0], ast.Call | ast.Tuple | ast.List):
            return None
        try:
            return call.args[0] if self.scope.value(call.func) is enumerate else None
        except UnknownValueError:
            return None

    def _is_composed(self, iterated: ast.expr) -> bool:
        """Check if a loop iterates over `zip` or `enumerate` of arrays, for which Numba has no iterators."""
        iterator = iterator_of(self.scope, iterated)
        if iterator is None:
            return False
        parts = [
            n
            for n in ast.walk(iterated)
            if isinstance(n, ast.Call) and iterator_of(self.scope, n) is not None
        ]
        leaves = [a for call in parts for a in composed_parts(self.scope, call) if a not in parts]
        only_ranges = all(isinstance(leaf, ast.Call) for leaf in leaves)  # Numba has iterators for these
        return not only_ranges and all(is_indexed(self.scope, leaf) for leaf in leaves)

    def _rewrite_composed_loop(self, node: ast.For) -> Any:
        """Rewrite a loop over `zip` or `enumerate` to take an element of each part until one is exhausted."""
        if node.orelse:
            self.refuse(node, "a loop over zip or enumerate with else")
        index, loads, sources = self.program.temporary(), list[ast.stmt](), list[ast.Name]()
        values = self._composed_element(node.iter, index, node, loads, sources)
        ends = [  # before the loads: a compiler drops those of a round that is not complete
            parse_statement(f"if {index} >= _ts_len({source.id}): break", node) for source in sources[1:]
        ]
        body = [*ends, *loads, *self.assign(node.target, values)]
        before, self.before = self.before, []
        body += self._body(node.body)
        self.before = before
        target, iterated = (
            ast.Name(index, ast.Store()),
            parse_expression(f"_ts_range(_ts_len({sources[0].id}))", node),
        )
        return set_position(ast.For(target, iterated, _with_tick(self, node, body), [], None), node)

    def _composed_element(
        self, iterated: ast.expr, index: str, node: ast.For, loads: list[ast.stmt], sources: list[ast.Name]
    ) -> ast.expr:
        """Return the element at an index; append its load to `loads`, and its source to `sources`."""
        iterator = iterator_of(self.scope, iterated)
        if iterator is not None:
            inner = composed_parts(self.scope, iterated)
            parts = [self._composed_element(part, index, node, loads, sources) for part in inner]
            if iterator is enumerate:
                start_argument = iterated.args[1:]  # type: ignore[attr-defined]  # of a call
                start = self.assign_temporary(self.visit(start_argument[0])).id if start_argument else "0"
                parts.insert(0, parse_expression(f"{index} + {start}" if start_argument else index, node))
            return set_position(ast.Tuple(parts, ast.Load()), node)  # type: ignore[no-any-return]
        if isinstance(iterated, ast.Call):
            iterated.args = [self.assign_temporary(self.visit(a)) for a in iterated.args]
        sources.append(self.assign_temporary(self.visit(iterated)))
        name, site = self.program.temporary(), self.site(loop_position(node), Op.LOAD)
        item = self.call("_ts_load", [sources[-1], ast.Name(index, ast.Load()), site], node)
        if isinstance(iterated, ast.Call):  # a range
            begin, _, step = (
                ["0", "0", "1"] if len(iterated.args) < 2 else [*map(ast.unparse, iterated.args), "1"][:3]
            )
            item = parse_expression(f"{begin} + {index} * {step}", node)
        loads.append(set_position(ast.Assign([ast.Name(name, ast.Store())], item), node))
        return set_position(ast.Name(name, ast.Load()), node)  # type: ignore[no-any-return]

    def _element_loop(
        self, node: ast.For, array: ast.expr, number: ast.expr | None, element: ast.expr
    ) -> tuple[ast.expr, ast.expr, list[ast.stmt]]:
        """Rewrite the head of a loop over an array: its range, its variable, and its first statements."""
        source = self.assign_temporary(self.visit(array))
        length = set_position(ast.Call(ast.Name("_ts_len", ast.Load()), [source], []), node)
        iterated = set_position(ast.Call(ast.Name("_ts_range", ast.Load()), [length], []), node)
        index = self.program.temporary()
        site = self.site(loop_position(node), Op.LOAD)
        item = self.call("_ts_load", [source, ast.Name(index, ast.Load()), site], node)
        beginning = self.assign(number, set_position(ast.Name(index, ast.Load()), node)) if number else []
        if isinstance(element, ast.Tuple | ast.List):
            name = self.program.temporary()
            beginning.append(set_position(ast.Assign([ast.Name(name, ast.Store())], item), node))
            item = set_position(ast.Name(name, ast.Load()), node)
        return (
            iterated,
            ast.Name(index, ast.Store()),
            [*beginning, *self.assign(element, item, by_index=True)],
        )

    def visit_While(self, node: ast.While) -> Any:
        return self._loop(node, lambda: self._while(node))

    def _while(self, node: ast.While) -> Any:
        if self.frame is not None and not node.orelse and not isinstance(node.test, ast.Constant):
            # The test belongs to the round that it begins.
            leave = ast.copy_location(ast.If(node.test, [ast.Pass()], [ast.Break()]), node)
            node = ast.copy_location(ast.While(ast.Constant(True), [leave, *node.body], []), node)
            ast.fix_missing_locations(node)
        test, body = self.visit(node.test), _with_tick(self, node, self._body(node.body))
        return set_position(ast.While(test, body, self.block(node.orelse) if node.orelse else []), node)

    def visit_If(self, node: ast.If) -> Any:
        test = self.visit(node.test)
        return set_position(
            ast.If(test, self.block(node.body), self.block(node.orelse) if node.orelse else []), node
        )

    def visit_Return(self, node: ast.Return) -> Any:
        returned = self._return(node)
        if self.frame is None or not self.is_device:
            return returned
        if returned.value is None:
            return [*rounds.end_device(node), returned]
        name = self.program.temporary()
        value = set_position(ast.Assign([ast.Name(name, ast.Store())], returned.value), node)
        returned.value = set_position(ast.Name(name, ast.Load()), node)
        return [value, *rounds.end_device(node), returned]

    def _return(self, node: ast.Return) -> Any:
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            return set_position(ast.Return(None), node)
        return set_position(ast.Return(node.value and self.visit(node.value)), node)


def iterator_of(scope: Scope, iterated: ast.expr) -> Any:
    """Return `zip` or `enumerate` if a loop iterates over a call of it; else None."""
    if not isinstance(iterated, ast.Call) or not iterated.args or iterated.keywords:
        return None
    try:
        value = scope.value(iterated.func)
    except UnknownValueError:
        return None
    return value if value is zip or value is enumerate else None


def composed_parts(scope: Scope, call: ast.expr) -> list[ast.expr]:
    """List the arguments of `zip` or `enumerate` that the loop takes elements of."""
    assert isinstance(call, ast.Call)
    return call.args[:1] if iterator_of(scope, call) is enumerate else call.args


def is_indexed(scope: Scope, iterated: ast.expr) -> bool:
    """Check if the elements of an iterable have indices: arrays, tuples, ranges."""
    if not isinstance(iterated, ast.Call):
        return isinstance(iterated, ast.Name | ast.Attribute | ast.Subscript)
    try:
        return scope.value(iterated.func) is range
    except UnknownValueError:
        return False


def _may_be_an_array(value: ast.expr) -> bool:
    """Check if an expression may be an array, whose elements Numba would unpack."""
    if isinstance(value, ast.Attribute):
        return value.attr not in ("shape", "strides")
    return isinstance(value, ast.Name | ast.Subscript)


def _has_stores(target: ast.expr) -> bool:
    """Check if the target of an assignment contains an element of an array."""
    return any(isinstance(n, ast.Subscript | ast.Attribute | ast.Starred) for n in ast.walk(target))


def _note_target_names(target: ast.expr, value: ast.expr, names: dict[int, str]) -> None:
    """Note the variable that each expression of an assignment is assigned to."""
    if isinstance(target, ast.Name):
        names[id(value)] = target.id
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for t, v in zip(target.elts, value.elts, strict=False):
            _note_target_names(t, v, names)


def _with_tick(writer: Writer, loop: ast.For | ast.While, body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the body of a loop, which first counts a round if the loop may be long."""
    inner = sum(_count_uncounted_rounds(writer, node) for node in loop.body)
    if isinstance(loop, ast.For) and _max_rounds(writer, loop.iter) * max(1, inner) <= SHORT:
        return body
    writer.program.loops.append((writer.source.file, loop.lineno))
    number = len(writer.program.loops)
    rounds = (
        writer.number(("rounds", number), 1 + inner, loop)
        if writer.scope.runtime_constants
        else ast.Constant(1 + inner)
    )
    arguments: list[ast.expr] = [ast.Constant(number), rounds]
    return [set_position(ast.Expr(writer.call("_ts_tick", arguments, loop)), loop), *body]


def _count_uncounted_rounds(writer: Writer, node: ast.AST) -> int:
    """Bound the number of rounds of the loops in a statement that are not counted."""
    inner = sum(_count_uncounted_rounds(writer, child) for child in ast.iter_child_nodes(node))
    if not isinstance(node, ast.For):
        return inner
    rounds = _max_rounds(writer, node.iter) * max(1, inner)
    return rounds if rounds <= SHORT else 0


def _max_rounds(writer: Writer, iterated: ast.expr) -> int:
    """Bound the number of rounds of a loop; more than SHORT if unknown.

    A loop over the elements of an array makes an access in each round, and counts as short.
    """
    if not isinstance(iterated, ast.Call):
        return 1
    try:
        return max((abs(int(writer.scope.static_value(argument))) for argument in iterated.args), default=0)
    except (UnknownValueError, TypeError, ValueError):  # the iterable may be a global array
        return SHORT + 1
