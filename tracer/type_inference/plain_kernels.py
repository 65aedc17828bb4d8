"""Kernels about which Numba need not be asked, since it is plain that they compile, and that nothing is float64.

To ask starts a process that imports Numba's compiler, which takes longer than most programs. A kernel is plain where
its statements and names are all among those that are known here, each variable is of one kind, and no operation can
give a float64: on signed integers, on float32 alone, or on anything where an argument is an array of float64, which
means so. What is not plain is asked; `tests/tracer/type_inference/test_plain_kernels.py` holds both against Numba.
"""

from __future__ import annotations

import ast
import dis
import inspect
import marshal
import textwrap
from collections.abc import Iterable, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from .question import ArrayLike, Library, NumPyScalar, Plain, Question, TypeObject, Value

INTS, SINGLE, DOUBLE, BOOL = (
    "int",
    "float32",
    "float64",
    "bool",
)  # kinds of numbers; of integers only signed ones
NUMBERS = (INTS, SINGLE, DOUBLE)
KINDS = {"int8": INTS, "int16": INTS, "int32": INTS, "int64": INTS, "float32": SINGLE, "float64": DOUBLE}
DTYPES = {"|i1": "int8", "<i2": "int16", "<i4": "int32", "<i8": "int64", "<f4": "float32", "<f8": "float64"}
UPDATED = ("int32", "int64", "float32", "float64")  # elements that atomics take
LARGEST_INT = 1 << 63
WHOLE = (ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
EXACT = (ast.Add, ast.Sub, ast.Mult)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
AXES = ("x", "y", "z")
PLACES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
BUILTINS = ("abs", "len", "max", "min", "range")
MOST_LINES = 500
JUMPS = {*dis.hasjrel, *dis.hasjabs}


class NotPlain(Exception):
    """Something of a kernel is not among what is known here."""


class Numbers(NamedTuple):
    """A tuple of so many integers."""

    many: int


class ArrayOf(NamedTuple):
    """An array with elements of a type of KINDS."""

    element: str
    ndim: int


class Name(NamedTuple):
    """What a name means that is no value: of `cuda` its path, of a type of numbers its kind, of a builtin its name."""

    of: str
    path: str


Kind = str | Numbers | ArrayOf | Name
CUDA, TYPE, MODULE, BUILTIN = "cuda", "type", "module", "builtin"


def is_plain(function: Any, question: Question) -> bool:
    """Return whether a kernel's question, all of which is known, has no answer but `question.NOTHING`."""
    if not isinstance(function, FunctionType) or len(question.functions) != 1 or question.missing():
        return False
    kernel = question.functions[0]
    if kernel.signature or kernel.options or kernel.defaults:
        return False
    try:
        tree = _tree_of(function)
        names = {name: _meaning(value) for name, value in kernel.names.items()}
        _Checker(tree, names, tuple(map(_argument, question.arguments))).check()
    except (NotPlain, OSError, SyntaxError, RecursionError, ValueError, TypeError):
        return False
    return True


def _tree_of(function: FunctionType) -> ast.FunctionDef:
    """Return a function's tree; raises NotPlain where that is not what its code was made from."""
    lines, _ = inspect.getsourcelines(function)
    if len(lines) > MOST_LINES:
        raise NotPlain
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    if not isinstance(tree, ast.FunctionDef) or not _is_source_of(tree, function.__code__):
        raise NotPlain
    for constant in function.__code__.co_consts:  # those that Python has computed too
        if isinstance(constant, int):
            _constant(constant)
    return tree


def _is_source_of(tree: ast.FunctionDef, code: CodeType) -> bool:
    bare = ast.FunctionDef(tree.name, tree.args, tree.body, [], None, None)
    around = ast.arguments([], [ast.arg(name) for name in code.co_freevars], None, [], [], None, [])
    outer = ast.FunctionDef("outer", around, [bare], [], None, None)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    made = _code_in(_code_in(compile(module, code.co_filename, "exec", dont_inherit=True)))
    return _told_by(made) == _told_by(code)


def _code_in(code: CodeType) -> CodeType:
    return next(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _told_by(code: CodeType) -> list[tuple[str, object]]:
    """Return what a code does, without what depends on the text around it: how what is imported is called."""
    return [
        (i.opname.replace("METHOD", "ATTR"), None if i.opcode in JUMPS else repr(i.argval))
        for i in dis.get_instructions(code)
        if i.opname not in ("PUSH_NULL", "EXTENDED_ARG")
    ]


def _argument(value: Value) -> Kind:
    if isinstance(value, ArrayLike) and not value.readonly and value.ndim:
        return ArrayOf(_element(value.dtype.text), value.ndim)
    return KINDS[_element(value.dtype.text)] if isinstance(value, NumPyScalar) else _meaning(value)


def _element(dtype: str) -> str:
    if dtype not in DTYPES:
        raise NotPlain
    return DTYPES[dtype]


def _meaning(value: Value) -> Kind:
    """Return what a value is that a kernel gets or names; raises NotPlain."""
    if isinstance(value, Plain):
        return _constant(marshal.loads(value.data))  # which we have written ourselves
    if (
        isinstance(value, NumPyScalar) and value.dtype.text == "<f4"
    ):  # an integer of NumPy's is no length of an array
        return SINGLE
    if isinstance(value, TypeObject) and value.origin == "numba" and value.name in KINDS:
        return Name(TYPE, value.name)
    if isinstance(value, Library):
        if value.name in KINDS and value.module == "numpy":
            return Name(TYPE, value.name)
        if not value.name and value.module in ("numpy", "numba"):
            return Name(MODULE, value.module)
        if value == Library("numba.cuda"):
            return Name(CUDA, "")
    raise NotPlain


def _constant(value: object) -> Kind:
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int) and -LARGEST_INT <= value < LARGEST_INT:
        return INTS
    if isinstance(value, float):
        return DOUBLE
    raise NotPlain


class _Checker:
    """Goes through a kernel's statements in their order; raises NotPlain at the first that is not plain."""

    def __init__(self, tree: ast.FunctionDef, names: dict[str, Kind], arguments: Sequence[Kind]) -> None:
        self.tree, self.names = tree, names
        given = tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults:
            raise NotPlain
        self.kinds: dict[str, Kind] = {
            a.arg: kind for a, kind in zip(given.args, arguments, strict=True)
        }  # of variables, wherever they are assigned
        self.doubles = any(isinstance(k, ArrayOf) and k.element == DOUBLE for k in arguments)
        self.assigned = set(self.kinds)  # the variables that have a value here
        stored = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
        self.local = {*self.kinds, *stored}

    def check(self) -> None:
        self.block(self.tree.body)

    # Statements

    def block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            method = getattr(self, f"_{type(statement).__name__}", None)
            if method is None:
                raise NotPlain
            method(statement)

    def branch(self, statements: Iterable[ast.stmt]) -> set[str]:
        """Go through statements that may be left out; return the variables that have a value after them."""
        before, self.assigned = self.assigned, set(self.assigned)
        self.block(statements)
        after, self.assigned = self.assigned, before
        return after

    def _Assign(self, node: ast.Assign) -> None:
        value = self.several(node.value)
        for target in node.targets:
            self.assign(target, value)

    def assign(self, target: ast.expr, value: Kind | list[Kind]) -> None:
        if isinstance(target, ast.Tuple):
            parts = [INTS] * value.many if isinstance(value, Numbers) else value
            if not isinstance(parts, list) or len(parts) != len(target.elts):
                raise NotPlain
            for one, part in zip(target.elts, parts, strict=True):
                self.assign(one, part)
        elif isinstance(value, list):
            raise NotPlain
        elif isinstance(target, ast.Name):
            self.define(target.id, value)
        else:
            self.store(self.expression(target), value)

    def define(self, name: str, value: Kind) -> None:
        known = self.kinds.setdefault(name, value)
        again = name in self.assigned and not isinstance(value, str)
        if known != value or isinstance(value, Name) or again:
            raise NotPlain
        self.assigned.add(name)

    def store(self, element: Kind, value: Kind) -> None:
        """Check that a value can be an element: integers anywhere, floats in arrays of floats."""
        if element not in NUMBERS or value not in NUMBERS or (element == INTS != value):
            raise NotPlain

    def _AugAssign(self, node: ast.AugAssign) -> None:
        self.assign(node.target, self.arithmetic(node.op, self.target(node.target), self.number(node.value)))

    def target(self, node: ast.expr) -> str:
        """Return the kind of what is changed in its place."""
        return self.number(ast.Name(node.id, ast.Load()) if isinstance(node, ast.Name) else node)

    def _For(self, node: ast.For) -> None:
        call = node.iter
        if node.orelse or not isinstance(node.target, ast.Name) or not isinstance(call, ast.Call):
            raise NotPlain
        if self.expression(call.func) != Name(BUILTIN, "range") or call.keywords or len(call.args) > 3:
            raise NotPlain
        self.whole(call.args)
        before = set(self.assigned)
        self.define(node.target.id, INTS)
        self.block(node.body)
        self.assigned = before

    def _While(self, node: ast.While) -> None:
        if node.orelse:
            raise NotPlain
        self.condition(node.test)
        self.branch(node.body)

    def _If(self, node: ast.If) -> None:
        self.condition(node.test)
        both = self.branch(node.body) & self.branch(node.orelse)
        self.assigned |= both

    def _Return(self, node: ast.Return) -> None:
        if node.value is not None:
            raise NotPlain

    def _Pass(self, node: ast.stmt) -> None:
        """Nothing to check, nor of `break` and `continue`."""

    _Break = _Continue = _Pass

    def _Expr(self, node: ast.Expr) -> None:
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):  # a docstring
            return
        if not isinstance(value, ast.Call):
            raise NotPlain
        called = self.expression(value.func)
        if called != Name(CUDA, "syncthreads"):
            self.call(called, value)
        elif value.args or value.keywords:
            raise NotPlain

    # Expressions

    def expression(self, node: ast.expr) -> Kind:
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            raise NotPlain
        found: Kind = method(node)
        return found

    def several(self, node: ast.expr) -> Kind | list[Kind]:
        """Return the kind of a value, or those of the parts of a tuple that is written out."""
        return list(map(self.expression, node.elts)) if isinstance(node, ast.Tuple) else self.expression(node)

    def number(self, node: ast.expr) -> str:
        found = self.expression(node)
        if not isinstance(found, str) or found not in NUMBERS:
            raise NotPlain
        return found

    def whole(self, nodes: Iterable[ast.expr]) -> int:
        """Check that these are one or more integers; return how many."""
        kinds = list(map(self.expression, nodes))
        if not kinds or any(kind != INTS for kind in kinds):
            raise NotPlain
        return len(kinds)

    def condition(self, node: ast.expr) -> str:
        found = self.expression(node)
        if found not in (BOOL, INTS):
            raise NotPlain
        return BOOL

    def _Constant(self, node: ast.Constant) -> Kind:
        return _constant(node.value)

    def _Name(self, node: ast.Name) -> Kind:
        if node.id in self.local:
            if node.id not in self.assigned:
                raise NotPlain
            return self.kinds[node.id]
        if node.id in self.names:
            return self.names[node.id]
        if node.id in BUILTINS:
            return Name(BUILTIN, node.id)
        raise NotPlain

    def _Attribute(self, node: ast.Attribute) -> Kind:
        of, name = self.expression(node.value), node.attr
        if isinstance(of, ArrayOf) and name in ("shape", "size", "ndim"):
            return Numbers(of.ndim) if name == "shape" else INTS
        if isinstance(of, Name) and of.of == CUDA:
            if of.path in PLACES and name in AXES:
                return INTS
            return Name(CUDA, f"{of.path}.{name}".lstrip("."))
        if isinstance(of, Name) and of.of == MODULE and name in KINDS:
            return Name(TYPE, name)
        raise NotPlain

    def _Subscript(self, node: ast.Subscript) -> Kind:
        of, index = self.expression(node.value), node.slice
        if isinstance(of, Numbers):
            number = index.value if isinstance(index, ast.Constant) else None
            if type(number) is int and 0 <= number < of.many:
                return INTS
        if isinstance(of, ArrayOf) and self.whole(_parts(index)) == of.ndim:
            return KINDS[of.element]
        raise NotPlain

    def _BinOp(self, node: ast.BinOp) -> Kind:
        return self.arithmetic(node.op, self.number(node.left), self.number(node.right))

    def arithmetic(self, operation: ast.operator, a: str, b: str) -> str:
        """Return the kind of a result, which may be float64 only where that is meant."""
        if isinstance(operation, EXACT + WHOLE) and a == b == INTS:
            return INTS
        if isinstance(operation, (*EXACT, ast.Div)) and (self.doubles or a == b == SINGLE):
            return SINGLE if a == b == SINGLE else DOUBLE
        raise NotPlain

    def _UnaryOp(self, node: ast.UnaryOp) -> Kind:
        if isinstance(node.op, ast.Not):
            return self.condition(node.operand)
        kind = self.number(node.operand)
        if isinstance(node.op, ast.Invert) and kind == INTS:
            return INTS
        is_constant = isinstance(node.operand, ast.Constant)  # which Python itself makes another of
        if isinstance(node.op, ast.USub) and (kind != DOUBLE or self.doubles or is_constant):
            return kind
        raise NotPlain

    def _Compare(self, node: ast.Compare) -> Kind:
        for operand in (node.left, *node.comparators):
            self.number(operand)
        if not all(isinstance(operation, COMPARISONS) for operation in node.ops):
            raise NotPlain
        return BOOL

    def _BoolOp(self, node: ast.BoolOp) -> Kind:
        if any(self.expression(value) != BOOL for value in node.values):
            raise NotPlain
        return BOOL

    def _IfExp(self, node: ast.IfExp) -> Kind:
        self.condition(node.test)
        kind = self.number(node.body)
        if self.number(node.orelse) != kind:
            raise NotPlain
        return kind

    # Calls

    def _Call(self, node: ast.Call) -> Kind:
        return self.call(self.expression(node.func), node)

    def call(self, called: Kind, node: ast.Call) -> Kind:
        if not isinstance(called, Name) or any(isinstance(one, ast.Starred) for one in node.args):
            raise NotPlain
        if called.of == CUDA and called.path in ("shared.array", "local.array"):
            return self.declared(node)
        if node.keywords:
            raise NotPlain
        if called.of == TYPE and len(node.args) == 1:
            self.number(node.args[0])
            return KINDS[called.path]
        return self.of_cuda(called.path, node.args) if called.of == CUDA else self.builtin(called, node.args)

    def declared(self, node: ast.Call) -> Kind:
        """Return the array that a kernel declares with a shape that Numba knows."""
        given = dict(zip(("shape", "dtype"), node.args, strict=False))
        given |= {keyword.arg or "": keyword.value for keyword in node.keywords}
        if len(node.args) + len(node.keywords) != 2 or given.keys() != {"shape", "dtype"}:
            raise NotPlain
        kind, lengths = self.expression(given["dtype"]), _parts(given["shape"])
        outside = (ast.Constant, ast.Name)
        if not all(isinstance(one, outside) and getattr(one, "id", "") not in self.local for one in lengths):
            raise NotPlain
        if not isinstance(kind, Name) or kind.of != TYPE or (kind.path == DOUBLE and not self.doubles):
            raise NotPlain
        return ArrayOf(kind.path, self.whole(lengths))

    def of_cuda(self, path: str, arguments: Sequence[ast.expr]) -> Kind:
        if path in ("grid", "gridsize") and len(arguments) == 1 and isinstance(arguments[0], ast.Constant):
            count = arguments[0].value
            if type(count) is int and count in (1, 2, 3):
                return INTS if count == 1 else Numbers(count)
        if path in ("atomic.add", "atomic.max", "atomic.min") and len(arguments) == 3:
            return self.update(*arguments)
        raise NotPlain

    def update(self, array: ast.expr, index: ast.expr, value: ast.expr) -> Kind:
        of = self.expression(array)
        if not isinstance(of, ArrayOf) or of.element not in UPDATED or self.whole(_parts(index)) != of.ndim:
            raise NotPlain
        self.store(KINDS[of.element], self.number(value))
        return KINDS[of.element]

    def builtin(self, called: Name, arguments: Sequence[ast.expr]) -> Kind:
        if (
            called.path == "len"
            and len(arguments) == 1
            and isinstance(self.expression(arguments[0]), ArrayOf)
        ):
            return INTS
        kinds = {self.number(one) for one in arguments} if called.path in ("abs", "max", "min") else set()
        if len(kinds) == 1 and len(arguments) == (1 if called.path == "abs" else 2):
            return kinds.pop()
        raise NotPlain


def _parts(node: ast.expr) -> list[ast.expr]:
    """Return the parts of an index or a shape."""
    return node.elts if isinstance(node, ast.Tuple) else [node]
