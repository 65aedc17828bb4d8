"""Operators and casts where CPUs and GPUs differ, as a GPU has them: shifts, remainders by inf, floats to integers.

What they give is that of the simulator's engine (tracer/simulator/arithmetic), and was measured on an H200.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic

_DOUBLE, _SINGLE, _I64 = ir.DoubleType(), ir.FloatType(), ir.IntType(64)


def converted(context: Any, builder: Any, value: Any, before: Any, after: Any) -> Any:
    """Return a number as one of another type; a float as an integer as PTX's `cvt` has it.

    What does not fit is the nearest, and a nan 0 or 0x80... Numba takes the nearest integer of half precision, and what
    lies towards 0 of others. LLVM converts those to 16 bits at least, of which 8 may remain.
    """
    if not (isinstance(before, types.Float) and isinstance(after, types.Integer)):
        return context.cast(builder, value, before, after)
    half = before == types.float16
    if half:
        rint = builder.module.declare_intrinsic("llvm.rint", [_SINGLE])
        value = builder.call(rint, [builder.fpext(value, _SINGLE)])
    bits = after.bitwidth if half else max(16, after.bitwidth)
    wide, kind = ir.IntType(bits), "fptosi" if after.signed else "fptoui"
    name = f"llvm.{kind}.sat.i{bits}.{'f64' if value.type == _DOUBLE else 'f32'}"
    saturate = builder.module.declare_intrinsic(name, fnty=ir.FunctionType(wide, [value.type]))
    found = builder.call(saturate, [value])  # 0 of a nan
    if before.bitwidth == 64 or bits == 64:
        is_nan = builder.fcmp_unordered("uno", value, value)
        found = builder.select(is_nan, wide(1 << (bits - 1)), found)
    return found if bits == after.bitwidth else builder.trunc(found, ir.IntType(after.bitwidth))


def _operation(function: Any, change: Any) -> Any:
    """Return an operator of Numba's with a change: (builder, type, result, operands) -> result."""

    def typer(typing: Any, a: Any, b: Any) -> Any:
        inner = typing.resolve_function_type(function, (a, b), {})
        if inner is None:
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = zip(args, (a, b), inner.args, strict=True)
            given = [context.cast(builder, value, before, after) for value, before, after in kinds]
            found = context.get_function(function, inner)(builder, given)
            return change(builder, inner, found, given)

        return inner.return_type(a, b), generate

    return intrinsic(typer)


def _no_remainder_by_inf(builder: Any, inner: Any, found: Any, given: Any) -> Any:
    if not isinstance(inner.return_type, types.Float):
        return found
    infinite = [builder.fcmp_ordered("==", given[1], given[1].type(sign * math.inf)) for sign in (1, -1)]
    return builder.select(builder.or_(*infinite), found.type(math.nan), found)


def _shift(function: Any) -> Any:
    """Return a shift that gives 0, or the sign, for amounts from 64 on and below 0."""

    def typer(typing: Any, a: Any, b: Any) -> Any:
        inner = typing.resolve_function_type(function, (a, b), {})
        if inner is None:
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = inner.return_type
            value = context.cast(builder, args[0], a, kind)
            amount = context.cast(builder, args[1], b, types.int64)
            within = builder.icmp_unsigned("<", amount, _I64(64))
            safe = builder.select(within, amount, _I64(63))
            if function is operator.lshift:
                return builder.select(within, builder.shl(value, safe), _I64(0))
            if kind.signed:
                return builder.ashr(value, safe)
            return builder.select(within, builder.lshr(value, safe), _I64(0))

        return inner.return_type(a, b), generate

    return intrinsic(typer)


def _cast(kind: Any) -> Any:
    """Return what makes a number one of a type; of None, what `int(x)` does."""

    def typer(typing: Any, value: Any) -> Any:
        if not isinstance(value, types.Number | types.Boolean) or isinstance(value, types.Complex):
            return None
        whole = isinstance(value, types.Integer) and not isinstance(value, types.Boolean)
        literal = types.unliteral(value)
        after = kind or (literal if whole else types.int64)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return converted(context, builder, args[0], value, after)

        return after(value), generate

    return intrinsic(typer)


def _choice(sign: str) -> Any:
    """Return `min` or `max` of two numbers, of the type that they have in common; a nan loses."""

    def typer(typing: Any, a: Any, b: Any) -> Any:
        kind = typing.unify_types(types.unliteral(a), types.unliteral(b))
        if not isinstance(kind, types.Integer | types.Float):
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            x, y = (context.cast(builder, v, t, kind) for v, t in zip(args, (a, b), strict=True))
            if isinstance(kind, types.Float):
                second = builder.fcmp_ordered(sign, y, x)
                second = builder.or_(second, builder.fcmp_unordered("uno", x, x))
            else:
                compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
                second = compare(sign, y, x)
            return builder.select(second, y, x)

        return kind(a, b), generate

    return intrinsic(typer)


def _rounding(name: str) -> Any:
    """Return `math.floor` or its like, which gives a float on a GPU."""

    def typer(typing: Any, value: Any) -> Any:
        if not isinstance(value, types.Integer | types.Float | types.Boolean):
            return None
        kind = value if isinstance(value, types.Float) else types.float64

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given = context.cast(builder, args[0], value, kind)
            function = builder.module.declare_intrinsic(f"llvm.{name}", [given.type])
            return builder.call(function, [given])

        return kind(value), generate

    return intrinsic(typer)


CASTS = {str(kind): _cast(kind) for kind in types.integer_domain}
NUMBERS: dict[str, Any] = {
    "_ts_mod": _operation(operator.mod, _no_remainder_by_inf),
    "_ts_floordiv": _operation(operator.floordiv, _no_remainder_by_inf),
    "_ts_lshift": _shift(operator.lshift),
    "_ts_rshift": _shift(operator.rshift),
    "_ts_to_int": _cast(None),
    "_ts_smallest": _choice("<"),
    "_ts_largest": _choice(">"),
    **{f"_ts_to_{name}": cast for name, cast in CASTS.items()},
    **{f"_ts_{name}": _rounding(name) for name in ("floor", "ceil", "trunc")},
}
