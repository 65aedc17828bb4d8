"""A kernel of a source text as a question: its function, those that it calls, and what its names are bound to.

The text may come from anybody, with a trace file, so nothing of it runs. It is parsed, and of that an allow-list is
taken: functions as code, imports of modules in a table of ours, numbers and tuples of such, sums of numbers, types by
their names in our tables. A name that is bound to anything else, or more than once, is `Missing`, and then nothing is
asked: what is said must be right.
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
    Missing,
    Plain,
    Question,
    Sequence,
    Value,
)
from .question import NumPyScalar as NumPyNumber
from .signatures import signature_types

MOST_FUNCTIONS = 64
LARGEST = 1 << 64  # of whole numbers in sums
OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
NUMBERS = (bool, int, float, complex)
DEVICE_DECORATORS = ("cuda.jit", "numba.cuda.jit", "jit", "njit", "numba.jit", "numba.njit")
IMPORTS = (ast.Import, ast.ImportFrom)
NOT_TAKEN = (
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
    """Return the question about a launch's kernel; raises SyntaxError and ValueError where its text has none."""
    file, _, name = launch.kernel.rpartition(":")
    taken = _Taken(launch, ast.parse(launch.source), file)
    taken.kernel(name)
    return Question(taken.functions, tuple(map(_argument, launch.arguments)))


