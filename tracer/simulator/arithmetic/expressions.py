"""Expressions of a kernel, typed: operators and functions whose meaning differs in Python become calls of ours."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np

from .conversions import as_computed, converter, kind_of
from .cuda_results import cuda_result, cuda_value
from .functions import TypedFunction, bit_count, kind_of_type, typed_function
from .kinds import COMPARISONS, FLOATS, INTS, SIGNED, compared_as, result
from .operations import BINARY, UNARY_OF_ANY, binary, unary
from .static_types import (
    LONGEST,
    ArrayOf,
    CudaPath,
    Known,
    Number,
    StaticType,
    TupleOf,
    constant,
    elements,
    integer,
    item,
    joined,
    number,
)

OPERATORS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "lshift",
    ast.RShift: "rshift", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq",
    ast.NotEq: "ne", ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert",
}  # fmt: skip
EXACT = 1 << 53  # up to which every integer is a float64
DIVISIONS = ("truediv", "floordiv", "mod", "divmod")
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OF_CONSTANTS = (
    ast.Constant, ast.UnaryOp, ast.BinOp, ast.Compare, ast.BoolOp, ast.expr_context, ast.operator, ast.unaryop,
    ast.cmpop, ast.boolop,
)  # fmt: skip
_LENGTHS = ("size", "nbytes")


class Typed(NamedTuple):
    """An expression, and what is known of its value."""

    type: StaticType
    node: ast.expr


class Surroundings(Protocol):
    """What the functions of a program are looked up in."""

    debug: bool  # whether a division by zero raises

    def value_of(self, name: str) -> Any:
        """Return what a name outside a function means; raises KeyError."""

    def path_of(self, value: Any) -> str | None:
        """Return the path under `cuda` that a value stands for, "" for `cuda` itself, None for anything else."""

    def device_function(self, value: Any) -> FunctionType | None:
        """Return the function that a device function runs, None for anything else."""

    def specialised(self, value: Any, types: tuple[StaticType, ...]) -> tuple[StaticType, Any]:
        """Return what a device function returns for arguments of these types, and what to call."""

    def dispatching(self, value: Any) -> Callable[..., Any]:
        """Return what calls a device function by the types that its arguments turn out to have."""


class ExpressionTyper:
    """Types and rewrites the expressions of one function.

    variables: what is known of its variables here, by name. helpers: what the rewritten function finds under names
    that the source does not have.
    """

    def __init__(self, around: Surroundings, local_names: frozenset[str]) -> None:
        self.around, self.local_names = around, local_names
        self.variables: dict[str, StaticType] = {}
        self.helpers: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._temporaries = 0

    def helper(self, value: Any, where: ast.AST) -> ast.expr:
        """Return the expression of a value of ours."""
        if id(value) not in self._names:
            self._names[id(value)] = f"_ts_{len(self._names)}"
            self.helpers[self._names[id(value)]] = value
        return ast.copy_location(ast.Name(self._names[id(value)], ast.Load()), where)

    def temporary(self) -> str:
        """Return the name of a new variable."""
        self._temporaries += 1
        return f"_ts_v{self._temporaries}"

    def call(self, function: Any, arguments: Sequence[ast.expr], where: ast.AST) -> ast.expr:
        """Return the call of a function of ours."""
        return ast.copy_location(ast.Call(self.helper(function, where), list(arguments), []), where)

    def expression(self, node: ast.expr) -> Typed:
        """Return an expression rewritten, with its type."""
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is not None:
            return method(node)  # type: ignore[no-any-return]  # each returns a Typed
        return Typed(None, node if isinstance(node, _SCOPES) else self._parts(node))

    def _parts(self, node: Any) -> Any:
        """Return a node of another kind, the expressions in it rewritten."""
        made = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                value = self.expression(value).node
            elif isinstance(value, list):
                value = [self._part(v) for v in value]
            made[name] = value
        return ast.copy_location(type(node)(**made), node)

    def _part(self, node: Any) -> Any:
        if isinstance(node, ast.expr):
            return self.expression(node).node
        return self._parts(node) if isinstance(node, ast.AST) else node

    # Values

    def _Constant(self, node: ast.Constant) -> Typed:
        return self._known(node.value, node)

    def _Name(self, node: ast.Name) -> Typed:
        if node.id in self.local_names:
            return Typed(self.variables.get(node.id), node)
        try:
            return Typed(constant(self.around.value_of(node.id)), node)
        except KeyError:
            return Typed(Known(getattr(builtins, node.id)) if hasattr(builtins, node.id) else None, node)

    def _known(self, value: Any, node: ast.expr) -> Typed:
        """Return a value that does not change, as it is computed with."""
        computed = as_computed(value)
        return Typed(constant(computed), node if computed is value else self.helper(computed, node))

    def _NamedExpr(self, node: ast.NamedExpr) -> Typed:
        found, value = self.expression(node.value)
        self.variables[node.target.id] = found
        return Typed(found, ast.copy_location(ast.NamedExpr(node.target, value), node))

    def _Tuple(self, node: ast.Tuple) -> Typed:
        parts = [self.expression(part) for part in node.elts]
        made = ast.copy_location(ast.Tuple([p.node for p in parts], node.ctx), node)
        starred = any(isinstance(part, ast.Starred) for part in node.elts)
        return Typed(None if starred else TupleOf(tuple(p.type for p in parts)), made)

    def _Attribute(self, node: ast.Attribute) -> Typed:
        base = self.expression(node.value)
        made = ast.copy_location(ast.Attribute(base.node, node.attr, node.ctx), node)
        if isinstance(base.type, Known):
            return self._of_known(base.type.value, made)
        if isinstance(base.type, ArrayOf):
            return Typed(_of_array(base.type, node.attr), made)
        if (
            isinstance(base.type, Number)
            and base.type.kind.startswith("complex")
            and node.attr in ("real", "imag")
        ):
            kind = "float32" if base.type.kind == "complex64" else "float64"
            return Typed(number(kind), self._converted_part(made, kind))
        return Typed(None, made)

    def _converted_part(self, node: ast.expr, kind: str) -> ast.expr:
        return self.call(float, [node], node) if kind == "float64" else node

    def _of_known(self, value: Any, node: ast.Attribute) -> Typed:
        if isinstance(value, CudaPath):
            path = CudaPath(f"{value}.{node.attr}" if value else node.attr)
            return Typed(cuda_value(path) or Known(path), node)
        if not isinstance(value, ModuleType | type) or isinstance(value, Enum):
            return Typed(None, node)
        try:
            found = getattr(value, node.attr)
        except AttributeError:
            return Typed(None, node)
        under_cuda = self.around.path_of(found)
        if under_cuda is not None:
            return Typed(Known(CudaPath(under_cuda)), node)
        if isinstance(found, int | float | complex) and not isinstance(found, Enum):
            computed = as_computed(found)
            return Typed(constant(computed), self.helper(computed, node))
        known = constant(found)
        return Typed(known if isinstance(known, Known) else None, node)

    def _Subscript(self, node: ast.Subscript) -> Typed:
        base, index = self.expression(node.value), self.expression(node.slice)
        made = ast.copy_location(ast.Subscript(base.node, index.node, node.ctx), node)
        return Typed(item(base.type, index.type, slices_in(node.slice)), made)

    # Operators

    def _BinOp(self, node: ast.BinOp) -> Typed:
        left, right = self.expression(node.left), self.expression(node.right)
        return self.operation(OPERATORS.get(type(node.op), ""), left, right, node, node.op)

    def operation(self, name: str, a: Typed, b: Typed, where: ast.expr | ast.stmt, op: ast.operator) -> Typed:
        """Return an operation of two values."""
        if not name:  # matrices, which Numba has not
            return Typed(None, self._native(op, a.node, b.node, where))
        if self.around.debug and name in DIVISIONS:
            return Typed(None, self.call(_checked(name), [a.node, b.node], where))
        if not isinstance(a.type, Number) or not isinstance(b.type, Number):
            return Typed(None, self.call(BINARY[name], [a.node, b.node], where))
        kind = result(name, a.type.kind, b.type.kind)
        if kind is None:
            return Typed(None, self._native(op, a.node, b.node, where))
        if kind in INTS:
            return self._of_integers(name, kind, a, b, where, op)
        return Typed(Number(kind), self._of_floats(name, kind, a, b, where, op))

    def _native(self, op: ast.operator, left: ast.expr, right: ast.expr, where: ast.AST) -> ast.expr:
        return ast.copy_location(ast.BinOp(left, op, right), where)

    def _of_integers(
        self, name: str, kind: str, a: Typed, b: Typed, where: ast.AST, op: ast.operator
    ) -> Typed:
        assert isinstance(a.type, Number)
        assert isinstance(b.type, Number)
        span = _span(name, a.type, b.type) if a.type.kind in SIGNED and b.type.kind in SIGNED else None
        if kind == "int64" and span is not None and integer(*span)[1:] == span:
            return Typed(integer(*span), self._native(op, a.node, b.node, where))
        called = self.call(binary(name, a.type.kind, b.type.kind), [a.node, b.node], where)
        return Typed(integer(*span) if span is not None and kind == "int64" else number(kind), called)

    def _of_floats(
        self, name: str, kind: str, a: Typed, b: Typed, where: ast.AST, op: ast.operator
    ) -> ast.expr:
        assert isinstance(a.type, Number)
        assert isinstance(b.type, Number)
        simple = name in ("add", "sub", "mul") or (name == "truediv" and _is_not_zero(b.type, b.node))
        single = kind in ("float16", "float32") and a.type.kind == b.type.kind == kind
        if single and (simple or name == "truediv"):
            return self._native(op, a.node, b.node, where)
        exact = all(
            t.kind in FLOATS or (t.kind in SIGNED and -(1 << 53) <= t.low <= t.high <= 1 << 53)
            for t in (a.type, b.type)
        )
        if kind == "float64" and simple and exact:
            return self._native(op, self._as_double(a), self._as_double(b), where)
        return self.call(binary(name, a.type.kind, b.type.kind), [a.node, b.node], where)

    def _as_double(self, value: Typed) -> ast.expr:
        """Return a value that Python computes with in double precision."""
        assert isinstance(value.type, Number)
        return (
            self.call(float, [value.node], value.node)
            if value.type.kind in ("float16", "float32")
            else value.node
        )

    def _UnaryOp(self, node: ast.UnaryOp) -> Typed:
        value = self.expression(node.operand)
        made = ast.copy_location(ast.UnaryOp(node.op, value.node), node)
        if isinstance(node.op, ast.Not):
            return Typed(Number("bool", 0, 1), made)
        name = OPERATORS[type(node.op)]
        if not isinstance(value.type, Number):
            return Typed(None, self.call(UNARY_OF_ANY[name], [value.node], node))
        kind, low, high = value.type
        if kind not in INTS:
            return Typed(value.type, made)
        if kind in SIGNED and low > integer(1, 0, kind).low:
            spans = {"neg": (-high, -low), "pos": (low, high), "invert": (~high, ~low)}
            plain = made if name != "pos" or kind == "int64" else self.call(int, [value.node], node)
            return Typed(integer(*spans[name]), plain)
        wide = "bool" if kind == "bool" and name == "invert" else "int64" if kind[0] != "u" else "uint64"
        return Typed(number(wide), self.call(unary(name, kind), [value.node], node))

    def _BoolOp(self, node: ast.BoolOp) -> Typed:
        parts = [self.expression(part) for part in node.values]
        found = joined(part.type for part in parts)
        made = ast.BoolOp(node.op, [self.converted(part, found) for part in parts])
        return Typed(found, ast.copy_location(made, node))

    def decided(self, test: ast.expr) -> bool | None:
        """Return what a condition of constants and globals comes to, None for another: Numba drops a branch."""
        if not all(self._is_constant(part) for part in ast.walk(test)):
            return None
        names = {
            part.id: self.around.value_of(part.id) for part in ast.walk(test) if isinstance(part, ast.Name)
        }
        try:
            return bool(eval(compile(ast.Expression(test), "", "eval"), {"__builtins__": {}}, names))
        except (ArithmeticError, TypeError, ValueError):
            return None

    def _is_constant(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Name):
            return isinstance(node, _OF_CONSTANTS)
        try:
            return node.id not in self.local_names and isinstance(self.around.value_of(node.id), int | float)
        except KeyError:
            return False

    def _IfExp(self, node: ast.IfExp) -> Typed:
        taken = self.decided(node.test)
        if taken is not None:
            return self.expression(node.body if taken else node.orelse)
        test, body, orelse = (self.expression(part) for part in (node.test, node.body, node.orelse))
        found = joined((body.type, orelse.type))
        made = ast.IfExp(test.node, self.converted(body, found), self.converted(orelse, found))
        return Typed(found, ast.copy_location(made, node))

    def converted(self, value: Typed, after: StaticType) -> ast.expr:
        """Return a value as the kind of number that it becomes."""
        if (
            not isinstance(value.type, Number)
            or not isinstance(after, Number)
            or value.type.kind == after.kind
        ):
            return value.node
        convert = converter(value.type.kind, after.kind)
        return value.node if convert is None else self.call(convert, [value.node], value.node)

    def _Compare(self, node: ast.Compare) -> Typed:
        values = [self.expression(part) for part in (node.left, *node.comparators)]
        names = [OPERATORS.get(type(op), "") for op in node.ops]
        pairs = list(zip(names, values, values[1:], strict=False))
        if all(_compares_alike(*pair) for pair in pairs):
            made: ast.expr = ast.Compare(values[0].node, node.ops, [v.node for v in values[1:]])
            return Typed(Number("bool", 0, 1), ast.copy_location(made, node))
        if len(pairs) == 1:
            return Typed(Number("bool", 0, 1), self._comparison(names[0], values[0], values[1], node))
        return Typed(Number("bool", 0, 1), self._chain(names, values, node))

    def _chain(self, names: list[str], values: list[Typed], node: ast.Compare) -> ast.expr:
        """Return comparisons one after the other, each value in the middle computed once."""
        parts, left = [], values[0]
        for place, (name, right) in enumerate(zip(names, values[1:], strict=True)):
            following = right
            if place < len(names) - 1:
                name_of = self.temporary()
                put = ast.NamedExpr(ast.Name(name_of, ast.Store()), right.node)
                following = Typed(right.type, ast.copy_location(ast.Name(name_of, ast.Load()), node))
                right = Typed(right.type, ast.copy_location(put, node))
            op = node.ops[place]
            parts.append(
                self._comparison(name, left, right, node)
                if name
                else ast.copy_location(ast.Compare(left.node, [op], [right.node]), node)
            )
            left = following
        return ast.copy_location(ast.BoolOp(ast.And(), parts), node)

    def _comparison(self, name: str, a: Typed, b: Typed, where: ast.AST) -> ast.expr:
        if isinstance(a.type, Number) and isinstance(b.type, Number):
            return self.call(binary(name, a.type.kind, b.type.kind), [a.node, b.node], where)
        return self.call(BINARY[name], [a.node, b.node], where)

    # Calls

    def _Call(self, node: ast.Call) -> Typed:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "bit_count" and not node.args:
            value = self.expression(node.func.value)
            counted = self.call(bit_count, [value.node], node)
            return Typed(cuda_result(CudaPath("popc"), [value.type], {}), counted)
        function = self.expression(node.func)
        plain = not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
        arguments = [self.expression(a) for a in node.args]
        keywords = [
            ast.copy_location(ast.keyword(k.arg, self.expression(k.value).node), k) for k in node.keywords
        ]
        made = ast.copy_location(ast.Call(function.node, [a.node for a in arguments], keywords), node)
        if not isinstance(function.type, Known):
            return Typed(self._method(node, function), made)
        value = function.type.value
        if isinstance(value, CudaPath):
            return self._cuda_call(value, arguments, keywords, made)
        if self.around.device_function(value) is not None:
            return self._device_call(value, arguments, made, plain)
        if not plain:
            return Typed(None, made)
        return self._function_call(value, arguments, made)

    def _method(self, node: ast.Call, function: Typed) -> StaticType:
        """Return what is known of what a method of an array gives."""
        if not isinstance(node.func, ast.Attribute) or not isinstance(function.type, ArrayOf):
            return None
        return function.type

    def _cuda_call(
        self, path: CudaPath, arguments: list[Typed], keywords: list[ast.keyword], made: ast.Call
    ) -> Typed:
        named = {k.arg: self.expression(k.value).type for k in keywords if k.arg in ("shape", "dtype")}
        return Typed(cuda_result(path, [a.type for a in arguments], named), made)

    def _device_call(self, value: Any, arguments: list[Typed], made: ast.Call, plain: bool) -> Typed:
        if not plain:
            return Typed(None, self._called(self.around.dispatching(value), made))
        found, function = self.around.specialised(value, tuple(a.type for a in arguments))
        return Typed(found, self._called(function, made))

    def _called(self, function: Any, made: ast.Call) -> ast.Call:
        return ast.copy_location(ast.Call(self.helper(function, made.func), made.args, made.keywords), made)

    def _function_call(self, value: Any, arguments: list[Typed], made: ast.Call) -> Typed:
        types = [a.type for a in arguments]
        if value is range:
            return self._range(types, made)
        if value is len:
            return Typed(integer(0, LONGEST), made)
        if value in (enumerate, zip):
            return Typed(None, made)
        function = typed_function(value)
        if function is None:
            return Typed(None, made)
        kinds = [t.kind for t in types if isinstance(t, Number)]
        if value is divmod and self.around.debug:
            return self._divmod(arguments, made)
        if not kinds or len(kinds) < len(types):
            return Typed(_of_unknown(value), self._called(_if_numbers(value, function), made))
        if value is divmod:
            return self._divmod(arguments, made)
        try:
            kind = function.rule(*kinds)
        except TypeError:  # too many arguments, or too few: it says so itself
            return Typed(None, made)
        return self._computed(value, function.compute, kind, arguments, made)

    def _computed(
        self, value: Any, compute: Any, kind: str | None, arguments: list[Typed], made: ast.Call
    ) -> Typed:
        """Return the call of a function of numbers; where it changes nothing, its argument."""
        first = arguments[0].type
        assert isinstance(first, Number)
        casts = kind_of_type(value) is not None
        if casts and kind == first.kind and kind != "bool":
            return arguments[0]
        if kind == "float64" and casts and first.kind in FLOATS:
            return Typed(number(kind), self._called(float, made))
        if kind in INTS and casts and first.kind in INTS:
            low, high = number(kind)[1:]
            if low <= first.low <= first.high <= high:
                return Typed(Number(kind, first.low, first.high), self._called(compute, made))
        if value in (min, max) and kind in INTS and all(a.type[0] == kind for a in arguments):  # type: ignore[index]
            return Typed(_least(value, kind, [a.type for a in arguments]), made)  # type: ignore[misc]
        return Typed(number(kind) if kind else None, self._called(compute, made))

    def _divmod(self, arguments: list[Typed], made: ast.Call) -> Typed:
        if len(arguments) != 2 or self.around.debug:
            return Typed(None, self._called(_checked("divmod"), made))
        a, b = (argument.type for argument in arguments)
        assert isinstance(a, Number)
        assert isinstance(b, Number)
        kind = result("divmod", a.kind, b.kind)
        found = TupleOf((number(kind),) * 2) if kind else None
        return Typed(found, self._called(binary("divmod", a.kind, b.kind), made))

    def _range(self, types: list[StaticType], made: ast.Call) -> Typed:
        if not types or not all(isinstance(t, Number) and t.kind in INTS for t in types):
            return Typed(None, self._called(_range_of_any, made))
        numbers = [t for t in types if isinstance(t, Number)]
        if all(t.kind[0] == "u" for t in numbers):
            return Typed(Known(RangeOf(number("uint64"))), self._called(_unsigned_range, made))
        begin, end = numbers[:2] if len(numbers) > 1 else (Number("int64"), numbers[0])
        found = integer(min(begin.low, end.low), max(begin.high, end.high))
        wide = any(t.kind == "uint64" for t in numbers)
        function = _signed_range if wide else range
        return Typed(Known(RangeOf(found)), made if function is range else self._called(function, made))

    def given_by(self, iterated: StaticType) -> StaticType:
        """Return what a loop over a value gives in each round."""
        if isinstance(iterated, Known) and isinstance(iterated.value, RangeOf):
            return iterated.value.element
        return elements(iterated)


class RangeOf:
    """What `range(...)` gives."""

    def __init__(self, element: Number) -> None:
        self.element = element


def _unsigned_range(*bounds: int) -> Any:
    cast = binary("add", "uint64", "uint64")
    return (cast(n, 0) for n in range(*map(int, bounds)))


def _signed_range(*bounds: int) -> Any:
    convert = converter("uint64", "int64")
    assert convert is not None
    return range(*map(convert, bounds))


def _range_of_any(*bounds: Any) -> Any:
    """Return a range of numbers whose kinds are known when it begins."""
    unsigned = all(type(bound).__name__.startswith("UInt") for bound in bounds)
    return _unsigned_range(*bounds) if unsigned else range(*bounds)


def _if_numbers(value: Any, typed: TypedFunction) -> Callable[..., Any]:
    """Return what calls a function with Numba's arithmetic where it is given numbers, else as it is."""

    def call(*arguments: Any) -> Any:
        numbers = all(kind_of(argument) is not None for argument in arguments)
        return (typed.compute if numbers else value)(*arguments)

    return call


