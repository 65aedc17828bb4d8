"""Operators and casts where CPUs and GPUs differ: shifts, remainders by infinity, floats to integers.

The results are those of a GPU, the same as in the simulator's engine (tracer/simulator/arithmetic). They were measured
on an H200.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic

from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values

_DOUBLE, _SINGLE, _I64 = ir.DoubleType(), ir.FloatType(), ir.IntType(64)


def convert_number(
    context: BaseContext, builder: Builder, value: Value, from_type: Any, to_type: Any
) -> Value:
    """Convert a number to another type; a float to an integer as PTX's `cvt` does.

    Values out of range are clamped; a nan becomes 0 or 0x80... Numba rounds half precision to the nearest integer, and
    truncates other floats toward 0. LLVM converts those to 16 bits at least, of which 8 may remain.
    """
    if not (isinstance(from_type, types.Float) and isinstance(to_type, types.Integer)):
        return context.cast(builder, value, from_type, to_type)
    is_half = from_type == types.float16
    if is_half:
        rint = builder.module.declare_intrinsic("llvm.rint", [_SINGLE])
        value = builder.call(rint, [builder.fpext(value, _SINGLE)])
    bits = to_type.bitwidth if is_half else max(16, to_type.bitwidth)
    wide_type, kind = ir.IntType(bits), "fptosi" if to_type.signed else "fptoui"
    name = f"llvm.{kind}.sat.i{bits}.{'f64' if value.type == _DOUBLE else 'f32'}"
    saturate = builder.module.declare_intrinsic(name, fnty=ir.FunctionType(wide_type, [value.type]))
    result = builder.call(saturate, [value])  # 0 for a nan
    if from_type.bitwidth == 64 or bits == 64:
        is_nan = builder.fcmp_unordered("uno", value, value)
        result = builder.select(is_nan, wide_type(1 << (bits - 1)), result)
    return result if bits == to_type.bitwidth else builder.trunc(result, ir.IntType(to_type.bitwidth))


def _adjusted_operator(function: Any, change: Any) -> Any:
    """Make an intrinsic that adjusts an operator's result: (builder, type, result, operands) -> result."""

    def typer(typing: TypingContext, a: types.Type, b: types.Type) -> Intrinsic:
        inner = typing.resolve_function_type(function, (a, b), {})
        if inner is None:
            return None

        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            kinds = zip(args, (a, b), inner.args, strict=True)
            operands = [
                context.cast(builder, value, from_type, to_type) for value, from_type, to_type in kinds
            ]
            result = context.get_function(function, inner)(builder, operands)
            return change(builder, inner, result, operands)

        return inner.return_type(a, b), generate

    return intrinsic(typer)


def _nan_for_infinite_divisor(builder: Builder, inner: Any, result: Any, operands: Any) -> Value:
    if not isinstance(inner.return_type, types.Float):
        return result
    infinite = [
        builder.fcmp_ordered("==", operands[1], operands[1].type(sign * math.inf)) for sign in (1, -1)
    ]
    return builder.select(builder.or_(*infinite), result.type(math.nan), result)


def _shift(function: Any) -> Any:
    """Make an intrinsic for a shift that gives 0, or the sign, for amounts below 0 or above 63."""

    def typer(typing: TypingContext, a: types.Type, b: types.Type) -> Intrinsic:
        inner = typing.resolve_function_type(function, (a, b), {})
        if inner is None:
            return None

        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            kind = inner.return_type
            value = context.cast(builder, args[0], a, kind)
            amount = context.cast(builder, args[1], b, types.int64)
            is_in_range = builder.icmp_unsigned("<", amount, _I64(64))
            safe_amount = builder.select(is_in_range, amount, _I64(63))
            if function is operator.lshift:
                return builder.select(is_in_range, builder.shl(value, safe_amount), _I64(0))
            if kind.signed:
                return builder.ashr(value, safe_amount)
            return builder.select(is_in_range, builder.lshr(value, safe_amount), _I64(0))

        return inner.return_type(a, b), generate

    return intrinsic(typer)


def _cast(kind: Any) -> Any:
    """Make an intrinsic that converts a number to a type; for None, as `int(x)` does."""

    def typer(typing: TypingContext, value: types.Type) -> Intrinsic:
        if not isinstance(value, types.Number | types.Boolean) or isinstance(value, types.Complex):
            return None
        is_integer = isinstance(value, types.Integer) and not isinstance(value, types.Boolean)
        literal = types.unliteral(value)
        to_type = kind or (literal if is_integer else types.int64)

        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            return convert_number(context, builder, args[0], value, to_type)

        return to_type(value), generate

    return intrinsic(typer)


def _min_or_max(sign: str) -> Any:
    """Make `min` or `max` of two numbers, in their common type; a nan loses."""

    def typer(typing: TypingContext, a: types.Type, b: types.Type) -> Intrinsic:
        kind = typing.unify_types(types.unliteral(a), types.unliteral(b))
        if not isinstance(kind, types.Integer | types.Float):
            return None

        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            x, y = (context.cast(builder, v, t, kind) for v, t in zip(args, (a, b), strict=True))
            if isinstance(kind, types.Float):
                is_second = builder.fcmp_ordered(sign, y, x)
                is_second = builder.or_(is_second, builder.fcmp_unordered("uno", x, x))
            else:
                compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
                is_second = compare(sign, y, x)
            return builder.select(is_second, y, x)

        return kind(a, b), generate

    return intrinsic(typer)


def _rounding(name: str) -> Any:
    """Make `math.floor` or a similar function, which returns a float on a GPU."""

    def typer(typing: TypingContext, value: types.Type) -> Intrinsic:
        if not isinstance(value, types.Integer | types.Float | types.Boolean):
            return None
        kind = value if isinstance(value, types.Float) else types.float64

        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            number = context.cast(builder, args[0], value, kind)
            function = builder.module.declare_intrinsic(f"llvm.{name}", [number.type])
            return builder.call(function, [number])

        return kind(value), generate

    return intrinsic(typer)


CASTS = {str(kind): _cast(kind) for kind in types.integer_domain}
NUMBERS: dict[str, Any] = {
    "_ts_mod": _adjusted_operator(operator.mod, _nan_for_infinite_divisor),
    "_ts_floordiv": _adjusted_operator(operator.floordiv, _nan_for_infinite_divisor),
    "_ts_lshift": _shift(operator.lshift),
    "_ts_rshift": _shift(operator.rshift),
    "_ts_to_int": _cast(None),
    "_ts_smallest": _min_or_max("<"),
    "_ts_largest": _min_or_max(">"),
    **{f"_ts_to_{name}": cast for name, cast in CASTS.items()},
    **{f"_ts_{name}": _rounding(name) for name in ("floor", "ceil", "trunc")},
}
