"""Generates the syntax tree of a Python function from the typed IR; the nodes keep the source positions."""

from __future__ import annotations

import ast
import builtins
import importlib
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from itertools import islice
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...type_inference.typed_ir import FunctionIR, Literal, Position, Program, Statement, Type
from ..arithmetic.conversions import caster, to_computable
from ..arithmetic.functions import bit_count
from . import array_methods
from .casts import Cast, cast, exact, exact_cast, is_number, zero
from .contraction import fuse_products, fused_multiply_add
from .control_flow import set_position, structure_blocks
from .library_functions import CudaPath, function_of, needs_no_cast
from .operators import (
    HIGHEST,
    LOWEST,
    any_operator,
    binary_operator,
    checked_division,
    inline_comparison,
    inline_operator,
    may_overflow,
    unary_operator,
    wrap,
)

BUILTIN, VALUE, LIBRARY = -1, -2, -3  # owners of global names, as in `type_inference/typed_program.py`
CUDA = "$cuda"  # name of the launch's `cuda` module in the function
END = object()  # marks the end of an iterator
UNKNOWN = Type("other")
LITERAL_TYPES = (int, float, bool, str, type(None))


class NotGeneratedError(Exception):
    """The simulator does not support a part of the IR; the message names it."""


class CompileContext(Protocol):
    """The context in which a function's names and callees are looked up."""

    debug: bool  # whether a division by zero raises

    def global_value(self, number: int, name: str) -> Any:
        """Return the value of a global name of a question's function; raises KeyError."""

    def path_of(self, value: Any) -> str | None:
        """Return the path of a value under `cuda`, None for anything else."""

    def function_in(self, value: Any) -> FunctionType | None:
        """Return the Python function of a device function, None for anything else."""

    def callee(self, number: int, function: FunctionType) -> Callable[..., Any]:
        """Return the generated version of a function of the program."""


class Static(NamedTuple):
    """The value of a variable that is known before the function runs."""

    value: Any