def _of_unknown(value: Any) -> StaticType:
    """Return what a function gives whatever it is called with."""
    kind = kind_of_type(value) if value not in (int, float) else None
    return number(kind) if kind else None


def _least(function: Any, kind: str, types: list[Number]) -> Number:
    low, high = function(t.low for t in types), function(t.high for t in types)
    return Number(kind, low, high)


_checks: dict[str, Any] = {}


def _checked(name: str) -> Any:
    """Return a division that raises where it is by zero, as @cuda.jit(debug=True) asks for."""
    if name not in _checks:

        def division(a: Any, b: Any) -> Any:
            if isinstance(b, int | float | np.floating) and b == 0:
                raise ZeroDivisionError("division by zero")
            return BINARY[name](a, b)

        _checks[name] = division
    return _checks[name]


def _of_array(array: ArrayOf, name: str) -> StaticType:
    if name in ("shape", "strides"):
        return (
            TupleOf((integer(0 if name == "shape" else -LONGEST, LONGEST),) * array.ndim)
            if array.ndim is not None
            else None
        )
    if name in _LENGTHS:
        return integer(0, LONGEST)
    if name in ("ndim", "itemsize"):
        return integer(0, 1 << 20)
    if name == "T":
        return array
    # A method, of which most give a view of the same elements.
    return ArrayOf(array.kind, array.ndim if name == "transpose" else None) if name in _VIEWS else None


