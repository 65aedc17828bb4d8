"""Kernels as functions that replay one thread: control flow from the source, loaded values from the trace.

A replay needs no compiler and runs none of the kernel's code: only Python's syntax that kernels use is followed, and
every access must be the thread's next recorded one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NoReturn, Protocol

from ...kernels.scenarios.suggestions import did_you_mean
from ..model.syntax_tree import syntax_tree
from .carried import AccessPosition
from .replay_calls import call_function
from .replay_state import Pair, ReplayError, ReplayState
from .replay_values import (
    BINARY,
    COMPARISONS,
    CONSTANTS,
    UNARY,
    UNKNOWN,
    ArrayValue,
    Named,
    NumberType,
    computed,
    number_type,
)

LONGEST = 400_000  # characters of the longest source text that is replayed
DEEPEST = 12  # nested calls
Names = dict[str, Pair]
Expression = Callable[[ReplayState, Names], Pair]
Statement = Callable[[ReplayState, Names], int]
NEXT, BREAK, CONTINUE, RETURN = 0, 1, 2, 3  # where a thread goes on after a statement
RESULT = "return"  # the name that holds a function's result
LONGEST_EXPRESSION = 400  # characters
WATCHED_CALLS = ("min", "max", "abs", "int", "float", "bool")
WATCHED = (
    ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Name, ast.Constant, ast.BinOp,
    ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Attribute, ast.Call,
)  # fmt: skip
POSITIONS = ("threadIdx", "blockIdx", "blockDim", "gridDim")


class Pack(tuple[Pair, ...]):
    """A tuple of values with their nodes."""


class Program:
    """A source text whose functions threads can replay."""

    def __init__(self, source: str, kernel: str, constants: Mapping[str, bool | int | float | str]) -> None:
        tree = syntax_tree(source)
        self.lines = source.splitlines()
        self.kernel, self.constants = kernel, constants
        self.imported = _imported(tree)
        self.functions = _functions(tree)
        self._module = _assignments(tree)
        self._compiled: dict[str, tuple[list[str], Statement]] = {}
        self._globals: dict[str, Pair] = {}

    @property
    def is_known(self) -> bool:
        """Whether the text defines the kernel, once."""
        return self.kernel in self.functions

    @property
    def parameters(self) -> list[str]:
        """The names of the kernel's parameters."""
        return _parameters(self.functions[self.kernel])

    @property
    def variables(self) -> list[str]:
        """The names of the kernel's parameters and local variables, in the order of the text."""
        node = self.functions[self.kernel]
        stored = [
            (part.lineno, part.col_offset, part.id)
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        ]
        return list(dict.fromkeys([*self.parameters, *(name for _, _, name in sorted(stored))]))

    def expression(self, text: str) -> Expression:
        """Prepare an expression of the kernel's variables; raises ReplayError."""
        if len(text) > LONGEST_EXPRESSION:
            fail(f"an expression has at most {LONGEST_EXPRESSION} characters")
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            fail(f"{text.strip()[:40]!r} is not an expression, such as row * 2 + col")
        names = {*self.variables, *self.imported, *self._module, *self.constants, *WATCHED_CALLS}
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript):
                fail("an expression has variables and no elements of arrays: their pictures show these")
            if not isinstance(node, WATCHED):
                fail("an expression has variables, numbers, operators, min, max and abs")
            if isinstance(node, ast.Name) and node.id not in names:
                fail(f"the kernel has no variable {node.id!r}{did_you_mean(node.id, self.variables)}")
        return _Compiler(self, self.functions[self.kernel]).value(tree)

    def function(self, name: str) -> tuple[list[str], Statement]:
        """Return the parameters and the body of a function."""
        if name not in self._compiled:
            node = self.functions[name]
            self._compiled[name] = _parameters(node), _Compiler(self, node).body(node.body)
        return self._compiled[name]

    def global_value(self, state: ReplayState, name: str) -> Pair:
        """Return the value of a name of the module, UNKNOWN if the text does not give it."""
        if name not in self._globals:
            self._globals[name] = (UNKNOWN, 0)  # of a name that depends on itself
            self._globals[name] = self._new_global(state, name)
        return self._globals[name]

    def _new_global(self, state: ReplayState, name: str) -> Pair:
        if name in self.constants:
            constant = self.constants[name]
            return (number_type(constant) or UNKNOWN) if isinstance(constant, str) else constant, 0
        if name in self.functions:
            return Named(f"?{name}"), 0
        if name in self.imported:
            return named_value(self.imported[name]), 0
        if name in self._module:
            empty = ast.FunctionDef(name="", args=_NO_ARGUMENTS, body=[], decorator_list=[])
            return _Compiler(self, empty).value(self._module[name])(state, {})
        return named_value(name), 0