class Generator:
    """Generates the tree of one function; helpers: the values of the global names that it uses."""

    def __init__(
        self, context: CompileContext, program: Program, ir: FunctionIR, function: FunctionType
    ) -> None:
        if not context.debug:
            ir = fuse_products(ir, program.types)
        self._context, self._program, self._ir, self._function = context, program, ir, function
        self.helpers: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._statics: dict[str, Static] = {}
        self._methods: dict[str, tuple[str, str]] = {}
        self._position: Position = (0, -1, 0, -1)
        statements = [s for block in ir.blocks for s in block.statements]
        self._used = {name for s in statements for name in s.operands}
        self._counts: dict[str, int] = {}
        for s in statements:
            self._counts[s.target] = self._counts.get(s.target, 0) + 1

    def tree(self) -> ast.FunctionDef:
        """Generate the function; raises NotGeneratedError."""
        for block in self._ir.blocks:  # static values must be known before any use
            for statement in block.statements:
                self._note_static(statement)
        body = structure_blocks(self._ir.blocks, self._statement, self._test)
        tree = ast.FunctionDef(self._function.__name__, self._parameters(), body, [], None, None)
        line = self._function.__code__.co_firstlineno
        return set_position(tree, (line, 0, line, 0))

    def _parameters(self) -> ast.arguments:
        code = self._function.__code__
        names = code.co_varnames
        parameters = [ast.arg(name) for name in names[: code.co_argcount]]
        rest = None
        if code.co_flags & 4:  # inspect.CO_VARARGS
            rest = ast.arg(names[code.co_argcount + code.co_kwonlyargcount])
        # Defaults are set on the compiled function.
        return ast.arguments([], parameters, rest, [], [], None, [])

    # Types and values

    def _type(self, name: str) -> Type:
        number = self._ir.variables.get(name)
        return UNKNOWN if number is None else self._program.types[number]

    def _wanted(self, statement: Statement, index: int) -> Type | None:
        """Return the type a statement converts an operand to, or its result type for -1; None for no conversion."""
        number = statement.types[index] if statement.types else -1
        return None if number < 0 else self._program.types[number]

    def _helper(self, value: Any) -> ast.expr:
        if type(value) in LITERAL_TYPES and value == value and value not in (float("inf"), -float("inf")):
            return ast.Constant(value)
        if id(value) not in self._names:
            self._names[id(value)] = f"$h{len(self._names)}"
            self.helpers[self._names[id(value)]] = value
        return ast.Name(self._names[id(value)], ast.Load())

    def _call(self, function: Any, *arguments: ast.expr) -> ast.expr:
        return ast.Call(self._helper(function), list(arguments), [])

    def _load(self, name: str, wanted: Type | None = None) -> ast.expr:
        """Generate the load of a variable, with a cast to a type."""
        own_type = self._type(name)
        if name in self._statics:
            return self._static(self._statics[name].value, own_type, wanted)
        node: ast.expr = ast.Name(name, ast.Load())
        convert = None if wanted is None else cast(own_type, wanted)
        return node if convert is None else self._call(convert, node)

    def _static(self, value: Any, own_type: Type, wanted: Type | None) -> ast.expr:
        if isinstance(value, CudaPath):
            return self._path(value)
        convert: Cast | None = None if wanted is None else cast(own_type, wanted)
        if isinstance(value, bool | int | float | complex | np.generic | tuple) and convert is not None:
            value = convert(value)
        return self._helper(value)

    def _path(self, path: str) -> ast.expr:
        node: ast.expr = ast.Name(CUDA, ast.Load())
        for part in path.split(".") if path else []:
            node = ast.Attribute(node, part, ast.Load())
        return node

    # Values that are known before the function runs

    def _note_static(self, statement: Statement) -> None:
        if not statement.target or statement.target in self._statics:
            return
        kind = self._type(statement.target)
        is_fixed = kind.kind == "static"
        if self._counts[statement.target] > 1 and not is_fixed:
            return
        if statement.op == "const" and statement.value is not None:
            self._statics[statement.target] = Static(self._convert_constant(value_of(statement.value), kind))
        elif statement.op == "global":
            self._statics[statement.target] = Static(self._convert_constant(self._meaning(statement), kind))
        elif (
            statement.op == "assign"
            and statement.operands[0] in self._statics
            and (is_fixed or kind == self._type(statement.operands[0]))
        ):
            self._statics[statement.target] = self._statics[statement.operands[0]]
        elif statement.op == "getattr":
            self._note_attribute(statement, kind)
        elif (
            statement.op in ("static_getitem", "getitem")
            and statement.value is not None
            and statement.operands[0] in self._statics
        ):
            base, index = self._statics[statement.operands[0]].value, value_of(statement.value)
            if isinstance(base, tuple) and isinstance(index, int):
                self._statics[statement.target] = Static(base[index])

    def _note_attribute(self, s: Statement, kind: Type) -> None:
        base = s.operands[0]
        if kind.kind == "method":
            self._methods[s.target] = base, s.name
        if base not in self._statics:
            if kind.kind == "static" and kind.text == "dtype" and is_number(kind.parts[0].kind):
                self._statics[s.target] = Static(np.dtype(kind.parts[0].kind))
            return
        value = self._statics[base].value
        if isinstance(value, CudaPath):
            path = CudaPath(f"{value}.{s.name}" if value else s.name)
            if not is_number(kind.kind) and kind.kind != "tuple":
                self._statics[s.target] = Static(path)
            return
        if not isinstance(value, ModuleType | type | Enum) and kind.kind != "static":
            return
        try:
            attribute = getattr(value, s.name)
        except AttributeError as error:
            raise NotGeneratedError(f"{s.name} of {value!r}") from error
        self._statics[s.target] = Static(self._convert_constant(self._resolve_path(attribute), kind))

    def _convert_constant(self, value: Any, kind: Type) -> Any:
        if is_number(kind.kind) and isinstance(value, bool | int | float | complex | np.generic):
            return caster(kind.kind)(to_computable(value))
        return value

    def _meaning(self, s: Statement) -> Any:
        if s.number == BUILTIN:
            return getattr(builtins, s.name)
        if s.number == VALUE:
            assert s.value is not None
            return value_of(s.value)
        if s.number == LIBRARY:
            module, _, name = s.name.partition(":")
            try:
                return self._resolve_path(getattr(importlib.import_module(module), name))
            except (ImportError, AttributeError) as error:
                raise NotGeneratedError(f"the name {name} of {module}") from error
        try:
            return self._resolve_path(self._context.global_value(s.number, s.name))
        except KeyError as error:
            raise NotGeneratedError(f"the name {s.name}") from error

    def _resolve_path(self, value: Any) -> Any:
        path = self._context.path_of(value)
        return value if path is None else CudaPath(path)

    # Statements

    def _statement(self, s: Statement) -> list[ast.stmt]:
        self._position = s.position
        generate = getattr(self, f"_op_{s.op}", None)
        if generate is None:
            raise NotGeneratedError(f"the operation {s.op}")
        nodes: list[ast.stmt] = generate(s)
        return [set_position(node, s.position) for node in nodes]

    def _test(self, s: Statement) -> ast.expr:
        return set_position(self._load(s.operands[0]), s.position)

    def _assign(self, s: Statement, value: ast.expr) -> list[ast.stmt]:
        if s.target in self._used:
            return [ast.Assign([ast.Name(s.target, ast.Store())], value)]
        return [ast.Expr(value)]

    def _is_static(self, s: Statement) -> bool:
        return s.target in self._statics

    def _op_const(self, s: Statement) -> list[ast.stmt]:
        if self._is_static(s) or s.target not in self._used:
            return []
        assert s.value is not None
        return self._assign(s, self._helper(self._convert_constant(value_of(s.value), self._type(s.target))))

    def _op_global(self, s: Statement) -> list[ast.stmt]:
        if self._is_static(s) or s.target not in self._used:
            return []
        return self._assign(s, self._helper(self._convert_constant(self._meaning(s), self._type(s.target))))

    def _op_arg(self, s: Statement) -> list[ast.stmt]:
        code = self._function.__code__
        name = code.co_varnames[s.number] if s.number < code.co_argcount else s.name
        if name == s.target:
            return []
        return self._assign(s, ast.Name(name, ast.Load()))

    def _op_assign(self, s: Statement) -> list[ast.stmt]:
        if self._is_static(s) or s.target not in self._used:
            return []
        return self._assign(s, self._load(s.operands[0], self._type(s.target)))

    _op_cast = _op_assign

    def _op_null(self, s: Statement) -> list[ast.stmt]:
        return self._assign(s, self._helper(zero(self._type(s.target))))

    _op_undef = _op_null

    def _op_binop(self, s: Statement) -> list[ast.stmt]:
        wanted = [self._wanted(s, n) for n in range(3)]
        left, right = (self._load(s.operands[n], wanted[n]) for n in range(2))
        kinds = tuple(type_.kind if type_ is not None and is_number(type_.kind) else "" for type_ in wanted)
        if "" in kinds[:2] or s.name in ("is_", "is_not", "contains"):
            return self._assign(s, self._call(any_operator(s.name), left, right))
        comparison = inline_comparison(s.name)
        if comparison is not None:
            return self._assign(s, ast.Compare(left, [comparison], [right]))
        checked = self._context.debug
        kind_triple = (kinds[0], kinds[1], kinds[2])
        inline = None if checked and s.name == "truediv" else inline_operator(s.name, kind_triple)
        if inline is None:
            return self._assign(
                s, self._call(binary_operator(s.name, kind_triple, checked=checked), left, right)
            )
        assignment = self._assign(s, ast.BinOp(left, inline, right))
        if not may_overflow(s.name, kinds[0]) or s.target not in self._used:
            return assignment
        bounds = ast.Compare(
            ast.Constant(LOWEST),
            [ast.LtE(), ast.LtE()],
            [ast.Name(s.target, ast.Load()), ast.Constant(HIGHEST)],
        )
        wrapped = ast.Assign(
            [ast.Name(s.target, ast.Store())], self._call(wrap, ast.Name(s.target, ast.Load()))
        )
        return [*assignment, ast.If(ast.UnaryOp(ast.Not(), bounds), [wrapped], [])]

    def _op_fma(self, s: Statement) -> list[ast.stmt]:
        operand_type = self._program.types[s.types[0]]
        values = [self._load(name, operand_type) for name in s.operands]
        return self._assign(s, self._call(fused_multiply_add(operand_type.kind, s.name), *values))

    def _op_unary(self, s: Statement) -> list[ast.stmt]:
        wanted, result = self._wanted(s, 0), self._wanted(s, -1)
        value = self._load(s.operands[0], wanted)
        if wanted is None or result is None or not is_number(wanted.kind) or s.name == "not_":
            return self._assign(s, self._call(any_operator(s.name), value))
        return self._assign(s, self._call(unary_operator(s.name, wanted.kind, result.kind), value))

    def _op_getattr(self, s: Statement) -> list[ast.stmt]:
        if self._is_static(s) or s.target in self._methods or s.target not in self._used:
            return []
        base = self._statics.get(s.operands[0])
        if base is not None and isinstance(base.value, CudaPath):
            return self._assign(s, self._path(f"{base.value}.{s.name}" if base.value else s.name))
        own_type = self._type(s.operands[0])
        if own_type.kind == "array" and s.name == "flat":
            return self._assign(s, self._call(array_methods.flat, self._load(s.operands[0])))
        node: ast.expr = ast.Attribute(self._load(s.operands[0]), s.name, ast.Load())
        if own_type.kind.startswith("complex"):
            node = self._call(exact_cast(self._type(s.target).kind), node)
        return self._assign(s, node)

    def _op_getitem(self, s: Statement) -> list[ast.stmt]:
        if self._is_static(s):
            return []
        base, index = s.operands
        return self._assign(s, ast.Subscript(self._load(base), self._index(s, index, 1), ast.Load()))

    def _index(self, s: Statement, index: str, number: int) -> ast.expr:
        return self._load(index, self._wanted(s, number))

    def _op_static_getitem(self, s: Statement) -> list[ast.stmt]:
        if self._is_static(s):
            return []
        assert s.value is not None
        index = self._helper(value_of(s.value))
        return self._assign(s, ast.Subscript(self._load(s.operands[0]), index, ast.Load()))

    def _op_setitem(self, s: Statement) -> list[ast.stmt]:
        base, index, value = s.operands
        target = ast.Subscript(self._load(base), self._index(s, index, 1), ast.Store())
        return [ast.Assign([target], self._load(value, self._element_type(base, self._wanted(s, 2))))]

    def _op_static_setitem(self, s: Statement) -> list[ast.stmt]:
        assert s.value is not None
        base, value = s.operands
        target = ast.Subscript(self._load(base), self._helper(value_of(s.value)), ast.Store())
        return [ast.Assign([target], self._load(value, self._element_type(base, self._wanted(s, 1))))]

    def _element_type(self, base: str, value_type: Type | None) -> Type | None:
        """Return the type to which a value is converted when it is stored in an array."""
        base_type = self._type(base)
        if base_type.kind in ("array", "pointer") and is_number(base_type.parts[0].kind):
            return base_type.parts[0] if value_type is None or is_number(value_type.kind) else value_type
        return value_type

    def _op_setattr(self, s: Statement) -> list[ast.stmt]:
        target = ast.Attribute(self._load(s.operands[0]), s.name, ast.Store())
        return [ast.Assign([target], self._load(s.operands[1], self._wanted(s, 1)))]

    def _op_build_tuple(self, s: Statement) -> list[ast.stmt]:
        parts = self._type(s.target).parts
        wanted: Sequence[Type | None] = parts if len(parts) == len(s.operands) else [None] * len(s.operands)
        items = [self._load(name, item_type) for name, item_type in zip(s.operands, wanted, strict=True)]
        return self._assign(s, ast.Tuple(items, ast.Load()))

    def _op_getiter(self, s: Statement) -> list[ast.stmt]:
        return self._assign(s, self._call(iter, self._load(s.operands[0])))

    def _op_iternext(self, s: Statement) -> list[ast.stmt]:
        return self._assign(s, self._call(next, self._load(s.operands[0]), self._helper(END)))

    def _op_pair_first(self, s: Statement) -> list[ast.stmt]:
        return self._assign(s, self._load(s.operands[0]))

    def _op_pair_second(self, s: Statement) -> list[ast.stmt]:
        return self._assign(s, ast.Compare(self._load(s.operands[0]), [ast.IsNot()], [self._helper(END)]))

    def _op_exhaust_iter(self, s: Statement) -> list[ast.stmt]:
        if self._type(s.operands[0]).kind == "tuple":
            return self._assign(s, self._load(s.operands[0]))
        items = self._call(islice, self._load(s.operands[0]), ast.Constant(s.number))
        return self._assign(s, self._call(tuple, items))

    def _op_print(self, s: Statement) -> list[ast.stmt]:
        arguments = [self._load(name) for name in s.operands]
        return [ast.Expr(ast.Call(ast.Name("print", ast.Load()), arguments, []))]

    def _op_raise(self, s: Statement) -> list[ast.stmt]:
        assert s.value is not None
        if not s.name:
            return [ast.Raise(None, None)]
        kind = getattr(builtins, s.name, None)
        if kind is None:
            try:
                kind = self._context.global_value(max(self._ir.number, 0), s.name)
            except KeyError:
                kind = type(s.name, (Exception,), {})
        arguments = [self._helper(value_of(part)) for part in s.value.parts]
        return [ast.Raise(self._call(kind, *arguments), None)]

    def _op_return(self, s: Statement) -> list[ast.stmt]:
        return [ast.Return(self._load(s.operands[0]))]

    # Calls

    def _op_call_star(self, s: Statement) -> list[ast.stmt]:
        return self._generate_call(s, star=True)

    def _op_call(self, s: Statement) -> list[ast.stmt]:
        return self._generate_call(s, star=False)

    def _generate_call(self, s: Statement, *, star: bool) -> list[ast.stmt]:
        function, *arguments = s.operands
        result = self._wanted(s, -1) or UNKNOWN
        if function in self._methods:
            return self._assign(s, self._method(s, arguments, result))
        static = self._statics.get(function)
        if static is None:
            raise NotGeneratedError(f"the call of {function}")
        value = static.value
        if isinstance(value, CudaPath):
            node: ast.expr = self._arguments(s, self._path(value), exact=not needs_no_cast(value), star=star)
            return self._assign(s, self._as_result(s, node, result, needs_no_cast(value)))
        device_function = self._context.function_in(value)
        if device_function is not None and s.number >= 0:
            return self._assign(
                s,
                self._arguments(s, self._helper(self._context.callee(s.number, device_function)), star=star),
            )
        if value is bool and self._type(arguments[0]).kind == "bool":
            return self._assign(s, self._load(arguments[0]))
        if self._type(function).text == "number" and is_number(result.kind) and len(arguments) == 1:
            return self._assign(s, self._load(arguments[0], result))
        wanted = [self._wanted(s, n) or self._type(name) for n, name in enumerate(arguments, 1)]
        compute, casts = function_of(value, wanted, result)
        if value is divmod and self._context.debug:
            compute = checked_division(compute)
        call = self._arguments(s, self._helper(compute), exact=casts, star=star)
        return self._assign(s, self._as_result(s, call, result, not casts))

    def _arguments(
        self, s: Statement, function: ast.expr, *, exact: bool = False, star: bool = False
    ) -> ast.expr:
        plain: list[ast.expr] = []
        named: list[ast.keyword] = []
        first_named = len(s.operands) - len(s.keywords)
        for number, name in enumerate(s.operands[1:], 1):
            value = self._load(name, self._wanted(s, number))
            wanted = self._wanted(s, number) or self._type(name)
            if exact and is_number(wanted.kind) and not isinstance(value, ast.Constant):
                value = self._call(exact_cast(wanted.kind), value)
            if number >= first_named:
                named.append(ast.keyword(s.keywords[number - first_named], value))
            elif star and number == first_named - 1:
                plain.append(ast.Starred(value, ast.Load()))
            else:
                plain.append(value)
        return ast.Call(function, plain, named)

    def _as_result(self, s: Statement, node: ast.expr, result: Type, is_exact: bool) -> ast.expr:
        convert = exact(result)
        return (
            node if is_exact or convert is None or s.target not in self._used else self._call(convert, node)
        )

    def _method(self, s: Statement, arguments: Sequence[str], result: Type) -> ast.expr:
        base, name = self._methods[s.operands[0]]
        own_type = self._type(base)
        if own_type.kind == "array" and name in array_methods.METHODS:
            compute = array_methods.method(name, result)
            return self._call(compute, self._load(base), *(self._load(argument) for argument in arguments))
        if name == "bit_count":
            value = self._call(exact_cast(own_type.kind), self._load(base))
            return self._as_result(s, self._call(bit_count, value), result, False)
        node = self._arguments(s, ast.Attribute(self._load(base), name, ast.Load()))
        return self._as_result(s, node, result, False)


def value_of(literal: Literal) -> Any:
    """Convert a constant of the IR to its Python value."""
    kind, parts = literal.kind, [value_of(part) for part in literal.parts]
    if kind == "tuple":
        return tuple(parts)
    if kind == "slice":
        return slice(*parts)
    if kind == "complex":
        return complex(parts[0], parts[1])
    if kind == "bool":
        return literal.text == "True"
    if kind in ("NoneType", "ellipsis"):
        return None if kind == "NoneType" else Ellipsis
    converters: Mapping[str, Callable[[str], Any]] = {"int": int, "float": float.fromhex, "str": str}
    return converters[kind](literal.text)