class _Taken:
    """What is taken of a text, functions in the order of their numbers."""

    def __init__(self, launch: Launch, tree: ast.Module, file: str) -> None:
        self._launch, self._tree, self._file = launch, tree, file
        self._parents = {node: scope for scope in _scopes(tree) for node in _directly_in(scope)}
        self._teaches = any("extending" in ast.dump(n) for n in ast.walk(tree) if isinstance(n, IMPORTS))
        self._numbers: dict[ast.FunctionDef, FunctionNumber] = {}
        self._made: list[Function | None] = []
        self._values: set[tuple[str, Scope]] = set()  # what is being found out

    @property
    def functions(self) -> tuple[Function, ...]:
        return tuple(function for function in self._made if function is not None)

    def kernel(self, name: str) -> None:
        """Take the kernel; raises ValueError where not exactly one function has its name."""
        found = [n for n in ast.walk(self._tree) if isinstance(n, ast.FunctionDef) and n.name == name]
        if len(found) != 1 or found[0] not in self._parents:
            raise ValueError(name)
        self._function(found[0], "kernel", self._signature(found[0]))

    def _signature(self, kernel: ast.FunctionDef) -> tuple[Value, ...]:
        """Return the types of the arguments that a kernel's decorator gives, or a call that decorates it."""
        decorators = kernel.decorator_list or [
            call.func if isinstance(call.func, ast.Call) else ast.Call(call.func, [], [])
            for call in ast.walk(self._tree)
            if isinstance(call, ast.Call) and any(_names(argument, kernel.name) for argument in call.args)
        ]
        kinds = {ast.dump(one): one for one in decorators if _is_jit(one)}
        if len(kinds) != 1 or len(decorators) > 1:
            return (Missing("a decorator that is not known"),)
        (decorator,) = kinds.values()
        given = decorator.args if isinstance(decorator, ast.Call) else []
        return (
            signature_types(given[0], lambda node: self._value(node, self._parents[kernel])) if given else ()
        )

    def _function(self, node: ast.FunctionDef, role: Any, signature: tuple[Value, ...] = ()) -> Value:
        if node in self._numbers:
            return self._numbers[node]
        if len(self._made) >= MOST_FUNCTIONS:
            return Missing("too many functions")
        number = self._numbers[node] = FunctionNumber(len(self._made))
        self._made.append(None)
        code = _code(node, self._file)
        self._made[number.number] = Function(
            role, node.name, marshal.dumps(code, 2), self._known_names(node, code), signature=signature
        )
        return number

    def _known_names(self, node: ast.FunctionDef, code: CodeType) -> dict[str, Value]:
        if not _is_taken(node):
            return {"": Missing("a statement that is not taken")}
        names = names_in(code, GLOBAL_OPS)
        bound = {name: self._bound(name, self._parents[node]) for name in sorted(names)}
        found = {name: value for name, value in bound.items() if value is not None}
        for name in _modules_astray(node, found) | _attributes_astray(node, found):
            found[name] = Missing(name)
        return found

    def _bound(self, name: str, scope: Scope) -> Value | None:
        """Return what a name means in a scope and those around it; None for Python's own."""
        if name in self._launch.constants:
            return _constant(self._launch.constants[name])
        while not isinstance(scope, ast.Module):
            found = _bindings(scope, name)
            if found:
                return self._once([self._taken(one, name, scope) for one in found])
            scope = self._parents[scope]
        return self._global(name)

    def _global(self, name: str) -> Value | None:
        """Return what a name means in the file; None for Python's own."""
        found = [self._taken(one, name, self._tree) for one in _bindings(self._tree, name)]
        stars = {_star(node) for node in ast.walk(self._tree) if isinstance(node, ast.ImportFrom)} - {""}
        found += [value for module in sorted(stars) if (value := value_of(module, name)) is not None]
        if UNKNOWN in stars:
            return Missing(f"{name}, which a module may bind of which all names are imported")
        if found:
            return self._once(found)
        return None if hasattr(builtins, name) else Missing(name)

    @staticmethod
    def _once(values: list[Value]) -> Value:
        return (
            values[0] if all(value == values[0] for value in values) else Missing("bound to several things")
        )

    def _taken(self, binding: ast.AST, name: str, scope: Scope) -> Value:
        """Return what a statement binds a name to."""
        if isinstance(binding, ast.FunctionDef):
            return self._called(binding)
        if isinstance(binding, ast.Import | ast.ImportFrom):
            return _imported(binding, name)
        if (name, scope) in self._values or not isinstance(binding, ast.Assign):
            return Missing(name)
        self._values.add((name, scope))
        try:
            return self._assigned(binding, name, scope)
        finally:
            self._values.discard((name, scope))

    def _called(self, node: ast.FunctionDef) -> Value:
        """Return a function that a kernel calls: one with the decorator of a device function, and no signature."""
        if not node.decorator_list:
            return (
                Missing("a function that Numba may be taught")
                if self._teaches
                else self._function(node, "plain")
            )
        (decorator, *more) = node.decorator_list
        call = decorator if isinstance(decorator, ast.Call) else None
        if more or (
            call and (call.args or {k.arg for k in call.keywords} - {"device", "inline", "fastmath", "cache"})
        ):
            return Missing("a decorator that is not known")
        if not _is_jit(decorator):
            return Missing("a decorator that is not known")
        if node.args.defaults or node.args.kw_defaults:
            return Missing("defaults")
        return self._function(node, "device")

    def _assigned(self, statement: ast.Assign, name: str, scope: Scope) -> Value:
        (target, *more) = statement.targets
        if more:
            return Missing(name)
        if isinstance(target, ast.Name):
            return self._value(statement.value, scope)
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            pairs = zip(target.elts, statement.value.elts, strict=False)
            found = [value for one, value in pairs if isinstance(one, ast.Name) and one.id == name]
            if len(target.elts) == len(statement.value.elts) and len(found) == 1:
                return self._value(found[0], scope)
        return Missing(name)

    def _value(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression of the allow-list."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (*NUMBERS, str, type(None))):
            return _plain(node.value)
        if isinstance(node, ast.Tuple):
            return Sequence(tuple(self._value(item, scope) for item in node.elts))
        if isinstance(node, ast.Name):
            found = self._bound(node.id, scope)
            return Missing(node.id) if found is None else found
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope)
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            return self._sum(node, scope)
        if isinstance(node, ast.Call):
            return self._number(node, scope)
        return Missing(ast.unparse(node)[:80])

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        base = self._value(node.value, scope)
        found = value_of(base.module, node.attr) if isinstance(base, Library) and not base.name else None
        return Missing(node.attr) if found is None else found

    def _sum(self, node: ast.BinOp | ast.UnaryOp, scope: Scope) -> Value:
        parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
        compute = OPERATIONS.get(type(node.op))
        numbers = [
            marshal.loads(v.data) for v in (self._value(p, scope) for p in parts) if isinstance(v, Plain)
        ]
        if compute is None or len(numbers) != len(parts) or not all(map(_is_small, numbers)):
            return Missing("a sum")
        try:
            return _plain(compute(*numbers))
        except (ArithmeticError, TypeError):
            return Missing("a sum")

    def _number(self, node: ast.Call, scope: Scope) -> Value:
        """Return a number of a type of NumPy's or numba's: np.float32(0.5)."""
        called = self._value(node.func, scope)
        if node.keywords or len(node.args) != 1 or not isinstance(called, Library):
            return Missing("a call")
        given = self._value(node.args[0], scope)
        number = marshal.loads(given.data) if isinstance(given, Plain) else None
        if called.module != "numpy" or not _is_small(number):
            return Missing("a call")
        try:
            dtype = np.dtype(called.name)
            with np.errstate(all="ignore"):
                made = dtype.type(number)
        except (TypeError, ValueError, OverflowError):
            return Missing("a call")
        return NumPyNumber(DType(dtype.str), made.tobytes())