@lru_cache(maxsize=8)
def program_of(
    source: str, kernel: str, constants: tuple[tuple[str, bool | int | float | str], ...]
) -> Program | None:
    """Prepare a source text for replays; None if it does not define the kernel once."""
    if len(source) > LONGEST:
        return None
    program = Program(source, kernel, dict(constants))
    return program if program.is_known else None


class ReplayedText(Protocol):
    """A text whose kernel threads can replay."""

    kernel: str

    def function(self, name: str) -> tuple[list[str], Statement]: ...


def run_kernel(
    program: ReplayedText, state: ReplayState, arguments: Mapping[str, object], names: Names | None = None
) -> None:
    """Replay a thread from its start to its end; raises ReplayError and ReplayEndError.

    names: receives the kernel's local variables, and holds them when an error ends the replay.
    """
    parameters, body = program.function(program.kernel)
    own = {} if names is None else names
    own.update((name, (arguments.get(name, UNKNOWN), 0)) for name in parameters)
    body(state, own)


def named_value(name: str) -> object:
    """Return the constant, the type or the function with a dotted name."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    return number_type(name) or Named(name)


_NO_ARGUMENTS = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def _parameters(node: ast.FunctionDef) -> list[str]:
    return [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Return the functions of a text, by name; those whose name has several definitions are left out."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = [node.name for node in nodes]
    return {node.name: node for node in nodes if names.count(node.name) == 1}


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return the dotted name of each imported name, without `numba.`."""
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                imported[alias.asname or name] = _short(name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                imported[alias.asname or alias.name] = _short(f"{node.module}.{alias.name}")
    return imported


def _short(name: str) -> str:
    return name.removeprefix("numba.").replace("types.", "")


def _assignments(tree: ast.Module) -> dict[str, ast.expr]:
    """Map each name that the top level of a module assigns once to its expression."""
    expressions: dict[str, list[ast.expr]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    expressions.setdefault(target.id, []).append(node.value)
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    for part, value in zip(target.elts, node.value.elts, strict=False):
                        if isinstance(part, ast.Name):
                            expressions.setdefault(part.id, []).append(value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            expressions.setdefault(node.target.id, []).append(node.value)
    return {name: values[0] for name, values in expressions.items() if len(values) == 1}


def fail(reason: str) -> NoReturn:
    raise ReplayError(reason)


class _Compiler:
    """Turns the statements of one function into functions of the state and the local names."""

    def __init__(self, program: Program, function: ast.FunctionDef) -> None:
        self._program = program
        self._locals = set(_parameters(function)) | {
            node.id
            for part in function.body
            for node in ast.walk(part)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }

    def _place(self, node: ast.expr) -> AccessPosition:
        line = self._program.lines[node.lineno - 1] if node.lineno <= len(self._program.lines) else ""
        column = (
            node.col_offset
            if line.isascii()
            else len(line.encode()[: node.col_offset].decode(errors="ignore"))
        )
        return node.lineno, column

    def body(self, nodes: Sequence[ast.stmt]) -> Statement:
        """Return a function that runs statements in order."""
        statements = [self._statement(node) for node in nodes]

        def run(state: ReplayState, names: Names) -> int:
            for statement in statements:
                if signal := statement(state, names):
                    return signal
            return NEXT

        return run

    def _statement(self, node: ast.stmt) -> Statement:
        method = getattr(self, f"_do_{type(node).__name__}", None)
        if method is None:
            line = node.lineno
            return lambda state, names: fail(f"line {line} holds a statement that is not replayed")
        statement: Statement = method(node)
        return statement

    def _do_Pass(self, node: ast.stmt) -> Statement:
        return lambda state, names: NEXT

    _do_Import = _do_ImportFrom = _do_Global = _do_Pass

    def _do_Break(self, node: ast.Break) -> Statement:
        return lambda state, names: BREAK

    def _do_Continue(self, node: ast.Continue) -> Statement:
        return lambda state, names: CONTINUE

    def _do_Return(self, node: ast.Return) -> Statement:
        value = self.value(node.value) if node.value else None

        def run(state: ReplayState, names: Names) -> int:
            if value:
                names[RESULT] = value(state, names)
            return RETURN

        return run

    def _do_Expr(self, node: ast.Expr) -> Statement:
        value = self.value(node.value)

        def run(state: ReplayState, names: Names) -> int:
            value(state, names)
            return NEXT

        return run

    def _do_Assert(self, node: ast.Assert) -> Statement:
        return self._do_Expr(ast.Expr(node.test))

    def _do_Assign(self, node: ast.Assign) -> Statement:
        value, targets = self.value(node.value), [self._target(target) for target in node.targets]

        def run(state: ReplayState, names: Names) -> int:
            result = value(state, names)
            for target in targets:
                target(state, names, result)
            return NEXT

        return run

    def _do_AnnAssign(self, node: ast.AnnAssign) -> Statement:
        if node.value is None:
            return self._do_Pass(node)
        return self._do_Assign(ast.Assign([node.target], node.value))

    def _do_AugAssign(self, node: ast.AugAssign) -> Statement:
        value, function = self.value(node.value), BINARY.get(type(node.op).__name__)
        if function is None:
            return lambda state, names: fail(f"line {node.lineno} holds an operator that is not replayed")
        if isinstance(node.target, ast.Name):
            name, old = node.target.id, self.value(ast.Name(node.target.id, ast.Load()))

            def run_name(state: ReplayState, names: Names) -> int:
                left, first = old(state, names)
                right, second = value(state, names)
                names[name] = computed(function, left, right), state.flow.join(first, second)
                return NEXT

            return run_name
        place, index = self._place(node.target), self._index(node.target)

        def run(state: ReplayState, names: Names) -> int:
            used = index(state, names)
            _, first = state.load(place, used)
            _, second = value(state, names)
            state.store(place, state.flow.join(first, second), used)
            return NEXT

        return run

    def _target(self, node: ast.expr) -> Callable[[ReplayState, Names, Pair], None]:
        """Return a function that assigns a value to a target."""
        if isinstance(node, ast.Name):
            name = node.id

            def set_name(state: ReplayState, names: Names, pair: Pair) -> None:
                names[name] = pair

            return set_name
        if isinstance(node, ast.Tuple | ast.List):
            parts = [self._target(part) for part in node.elts]

            def unpack(state: ReplayState, names: Names, pair: Pair) -> None:
                value, joined = pair
                is_matching = isinstance(value, Pack) and len(value) == len(parts)
                for number, part in enumerate(parts):
                    part(
                        state,
                        names,
                        value[number] if is_matching and isinstance(value, Pack) else (UNKNOWN, joined),
                    )

            return unpack
        if isinstance(node, ast.Subscript | ast.Attribute):
            place, index = self._place(node), self._index(node)

            def store(state: ReplayState, names: Names, pair: Pair) -> None:
                state.store(place, pair[1], index(state, names))

            return store
        return lambda state, names, pair: fail(f"line {node.lineno} assigns to an unusual target")

    def _index(self, node: ast.expr) -> Callable[[ReplayState, Names], int]:
        """Return a function that evaluates the indices of an element and returns the node of all of them."""
        parts: list[Expression] = []
        while isinstance(node, ast.Subscript | ast.Attribute):
            if isinstance(node, ast.Subscript):
                parts.append(self.value(node.slice))
            node = node.value

        def run(state: ReplayState, names: Names) -> int:
            joined = 0
            for part in parts:
                joined = state.flow.join(joined, part(state, names)[1])
            return joined

        return run

    def _do_If(self, node: ast.If) -> Statement:
        test, line = self.value(node.test), node.lineno
        body, other = self.body(node.body), self.body(node.orelse)

        def run(state: ReplayState, names: Names) -> int:
            value, joined = test(state, names)
            before = state.guard
            state.guard = state.flow.join(before, joined)
            signal = (body if truth(value, line) else other)(state, names)
            state.guard = before
            return signal

        return run

    def _do_While(self, node: ast.While) -> Statement:
        test, line = self.value(node.test), node.lineno
        body, other = self.body(node.body), self.body(node.orelse)

        def run(state: ReplayState, names: Names) -> int:
            before, signal = state.guard, NEXT
            while True:
                state.spend()
                value, joined = test(state, names)
                if not truth(value, line):
                    state.guard = before
                    return other(state, names)
                state.guard = state.flow.join(before, joined)
                signal = body(state, names)
                state.guard = before
                if signal in (BREAK, RETURN):
                    return NEXT if signal == BREAK else RETURN

        return run

    def _do_For(self, node: ast.For) -> Statement:
        values, target, line = self.value(node.iter), self._target(node.target), node.lineno
        body, other = self.body(node.body), self.body(node.orelse)

        def run(state: ReplayState, names: Names) -> int:
            iterated, joined = values(state, names)
            rounds: Sequence[Pair] | range
            if isinstance(iterated, Pack | range):
                rounds = iterated
            else:
                fail(f"the loop on line {line} runs over values that are not replayed")
            before = state.guard
            state.guard = state.flow.join(before, joined)
            for value in rounds:
                state.spend()
                target(state, names, (value, joined) if isinstance(value, int) else value)
                signal = body(state, names)
                if signal in (BREAK, RETURN):
                    state.guard = before
                    return NEXT if signal == BREAK else RETURN
            state.guard = before
            return other(state, names)

        return run

    def value(self, node: ast.expr) -> Expression:
        """Return a function that evaluates an expression."""
        method = getattr(self, f"_of_{type(node).__name__}", None)
        if method is None:
            line = getattr(node, "lineno", 0)
            return lambda state, names: fail(f"line {line} holds an expression that is not replayed")
        expression: Expression = method(node)
        return expression

    def _of_Constant(self, node: ast.Constant) -> Expression:
        pair = (node.value, 0)
        return lambda state, names: pair

    def _of_Name(self, node: ast.Name) -> Expression:
        name = node.id
        if name in self._locals:
            return lambda state, names: names.get(name, (UNKNOWN, 0))
        program = self._program
        return lambda state, names: program.global_value(state, name)

    def _of_Slice(self, node: ast.Slice) -> Expression:
        parts = [self.value(part) for part in (node.lower, node.upper, node.step) if part]

        def run(state: ReplayState, names: Names) -> Pair:
            joined = 0
            for part in parts:
                joined = state.flow.join(joined, part(state, names)[1])
            return slice(None), joined

        return run

    def _of_Tuple(self, node: ast.Tuple | ast.List) -> Expression:
        parts = [self.value(part) for part in node.elts]

        def run(state: ReplayState, names: Names) -> Pair:
            values, joined = Pack(part(state, names) for part in parts), 0
            for _, part_node in values:
                joined = state.flow.join(joined, part_node)
            return values, joined

        return run

    _of_List = _of_Tuple

    def _of_NamedExpr(self, node: ast.NamedExpr) -> Expression:
        value, target = self.value(node.value), self._target(node.target)

        def run(state: ReplayState, names: Names) -> Pair:
            result = value(state, names)
            target(state, names, result)
            return result

        return run

    def _of_BinOp(self, node: ast.BinOp) -> Expression:
        function = BINARY.get(type(node.op).__name__)
        left, right, line = self.value(node.left), self.value(node.right), node.lineno
        if function is None:
            return lambda state, names: fail(f"line {line} holds an operator that is not replayed")

        def run(state: ReplayState, names: Names) -> Pair:
            first, first_node = left(state, names)
            second, second_node = right(state, names)
            return computed(function, first, second), state.flow.join(first_node, second_node)

        return run

    def _of_UnaryOp(self, node: ast.UnaryOp) -> Expression:
        function, operand = UNARY[type(node.op).__name__], self.value(node.operand)

        def run(state: ReplayState, names: Names) -> Pair:
            value, joined = operand(state, names)
            return UNKNOWN if value is UNKNOWN else computed(function, value), joined

        return run

    def _of_Compare(self, node: ast.Compare) -> Expression:
        operands = [self.value(part) for part in (node.left, *node.comparators)]
        functions = [COMPARISONS.get(type(op).__name__) for op in node.ops]
        line = node.lineno

        def run(state: ReplayState, names: Names) -> Pair:
            left, joined = operands[0](state, names)
            result: object = True
            for function, operand in zip(functions, operands[1:], strict=True):
                right, right_node = operand(state, names)
                joined = state.flow.join(joined, right_node)
                unknown = function is None or left is UNKNOWN or right is UNKNOWN
                result = UNKNOWN if unknown or function is None else computed(function, left, right)
                if result is UNKNOWN and operand is not operands[-1]:
                    fail(f"the comparison on line {line} depends on a value that is not known")
                if result is False:
                    break
                left = right
            return result, joined

        return run

    def _of_BoolOp(self, node: ast.BoolOp) -> Expression:
        parts, ends_with = [self.value(part) for part in node.values], isinstance(node.op, ast.Or)
        line = node.lineno

        def run(state: ReplayState, names: Names) -> Pair:
            value: object = UNKNOWN
            joined = 0
            for number, part in enumerate(parts):
                value, part_node = part(state, names)
                joined = state.flow.join(joined, part_node)
                if number < len(parts) - 1 and truth(value, line) == ends_with:
                    break
            return value, joined

        return run

    def _of_IfExp(self, node: ast.IfExp) -> Expression:
        test, line = self.value(node.test), node.lineno
        body, other = self.value(node.body), self.value(node.orelse)

        def run(state: ReplayState, names: Names) -> Pair:
            return (body if truth(test(state, names)[0], line) else other)(state, names)

        return run

    def _of_Subscript(self, node: ast.Subscript) -> Expression:
        return self._element(node, is_field=False)

    def _element(self, node: ast.Subscript, *, is_field: bool) -> Expression:
        base, index, place = self.value(node.value), self.value(node.slice), self._place(node)

        def run(state: ReplayState, names: Names) -> Pair:
            array, base_node = base(state, names)
            position, index_node = index(state, names)
            if isinstance(array, Pack):
                return _item(array, position, base_node)
            if isinstance(array, ArrayValue):
                indices = [position] if not isinstance(position, Pack) else [value for value, _ in position]
                remaining = _remaining(array.shape, indices)
                if remaining:
                    return ArrayValue(remaining, array.is_record, array.name), 0
                if array.is_record and not is_field:
                    fail(f"line {place[0]} loads a complete record")
                return state.load(place, index_node, array.name)
            if state.is_next(place, 0):
                return state.load(place, index_node)
            return UNKNOWN, state.flow.join(base_node, index_node)

        return run

    def _of_Attribute(self, node: ast.Attribute) -> Expression:
        name = node.attr
        if (dotted := self._dotted(node)) is not None:
            value = (named_value(dotted), 0)
            root, _, axis = dotted.removeprefix("cuda.").partition(".")
            if root in POSITIONS and axis:
                key = f"{root}.{axis}"
                return lambda state, names: (state.position.get(key, UNKNOWN), 0)
            if dotted in ("cuda.laneid", "cuda.warpsize"):
                return lambda state, names: (state.position[dotted], 0)
            return lambda state, names: value
        inner = self._element(node.value, is_field=True) if isinstance(node.value, ast.Subscript) else None
        base = inner or self.value(node.value)

        def run(state: ReplayState, names: Names) -> Pair:
            owner, joined = base(state, names)
            if isinstance(owner, ArrayValue):
                return _array_attribute(owner, name), 0
            if isinstance(owner, Named):
                return named_value(f"{owner.name}.{name}"), 0
            if isinstance(owner, complex | float | int) and name in ("real", "imag"):
                return getattr(owner, name), joined
            if inner and name not in ("real", "imag"):
                return owner, joined  # a field of a record
            return UNKNOWN, joined

        return run

    def _dotted(self, node: ast.expr) -> str | None:
        """Return the dotted name of an attribute of a module, None for others."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self._locals:
            return None
        root = self._program.imported.get(node.id)
        return None if root is None else _short(".".join([root, *reversed(parts)]))

    def _of_Call(self, node: ast.Call) -> Expression:
        function, place = self.value(node.func), self._place(node)
        arguments = [self.value(part) for part in node.args]
        keywords = [(keyword.arg or "", self.value(keyword.value)) for keyword in node.keywords]
        program = self._program

        def run(state: ReplayState, names: Names) -> Pair:
            called = function(state, names)[0]
            given = [argument(state, names) for argument in arguments]
            named = {name: value(state, names) for name, value in keywords}
            if isinstance(called, NumberType):
                value, joined = given[0] if given else (0, 0)
                return called.convert(value), joined
            if not isinstance(called, Named):
                return _unknown_call(state, given)
            if called.name.startswith("?"):
                return _call(program, state, called.name[1:], given, named)
            return call_function(state, called.name, place, given, named, Pack)

        return run


def _call(program: Program, state: ReplayState, name: str, given: list[Pair], named: dict[str, Pair]) -> Pair:
    """Replay a call of a function of the text; return its result."""
    state.spend()
    parameters, body = program.function(name)
    if state.depth >= DEEPEST or len(given) > len(parameters):
        fail(f"the call of {name} is not replayed")
    state.depth += 1
    names = dict(zip(parameters, given, strict=False)) | named
    body(state, names)
    state.depth -= 1
    return names.get(RESULT, (None, 0))


def _unknown_call(state: ReplayState, given: list[Pair]) -> Pair:
    joined = 0
    for _, node in given:
        joined = state.flow.join(joined, node)
    return UNKNOWN, joined


def truth(value: object, line: int) -> bool:
    if value is UNKNOWN or isinstance(value, ArrayValue | Named | Pack):
        fail(f"the condition on line {line} depends on a value that is not known")
    return bool(value)


def _item(values: Pack, position: object, joined: int) -> Pair:
    if isinstance(position, int) and -len(values) <= position < len(values):
        return values[position]
    return UNKNOWN, joined


def _remaining(shape: tuple[object, ...], indices: Sequence[object]) -> tuple[object, ...]:
    """Return the dimensions that remain after indexing; slices keep theirs."""
    if any(index is Ellipsis for index in indices):
        fail("an array is indexed with an ellipsis")
    return tuple(UNKNOWN for index in indices if isinstance(index, slice)) + shape[len(indices) :]


def _array_attribute(array: ArrayValue, name: str) -> object:
    if name == "shape":
        return Pack((length, 0) for length in array.shape)
    if name == "ndim":
        return len(array.shape)
    if name == "T":
        return ArrayValue(array.shape[::-1], array.is_record, array.name)
    if name == "size":
        size: object = 1
        for length in array.shape:
            size = computed(BINARY["Mult"], size, length)
        return size
    return ArrayValue(array.shape, name=array.name) if array.is_record else UNKNOWN
