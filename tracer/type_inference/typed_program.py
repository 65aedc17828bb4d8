"""Converts Numba's typed IR of a kernel to plain data, in the process that compiles."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from types import CodeType, FunctionType
from typing import Any

from .typed_ir import Block, FunctionIR, Literal, Position, Program, Statement, Type

BUILTIN, VALUE, LIBRARY = -1, -2, -3  # owners of global names other than the question's functions
COMPILE_TIME_TYPES = (
    "Module", "Function", "NumberClass", "CUDADispatcher", "Dispatcher", "DType", "TypeRef", "EnumClass",
    "IntEnumClass", "ClassType", "NamedTupleClass", "ExceptionClass", "RecursiveCall", "ExternFunction", "Opaque",
)  # fmt: skip
_positions: dict[CodeType, list[Any]] = {}


class NotDescribedError(Exception):
    """A part of the IR has no plain form; the message names it."""


def keep_columns() -> None:
    """Patch Numba's interpreter to keep each instruction's position; versions without the hook give only lines."""
    try:
        from numba.cuda.core import bytecode, ir
        from numba.cuda.core.interpreter import Interpreter
    except ImportError:  # Numba without numba-cuda
        from numba.core import bytecode, ir
        from numba.core.interpreter import Interpreter
    added = getattr(bytecode, "_FIXED_OFFSET", 0)  # bytes by which Numba's offsets are larger than Python's
    dispatch = getattr(Interpreter, "_dispatch", None)
    if dispatch is None or hasattr(dispatch, "notes_columns"):
        return

    def noting(self: Any, inst: Any, kws: Any) -> Any:
        code, loc = self.bytecode.func_id.code, self.loc
        if code not in _positions:
            _positions[code] = list(code.co_positions())
        index = (inst.offset - added) // 2
        if 0 <= index < len(_positions[code]) and None not in _positions[code][index]:
            line, end, column, end_column = _positions[code][index]
            self.loc = ir.Loc(loc.filename, inst.lineno or loc.line, (line, column, end, end_column))
        return dispatch(self, inst, kws)

    noting.notes_columns = True  # type: ignore[attr-defined]  # marks the wrapper
    Interpreter._dispatch = noting


def program_of(kernel: Any, functions: Sequence[FunctionType], arguments: Iterable[Any]) -> Program:
    """Convert a kernel's type annotation; `functions` are the question's, by number. Raises NotDescribedError."""
    described = _Program(functions)
    described.add(kernel)
    while described.waiting:
        described.describe(described.waiting.pop(0))
    functions_ir = tuple(
        described.functions_by_number[number] for number in range(len(described.functions_by_number))
    )
    argument_types = tuple(map(described.type, arguments))
    return Program(tuple(described.types), functions_ir, argument_types)


class _Program:
    """Collects the functions and types of a program while they are described."""

    def __init__(self, functions: Sequence[FunctionType]) -> None:
        self.functions = functions
        self.waiting: list[Any] = []
        self.types: list[Type] = []
        self.functions_by_number: dict[int, FunctionIR] = {}
        self._numbers: dict[int, int] = {}  # numbers of annotations, by their ids
        self._type_numbers: dict[Type, int] = {}
        self._kept: list[Any] = []  # keeps the annotations alive, so that their ids stay unique

    def add(self, annotation: Any) -> int:
        """Return the number of a function; a new one is queued for description."""
        if id(annotation) not in self._numbers:
            self._numbers[id(annotation)] = len(self._numbers)
            self._kept.append(annotation)
            self.waiting.append(annotation)
        return self._numbers[id(annotation)]

    def type(self, numba_type: Any) -> int:
        """Return the number of a type."""
        described = type_of(numba_type)
        if described not in self._type_numbers:
            self._type_numbers[described] = len(self.types)
            self.types.append(described)
        return self._type_numbers[described]

    def describe(self, annotation: Any) -> None:
        """Convert a function."""
        function = annotation.func_id.func
        number = next((index for index, other in enumerate(self.functions) if other is function), -1)
        describer = _Function(self, annotation, function)
        blocks = tuple(
            Block(label, tuple(describer.statements(block)))
            for label, block in sorted(annotation.blocks.items())
        )
        variables = {name: self.type(kind) for name, kind in annotation.typemap.items()}
        self.functions_by_number[self._numbers[id(annotation)]] = FunctionIR(
            number, function.__name__, function.__code__.co_filename, variables, blocks
        )


class _Function:
    """Converts the statements of one function."""

    def __init__(self, program: _Program, annotation: Any, function: FunctionType) -> None:
        self.program, self.function = program, function
        self.types, self.calls = annotation.typemap, annotation.calltypes

    def statements(self, block: Any) -> Iterable[Statement]:
        """Yield the statements of a block."""
        for statement in block.body:
            kind = type(statement).__name__
            if kind not in ("Del", "PopBlock"):
                describe = getattr(self, f"_{kind}", None)
                if describe is None:
                    raise NotDescribedError(f"a statement of kind {kind}")
                yield describe(statement)

    def _Assign(self, statement: Any) -> Statement:
        value, target = statement.value, statement.target.name
        position = _position(value.loc if _has_columns(value) else statement.loc)
        kind = type(value).__name__
        if kind == "Var":
            return Statement("assign", target, (value.name,), position=position)
        if kind == "Const":
            return Statement("const", target, position=position, value=literal(value.value))
        if kind == "Arg":
            return Statement("arg", target, name=value.name, number=value.index, position=position)
        if kind in ("Global", "FreeVar"):
            return self._name(target, value.name, value.value, position)
        if kind != "Expr":
            raise NotDescribedError(f"a value of kind {kind}")
        describe = getattr(self, f"_expr_{value.op}", None)
        if describe is None:
            raise NotDescribedError(f"an expression of kind {value.op}")
        described: Statement = describe(value, target, position)
        return described

    def _name(self, target: str, name: str, value: Any, position: Position) -> Statement:
        if getattr(builtins, name, None) is value:
            return Statement("global", target, name=name, number=BUILTIN, position=position)
        functions = self.program.functions
        order = [self.function, *(other for other in functions if other is not self.function)]
        for function in order:
            if any(meaning is value for meaning in _meanings(function, name)):
                number = next((index for index, other in enumerate(functions) if other is function), -1)
                if number >= 0:
                    return Statement("global", target, name=name, number=number, position=position)
        if isinstance(value, bool | int | float | complex | str | type(None)):
            return Statement(
                "global", target, name=name, number=VALUE, value=literal(value), position=position
            )
        function = self.function
        path = f"{function.__module__}:{name}"
        return Statement("global", target, name=path, number=LIBRARY, position=position)

    def _numbers_of_types(self, types: Iterable[Any]) -> tuple[int, ...]:
        return tuple(-1 if kind is None else self.program.type(kind) for kind in types)

    def _signature(self, value: Any, count: int) -> tuple[int, ...]:
        """Return the type numbers of an expression's operands and of its result."""
        signature = self.calls.get(value)
        if signature is None or len(signature.args) != count:
            return (-1,) * (count + 1)
        return self._numbers_of_types((*signature.args, signature.return_type))

    def _expr_binop(self, value: Any, target: str, position: Position) -> Statement:
        operands = (value.lhs.name, value.rhs.name)
        return Statement("binop", target, operands, value.fn.__name__, position, self._signature(value, 2))

    def _expr_inplace_binop(self, value: Any, target: str, position: Position) -> Statement:
        operands = (value.lhs.name, value.rhs.name)
        name = value.immutable_fn.__name__
        return Statement("binop", target, operands, name, position, self._signature(value, 2))

    def _expr_unary(self, value: Any, target: str, position: Position) -> Statement:
        return Statement(
            "unary", target, (value.value.name,), value.fn.__name__, position, self._signature(value, 1)
        )

    def _expr_getattr(self, value: Any, target: str, position: Position) -> Statement:
        return Statement("getattr", target, (value.value.name,), value.attr, position)

    def _expr_getitem(self, value: Any, target: str, position: Position) -> Statement:
        return Statement(
            "getitem", target, (value.value.name, value.index.name), "", position, self._signature(value, 2)
        )

    _expr_typed_getitem = _expr_getitem

    def _expr_static_getitem(self, value: Any, target: str, position: Position) -> Statement:
        if value.index_var is not None and not isinstance(value.index, str):
            operands = (value.value.name, value.index_var.name)
            index = literal(value.index) if isinstance(value.index, int) else None
            return Statement(
                "getitem", target, operands, "", position, self._signature(value, 2), value=index
            )
        return Statement(
            "static_getitem", target, (value.value.name,), "", position, value=literal(value.index)
        )

    def _expr_build_tuple(self, value: Any, target: str, position: Position) -> Statement:
        return Statement("build_tuple", target, tuple(item.name for item in value.items), position=position)

    def _expr_of_one_operand(self, value: Any, target: str, position: Position) -> Statement:
        return Statement(value.op, target, (value.value.name,), position=position)

    _expr_getiter = _expr_iternext = _expr_pair_first = _expr_pair_second = _expr_cast = _expr_of_one_operand

    def _expr_exhaust_iter(self, value: Any, target: str, position: Position) -> Statement:
        return Statement("exhaust_iter", target, (value.value.name,), number=value.count, position=position)

    def _expr_null(self, value: Any, target: str, position: Position) -> Statement:
        return Statement("null", target, position=position)

    _expr_undef = _expr_null

    def _expr_call(self, value: Any, target: str, position: Position) -> Statement:
        signature, function = self.calls[value], self.types[value.func.name]
        arguments = [argument.name for argument in value.args]
        keywords = [(name, argument.name) for name, argument in (value.kws or ())]
        types = self._types_of_call(signature, len(arguments), [name for name, _ in keywords])
        star: tuple[str, ...] = ()
        if value.vararg is not None:
            from numba.core.types import Tuple

            star = (value.vararg.name,)
            rest = Tuple(tuple(signature.args[len(arguments) :]))
            types = [*types[: len(arguments)], rest, *types[len(arguments) :]]
        operands = (value.func.name, *arguments, *star, *(argument for _, argument in keywords))
        return Statement(
            "call_star" if star else "call", target, operands, "", position,
            (-1, *self._numbers_of_types([*types, signature.return_type])), self._callee(function, signature),
            keywords=tuple(name for name, _ in keywords),
        )  # fmt: skip

    @staticmethod
    def _types_of_call(signature: Any, count: int, keywords: list[str]) -> list[Any]:
        types: list[Any] = [*signature.args[:count], *([None] * (count - len(signature.args)))]
        names = list(signature.pysig.parameters) if getattr(signature, "pysig", None) is not None else []
        for name in keywords:
            index = names.index(name) if name in names else -1
            types.append(signature.args[index] if 0 <= index < len(signature.args) else None)
        return types

    def _callee(self, function: Any, signature: Any) -> int:
        dispatcher = getattr(function, "dispatcher", None)
        if dispatcher is None:
            return -1
        overload = dispatcher.overloads.get(signature.args)
        return -1 if overload is None else self.program.add(overload.type_annotation)

    def _SetItem(self, statement: Any) -> Statement:
        operands = (statement.target.name, statement.index.name, statement.value.name)
        types = self._signature(statement, 3)[:3]
        return Statement("setitem", "", operands, "", _position(statement.loc), types)

    def _StaticSetItem(self, statement: Any) -> Statement:
        if statement.index_var is not None and not isinstance(statement.index, str):
            operands = (statement.target.name, statement.index_var.name, statement.value.name)
            types = self._signature(statement, 3)[:3]
            return Statement("setitem", "", operands, "", _position(statement.loc), types)
        signature = self._signature(statement, 3)
        return Statement(
            "static_setitem", "", (statement.target.name, statement.value.name), "", _position(statement.loc),
            (signature[0], signature[2]), value=literal(statement.index),
        )  # fmt: skip

    def _SetAttr(self, statement: Any) -> Statement:
        operands = (statement.target.name, statement.value.name)
        types = self._signature(statement, 2)[:2]
        return Statement("setattr", "", operands, statement.attr, _position(statement.loc), types)

    def _Print(self, statement: Any) -> Statement:
        if statement.vararg is not None:
            raise NotDescribedError("a print of unpacked values")
        operands = tuple(argument.name for argument in statement.args)
        signature = self.calls.get(statement)
        types = self._numbers_of_types(signature.args) if signature is not None else (-1,) * len(operands)
        constants = tuple(
            literal(statement.consts[index]) if index in statement.consts else Literal("")
            for index in range(len(operands))
        )
        return Statement(
            "print", "", operands, "", _position(statement.loc), types, value=Literal("tuple", "", constants)
        )

    def _Jump(self, statement: Any) -> Statement:
        return Statement("jump", position=_position(statement.loc), labels=(statement.target,))

    def _Branch(self, statement: Any) -> Statement:
        labels = (statement.truebr, statement.falsebr)
        return Statement(
            "branch", "", (statement.cond.name,), position=_position(statement.loc), labels=labels
        )

    def _Return(self, statement: Any) -> Statement:
        return Statement("return", "", (statement.value.name,), position=_position(statement.loc))

    def _StaticRaise(self, statement: Any) -> Statement:
        kind = statement.exc_class
        arguments = tuple(map(literal, statement.exc_args or ()))
        name = "" if kind is None else kind.__name__
        return Statement(
            "raise", "", (), name, _position(statement.loc), value=Literal("tuple", "", arguments)
        )


