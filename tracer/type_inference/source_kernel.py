"""Builds the question about a kernel from its source text: its functions, and the values that its names are bound to.

The text is untrusted, because it may come with a trace file, so it is parsed and never run. An allow-list applies:
functions as code, imports of modules in our table, numbers, tuples and arithmetic of numbers, and types in our tables.
A name that is bound to anything else, or more than once, becomes `Missing`, and then the question is not asked.
"""

from __future__ import annotations

import ast
import builtins
import marshal
import operator
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np

from ..model.launch import OBJECT_DTYPE, Array, Launch, Scalar
from .library_names import MODULES, module_of, value_of
from .live_kernel import GLOBAL_OPS, dtype_of, names_in
from .question import (
    ArrayLike,
    DType,
    Function,
    FunctionNumber,
    Library,
    MarshalledValue,
    Missing,
    Question,
    Sequence,
    Value,
)
from .question import NumPyScalar as NumPyNumber
from .signatures import signature_types

MAX_FUNCTIONS = 64
MAX_INTEGER = 1 << 64  # bound of integers in arithmetic
OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
NUMBER_TYPES = (bool, int, float, complex)
DEVICE_DECORATORS = ("cuda.jit", "numba.cuda.jit", "jit", "njit", "numba.jit", "numba.njit")
IMPORTS = (ast.Import, ast.ImportFrom)
UNSUPPORTED = (
    ast.With,
    ast.AsyncWith,
    ast.ClassDef,
    ast.AsyncFunctionDef,
    ast.Await,
    ast.AsyncFor,
    ast.NamedExpr,
)
UNKNOWN = "?"
Scope = ast.Module | ast.FunctionDef


def question_of_source(launch: Launch) -> Question:
    """Build the question about a launch's kernel; raises SyntaxError, and ValueError if the text has no such kernel."""
    file, _, name = launch.kernel.rpartition(":")
    reader = _SourceReader(launch, ast.parse(launch.source), file)
    reader.read_kernel(name)
    return Question(reader.functions, tuple(map(_argument, launch.arguments)))