_VIEWS = ("transpose", "reshape", "ravel")


def slices_in(index: ast.expr) -> int | None:
    """Return how many parts of an index are slices."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(
        isinstance(part, ast.Starred) or (isinstance(part, ast.Constant) and part.value is Ellipsis)
        for part in parts
    ):
        return None
    return sum(isinstance(part, ast.Slice) for part in parts)


def _is_exact(found: Number) -> bool:
    """Return whether Python makes a float64 of a number as Numba does."""
    return found.kind in FLOATS or (found.kind in SIGNED and -EXACT <= found.low <= found.high <= EXACT)


def _is_not_zero(divisor: Number, node: ast.expr) -> bool:
    if divisor.kind in INTS:
        return divisor.low > 0 or divisor.high < 0
    return isinstance(node, ast.Constant) and node.value != 0


def _compares_alike(name: str, a: Typed, b: Typed) -> bool:
    """Return whether Python compares two values as Numba does."""
    if not name or name not in COMPARISONS:
        return True
    if not isinstance(a.type, Number) or not isinstance(b.type, Number):
        return False
    kinds = a.type.kind, b.type.kind
    return kinds[0] == kinds[1] or compared_as(*kinds) == "int"


def _span(name: str, a: Number, b: Number) -> tuple[int, int] | None:
    """Return the lowest and highest that an operation of two signed integers can give, None where that is no use."""
    if name in ("add", "sub", "mul"):
        ends = {
            "add": (a.low + b.low, a.high + b.high),
            "sub": (a.low - b.high, a.high - b.low),
            "mul": _product(a, b),
        }
        return ends[name]
    if name in ("floordiv", "mod") and b.low > 0:
        return (a.low // b.low if a.low < 0 else 0, max(a.high, 0)) if name == "floordiv" else (0, b.high - 1)
    if name in ("and", "or", "xor"):
        return _bits_span(name, a, b)
    if name in ("lshift", "rshift") and b.low == b.high and 0 <= b.low < 64:
        return (a.low << b.low, a.high << b.low) if name == "lshift" else (a.low >> b.low, a.high >> b.low)
    return None


def _product(a: Number, b: Number) -> tuple[int, int]:
    products = (a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
    return min(products), max(products)


def _bits_span(name: str, a: Number, b: Number) -> tuple[int, int]:
    if a.low >= 0 and b.low >= 0:
        return (0, min(a.high, b.high)) if name == "and" else (0, (1 << max(a.high, b.high).bit_length()) - 1)
    if name == "and" and (a.low >= 0 or b.low >= 0):
        return 0, a.high if a.low >= 0 else b.high
    bits = max(abs(n).bit_length() for n in (a.low, a.high, b.low, b.high))
    return -(1 << bits), (1 << bits) - 1