def _has_columns(value: Any) -> bool:
    return isinstance(getattr(getattr(value, "loc", None), "col", None), tuple)


def _position(loc: Any) -> Position:
    if isinstance(loc.col, tuple):
        line, column, end, end_column = loc.col
        return line, column, end, end_column
    return loc.line, -1, loc.line, -1


def _meanings(function: FunctionType, name: str) -> Iterable[Any]:
    code = function.__code__
    if name in code.co_freevars and function.__closure__:
        yield function.__closure__[code.co_freevars.index(name)].cell_contents
    elif name in function.__globals__:
        yield function.__globals__[name]


def literal(value: Any) -> Literal:
    """Convert a constant to plain data; raises NotDescribedError."""
    if type(value) is tuple:
        return Literal("tuple", "", tuple(map(literal, value)))
    if isinstance(value, slice):
        return Literal("slice", "", tuple(map(literal, (value.start, value.stop, value.step))))
    if type(value) is float:
        return Literal("float", value.hex())
    if type(value) is complex:
        return Literal("complex", "", (literal(value.real), literal(value.imag)))
    if type(value) in (bool, int, str, type(None)):
        return Literal(type(value).__name__, str(value))
    if value is Ellipsis:
        return Literal("ellipsis")
    if callable(getattr(value, "item", None)) and getattr(value, "ndim", 1) == 0:
        return literal(value.item())
    raise NotDescribedError(f"a constant of type {type(value).__name__}")