class _SourceReader:
    """Reads the functions of a source text, in the order of their numbers."""

    def __init__(self, launch: Launch, tree: ast.Module, file: str) -> None:
        self._launch, self._tree, self._file = launch, tree, file
        self._parents = {node: scope for scope in _scopes(tree) for node in _directly_in(scope)}
        self._registers_functions = any(
            "extending" in ast.dump(node) for node in ast.walk(tree) if isinstance(node, IMPORTS)
        )
        self._numbers: dict[ast.FunctionDef, FunctionNumber] = {}
        self._described: list[Function | None] = []
        self._values: set[tuple[str, Scope]] = set()  # names being evaluated, to detect cycles

    @property
    def functions(self) -> tuple[Function, ...]:
        return tuple(function for function in self._described if function is not None)

    def read_kernel(self, name: str) -> None:
        """Read the kernel; raises ValueError unless exactly one function has its name."""
        functions = [
            node for node in ast.walk(self._tree) if isinstance(node, ast.FunctionDef) and node.name == name
        ]
        if len(functions) != 1 or functions[0] not in self._parents:
            raise ValueError(name)
        self._function(functions[0], "kernel", self._signature(functions[0]))

    def _signature(self, kernel: ast.FunctionDef) -> tuple[Value, ...]:
        """Return the argument types that a kernel's decorator declares, or a call that decorates it."""
        decorators = kernel.decorator_list or [
            call.func if isinstance(call.func, ast.Call) else ast.Call(call.func, [], [])
            for call in ast.walk(self._tree)
            if isinstance(call, ast.Call) and any(_is_name(argument, kernel.name) for argument in call.args)
        ]
        kinds = {ast.dump(candidate): candidate for candidate in decorators if _is_jit(candidate)}
        if len(kinds) != 1 or len(decorators) > 1:
            return (Missing("an unknown decorator"),)
        (decorator,) = kinds.values()
        declared = decorator.args if isinstance(decorator, ast.Call) else []
        return (
            signature_types(declared[0], lambda node: self._value(node, self._parents[kernel]))
            if declared
            else ()
        )

    def _function(self, node: ast.FunctionDef, role: Any, signature: tuple[Value, ...] = ()) -> Value:
        if node in self._numbers:
            return self._numbers[node]
        if len(self._described) >= MAX_FUNCTIONS:
            return Missing("too many functions")
        number = self._numbers[node] = FunctionNumber(len(self._described))
        self._described.append(None)
        code = _code(node, self._file)
        self._described[number.number] = Function(
            role, node.name, marshal.dumps(code, 2), self._describe_names(node, code), signature=signature
        )
        return number

    def _describe_names(self, node: ast.FunctionDef, code: CodeType) -> dict[str, Value]:
        if not _is_supported(node):
            return {"": Missing("an unsupported statement")}
        names = names_in(code, GLOBAL_OPS)
        bound = {name: self._look_up(name, self._parents[node]) for name in sorted(names)}
        values = {name: value for name, value in bound.items() if value is not None}
        for name in _misused_modules(node, values) | _modules_with_unknown_attributes(node, values):
            values[name] = Missing(name)
        return values

    def _look_up(self, name: str, scope: Scope) -> Value | None:
        """Look up a name in a scope and those around it; None for a builtin of Python."""
        if name in self._launch.constants:
            return _constant(self._launch.constants[name])
        while not isinstance(scope, ast.Module):
            bindings = _bindings(scope, name)
            if bindings:
                return self._single_value([self._binding_value(binding, name, scope) for binding in bindings])
            scope = self._parents[scope]
        return self._global(name)

    def _global(self, name: str) -> Value | None:
        """Look up a global name of the file; None for a builtin of Python."""
        values = [self._binding_value(binding, name, self._tree) for binding in _bindings(self._tree, name)]
        stars = {_star_import(node) for node in ast.walk(self._tree) if isinstance(node, ast.ImportFrom)} - {
            ""
        }
        values += [value for module in sorted(stars) if (value := value_of(module, name)) is not None]
        if UNKNOWN in stars:
            return Missing(f"{name}, which a star import may bind")
        if values:
            return self._single_value(values)
        return None if hasattr(builtins, name) else Missing(name)

    @staticmethod
    def _single_value(values: list[Value]) -> Value:
        return (
            values[0] if all(value == values[0] for value in values) else Missing("bound to several things")
        )

    def _binding_value(self, binding: ast.AST, name: str, scope: Scope) -> Value:
        """Return the value that a statement binds a name to."""
        if isinstance(binding, ast.FunctionDef):
            return self._called_function(binding)
        if isinstance(binding, ast.Import | ast.ImportFrom):
            return _imported_value(binding, name)
        if (name, scope) in self._values or not isinstance(binding, ast.Assign):
            return Missing(name)
        self._values.add((name, scope))
        try:
            return self._assigned_value(binding, name, scope)
        finally:
            self._values.discard((name, scope))

    def _called_function(self, node: ast.FunctionDef) -> Value:
        """Describe a function that a kernel calls: a device function without a signature, or an undecorated one."""
        if not node.decorator_list:
            return (
                Missing("a function that may be registered with Numba")
                if self._registers_functions
                else self._function(node, "plain")
            )
        (decorator, *more) = node.decorator_list
        call = decorator if isinstance(decorator, ast.Call) else None
        if more or (
            call
            and (
                call.args
                or {keyword.arg for keyword in call.keywords} - {"device", "inline", "fastmath", "cache"}
            )
        ):
            return Missing("a decorator that is not known")
        if not _is_jit(decorator):
            return Missing("a decorator that is not known")
        if node.args.defaults or node.args.kw_defaults:
            return Missing("defaults")
        return self._function(node, "device")

    def _assigned_value(self, statement: ast.Assign, name: str, scope: Scope) -> Value:
        (target, *more) = statement.targets
        if more:
            return Missing(name)
        if isinstance(target, ast.Name):
            return self._value(statement.value, scope)
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            pairs = zip(target.elts, statement.value.elts, strict=False)
            values = [
                value for element, value in pairs if isinstance(element, ast.Name) and element.id == name
            ]
            if len(target.elts) == len(statement.value.elts) and len(values) == 1:
                return self._value(values[0], scope)
        return Missing(name)

    def _value(self, node: ast.expr, scope: Scope) -> Value:
        """Evaluate an expression of the allow-list."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (*NUMBER_TYPES, str, type(None))):
            return _plain(node.value)
        if isinstance(node, ast.Tuple):
            return Sequence(tuple(self._value(item, scope) for item in node.elts))
        if isinstance(node, ast.Name):
            bound = self._look_up(node.id, scope)
            return Missing(node.id) if bound is None else bound
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope)
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            return self._arithmetic(node, scope)
        if isinstance(node, ast.Call):
            return self._number(node, scope)
        return Missing(ast.unparse(node)[:80])

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        base = self._value(node.value, scope)
        attribute = value_of(base.module, node.attr) if isinstance(base, Library) and not base.name else None
        return Missing(node.attr) if attribute is None else attribute

    def _arithmetic(self, node: ast.BinOp | ast.UnaryOp, scope: Scope) -> Value:
        parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
        compute = OPERATIONS.get(type(node.op))
        numbers = [
            marshal.loads(value.data)
            for value in (self._value(part, scope) for part in parts)
            if isinstance(value, MarshalledValue)
        ]
        if compute is None or len(numbers) != len(parts) or not all(map(_is_small, numbers)):
            return Missing("a sum")
        try:
            return _plain(compute(*numbers))
        except (ArithmeticError, TypeError):
            return Missing("a sum")

    def _number(self, node: ast.Call, scope: Scope) -> Value:
        """Evaluate the call of a number type of NumPy: np.float32(0.5)."""
        called = self._value(node.func, scope)
        if node.keywords or len(node.args) != 1 or not isinstance(called, Library):
            return Missing("a call")
        argument = self._value(node.args[0], scope)
        number = marshal.loads(argument.data) if isinstance(argument, MarshalledValue) else None
        if called.module != "numpy" or not _is_small(number):
            return Missing("a call")
        try:
            dtype = np.dtype(called.name)
            with np.errstate(all="ignore"):
                converted = dtype.type(number)
        except (TypeError, ValueError, OverflowError):
            return Missing("a call")
        return NumPyNumber(DType(dtype.str), converted.tobytes())


def _scopes(tree: ast.Module) -> Iterator[Scope]:
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node


def _directly_in(scope: Scope) -> Iterator[ast.AST]:
    """Yield the nodes of a scope, including its functions but not their contents."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def _bindings(scope: Scope, name: str) -> list[ast.AST]:
    """List the nodes that bind a name in a scope: definitions, imports, assignments and others."""
    bindings: list[ast.AST] = []
    for node in _directly_in(scope):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            bindings += [node] * (node.name == name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
            bindings += [node] * names.count(name)
        elif isinstance(node, ast.Assign):
            bindings += [node] * (name in _stored_names(node))
        elif isinstance(node, ast.arg):
            bindings += [node] * (node.arg == name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            bindings += [node] * (name in node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            bindings += [node] * (node.name == name)
        elif isinstance(node, ast.stmt | ast.NamedExpr | ast.comprehension) and not isinstance(
            node, ast.Expr
        ):
            targets = [getattr(node, field, None) for field in ("target", "targets", "items")]
            stored: set[str] = set().union(
                *(_stored_names(target) for target in targets if target is not None)
            )
            bindings += [node] * (name in stored)
    declarations = [node for node in ast.walk(scope) if isinstance(node, ast.Global) and name in node.names]
    return bindings + [node for node in declarations if node not in bindings]


def _stored_names(node: Any) -> set[str]:
    nodes = node if isinstance(node, list) else [node]
    return {
        name.id
        for root in nodes
        for name in ast.walk(root)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store | ast.Del)
    }


def _star_import(node: ast.ImportFrom) -> str:
    """Return the module of a star import, UNKNOWN for a module outside the tables; "" for other imports."""
    if [alias.name for alias in node.names] != ["*"]:
        return ""
    return node.module if node.module in MODULES and not node.level else UNKNOWN


def _imported_value(node: ast.Import | ast.ImportFrom, name: str) -> Value:
    if isinstance(node, ast.ImportFrom):
        (alias,) = [a for a in node.names if (a.asname or a.name) == name][:1] or [ast.alias("?")]
        value = None if node.level else value_of(node.module or "", alias.name)
        return Missing(name) if value is None else value
    (alias,) = [a for a in node.names if (a.asname or a.name.partition(".")[0]) == name][:1]
    module = alias.name if alias.asname else name
    return module_of(module) or Missing(name)


def _is_jit(decorator: ast.expr) -> bool:
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator) in DEVICE_DECORATORS


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_supported(node: ast.FunctionDef) -> bool:
    """Check whether a function has only supported nodes; Numba inspects `with` and executes text for classes."""
    return not any(isinstance(inner, UNSUPPORTED) for inner in ast.walk(node))


def _misused_modules(node: ast.FunctionDef, names: dict[str, Value]) -> set[str]:
    """Find the modules that a function uses for anything but their attributes: `m = numpy`."""
    modules = {name for name, value in names.items() if isinstance(value, Library) and not value.name}
    bases = {id(inner.value) for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
    return {
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and inner.id in modules and id(inner) not in bases
    }


def _modules_with_unknown_attributes(node: ast.FunctionDef, names: dict[str, Value]) -> set[str]:
    """Find the modules of which a function uses attributes outside our tables."""
    modules = set()
    for attribute in ast.walk(node):
        if isinstance(attribute, ast.Attribute):
            chain, base = [attribute.attr], attribute.value
            while isinstance(base, ast.Attribute):
                chain.insert(0, base.attr)
                base = base.value
            value = names.get(base.id) if isinstance(base, ast.Name) else None
            while isinstance(value, Library) and not value.name and chain:
                value = value_of(value.module, chain.pop(0))
                if value is None and isinstance(base, ast.Name):
                    modules.add(base.id)
    return modules


def _code(node: ast.FunctionDef, file: str) -> CodeType:
    """Compile a function without its decorators, annotations, defaults and docstring."""
    arguments = node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise ValueError("arguments")
    named, positional = (
        [ast.arg(argument.arg) for argument in group] for group in (arguments.args, arguments.posonlyargs)
    )
    parameters = ast.arguments(positional, named, None, [], [], None, [])
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    bare_function = ast.copy_location(ast.FunctionDef(node.name, parameters, body or [ast.Pass()], []), node)
    vars(bare_function)["type_params"] = []  # of Python 3.12
    module = ast.fix_missing_locations(ast.Module([bare_function], []))
    module_code = compile(module, file, "exec", dont_inherit=True)
    return next(constant for constant in module_code.co_consts if isinstance(constant, CodeType))


def _is_small(number: Any) -> bool:
    return isinstance(number, NUMBER_TYPES) and (not isinstance(number, int) or abs(number) < MAX_INTEGER)


def _plain(value: Any) -> MarshalledValue:
    return MarshalledValue(marshal.dumps(value, 2))


def _constant(value: bool | int | float | str) -> Value:
    """Describe a constant of a launch; a text names a type."""
    if isinstance(value, str):
        return value_of("numba", value) or Missing(value)
    return _plain(value)


def _argument(argument: Array | Scalar) -> Value:
    if argument.dtype == OBJECT_DTYPE:
        return Missing("an argument")
    if isinstance(argument, Array):
        return ArrayLike(dtype_of(np.dtype(argument.dtype)), len(argument.shape), "C")
    if not argument.dtype:
        return _plain(argument.value)
    dtype = np.dtype(argument.dtype)
    if dtype.kind not in "biufc":
        return Missing("an argument")
    return NumPyNumber(dtype_of(dtype), dtype.type(0).tobytes())