def _scopes(tree: ast.Module) -> Iterator[Scope]:
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node


def _directly_in(scope: Scope) -> Iterator[ast.AST]:
    """Yield the nodes of a scope, and the functions in it without what is in these."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def _bindings(scope: Scope, name: str) -> list[ast.AST]:
    """Return whatever binds a name in a scope: a definition, an import, an assignment, anything else."""
    found: list[ast.AST] = []
    for node in _directly_in(scope):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found += [node] * (node.name == name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
            found += [node] * bound.count(name)
        elif isinstance(node, ast.Assign):
            found += [node] * (name in _stored(node))
        elif isinstance(node, ast.arg):
            found += [node] * (node.arg == name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found += [node] * (name in node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            found += [node] * (node.name == name)
        elif isinstance(node, ast.stmt | ast.NamedExpr | ast.comprehension) and not isinstance(
            node, ast.Expr
        ):
            targets = [getattr(node, field, None) for field in ("target", "targets", "items")]
            found += [node] * (name in {n for t in targets if t is not None for n in _stored(t)})
    inner = [n for f in ast.walk(scope) if isinstance(f, ast.Global) and name in f.names for n in [f]]
    return found + [node for node in inner if node not in found]


def _stored(node: Any) -> set[str]:
    nodes = node if isinstance(node, list) else [node]
    return {
        n.id
        for one in nodes
        for n in ast.walk(one)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del)
    }


def _star(node: ast.ImportFrom) -> str:
    """Return the module of whose names all are imported, UNKNOWN for one of no table; "" where some are."""
    if [alias.name for alias in node.names] != ["*"]:
        return ""
    return node.module if node.module in MODULES and not node.level else UNKNOWN


def _imported(node: ast.Import | ast.ImportFrom, name: str) -> Value:
    if isinstance(node, ast.ImportFrom):
        (alias,) = [a for a in node.names if (a.asname or a.name) == name][:1] or [ast.alias("?")]
        found = None if node.level else value_of(node.module or "", alias.name)
        return Missing(name) if found is None else found
    (found_alias,) = [a for a in node.names if (a.asname or a.name.partition(".")[0]) == name][:1]
    module = found_alias.name if found_alias.asname else name
    return module_of(module) or Missing(name)


def _is_jit(decorator: ast.expr) -> bool:
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator) in DEVICE_DECORATORS


def _names(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_taken(node: ast.FunctionDef) -> bool:
    """Return whether a function is made of what is taken; Numba itself looks into `with` and runs texts for classes."""
    return not any(isinstance(inner, NOT_TAKEN) for inner in ast.walk(node))


def _modules_astray(node: ast.FunctionDef, names: dict[str, Value]) -> set[str]:
    """Return the modules of which a function asks more than names in our tables: `m = numpy`."""
    modules = {name for name, value in names.items() if isinstance(value, Library) and not value.name}
    bases = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in modules and id(n) not in bases
    }


def _attributes_astray(node: ast.FunctionDef, names: dict[str, Value]) -> set[str]:
    """Return the modules of which a function asks for something that is not in our tables."""
    found = set()
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
                    found.add(base.id)
    return found


def _code(node: ast.FunctionDef, file: str) -> CodeType:
    """Return the code of a function without its decorators, annotations, defaults and docstring."""
    arguments = node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise ValueError("arguments")
    named, positional = ([ast.arg(a.arg) for a in some] for some in (arguments.args, arguments.posonlyargs))
    bare = ast.arguments(positional, named, None, [], [], None, [])
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    alone = ast.copy_location(ast.FunctionDef(node.name, bare, body or [ast.Pass()], []), node)
    vars(alone)["type_params"] = []  # of Python 3.12
    module = ast.fix_missing_locations(ast.Module([alone], []))
    made = compile(module, file, "exec", dont_inherit=True)
    return next(constant for constant in made.co_consts if isinstance(constant, CodeType))


def _is_small(number: Any) -> bool:
    return isinstance(number, NUMBERS) and (not isinstance(number, int) or abs(number) < LARGEST)


def _plain(value: Any) -> Plain:
    return Plain(marshal.dumps(value, 2))


def _constant(value: bool | int | float | str) -> Value:
    """Return a constant of a launch; a text names a type."""
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