def type_of(numba_type: Any) -> Type:
    """Convert a type to plain data."""
    from numba.core import types

    name = type(numba_type).__name__
    if isinstance(numba_type, types.Literal) and not isinstance(numba_type.literal_value, str | slice):
        numba_type = types.unliteral(numba_type)
        name = type(numba_type).__name__
    if isinstance(numba_type, types.Boolean):
        return Type("bool")
    if isinstance(numba_type, types.Number):
        return (
            Type(str(numba_type.name))
            if name in ("Integer", "Float", "Complex")
            else Type("other", str(numba_type))
        )
    if isinstance(numba_type, types.NoneType):
        return Type("none")
    if isinstance(numba_type, types.BaseTuple):
        tuple_class = getattr(numba_type, "instance_class", None)
        return Type("tuple", getattr(tuple_class, "__name__", ""), tuple(map(type_of, numba_type)))
    if isinstance(numba_type, types.Buffer):
        return Type("array", f"{numba_type.ndim}{numba_type.layout}", (type_of(numba_type.dtype),))
    if isinstance(numba_type, types.Record):
        return Type("record", str(numba_type))
    if isinstance(numba_type, types.RangeType | types.RangeIteratorType):
        kind = numba_type.dtype if isinstance(numba_type, types.RangeType) else numba_type.yield_type
        return Type(
            "range" if isinstance(numba_type, types.RangeType) else "iterator", "range", (type_of(kind),)
        )
    if isinstance(numba_type, types.IteratorType):
        return Type("iterator", name, (type_of(numba_type.yield_type),))
    if isinstance(numba_type, types.Pair):
        return Type("pair", "", (type_of(numba_type.first_type),))
    if isinstance(numba_type, types.Optional):
        return Type("optional", "", (type_of(numba_type.type),))
    if isinstance(numba_type, types.Omitted):
        return Type("omitted")
    if isinstance(numba_type, types.CPointer):
        return Type("pointer", "", (type_of(numba_type.dtype),))
    if isinstance(numba_type, types.BoundFunction):
        return Type("method", str(getattr(numba_type, "typing_key", "")), (type_of(numba_type.this),))
    if isinstance(numba_type, types.EnumMember):
        return Type("enum", numba_type.instance_class.__name__, (type_of(numba_type.dtype),))
    if isinstance(numba_type, types.NumberClass):
        return Type("static", "number", (type_of(numba_type.instance_type),))
    if isinstance(numba_type, types.DType):
        return Type("static", "dtype", (type_of(numba_type.dtype),))
    if isinstance(numba_type, types.SliceType | types.SliceLiteral):
        return Type("slice", str(numba_type))
    if isinstance(numba_type, types.UnicodeType | types.StringLiteral):
        return Type("text")
    if any(base.__name__ in COMPILE_TIME_TYPES for base in type(numba_type).__mro__):
        return Type("static", name)
    return Type("other", str(numba_type))
