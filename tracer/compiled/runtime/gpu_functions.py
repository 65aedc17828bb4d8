"""Functions of math and NumPy of single precision: computed in double precision and rounded, as in the simulator.

So both engines give the same, and what is nearest to the number that is meant.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ...recording.rounding import rounded_to
from ..math_functions import OF_ONE, OF_TWO

_DOUBLE, _SINGLE = ir.DoubleType(), ir.FloatType()


def _called(context: Any, builder: Any, function: Any, inner: Any, given: Any, kinds: Any) -> Any:
    """Return what a function of Numba's gives for values of these types."""
    found = [context.cast(builder, v, k, to) for v, k, to in zip(given, kinds, inner.args, strict=True)]
    return context.get_function(function, inner)(builder, found)


def _in_double(context: Any, builder: Any, double: Any, inner: Any, given: Any) -> Any:
    """Return what a function gives for single-precision numbers: that of double precision, rounded."""
    wide = [builder.fpext(value, _DOUBLE) for value in given]
    return builder.fptrunc(context.get_function(double, inner)(builder, wide), _SINGLE)


def _of_one(function: Any, double: Any) -> Any:
    def typer(typing: Any, value: Any) -> Any:
        if value == types.float32:
            inner = typing.resolve_function_type(double, (types.float64,), {})

            def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return _in_double(context, builder, double, inner, args)

            return types.float32(value), generate
        inner = typing.resolve_function_type(function, (value,), {})
        if inner is None:
            return None

        def as_it_is(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _called(context, builder, function, inner, args, (value,))

        return inner.return_type(value), as_it_is

    return intrinsic(typer)


def _of_two(function: Any, double: Any) -> Any:
    def typer(typing: Any, a: Any, b: Any) -> Any:
        inner = typing.resolve_function_type(function, (a, b), {})
        if inner is None:
            return None
        if inner.args == (types.float32, types.float32) and inner.return_type == types.float32:
            wide = typing.resolve_function_type(double, (types.float64, types.float64), {})

            def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                pairs = zip(args, (a, b), strict=True)
                given = [context.cast(builder, v, k, types.float32) for v, k in pairs]
                return _in_double(context, builder, double, wide, given)

            return types.float32(a, b), generate

        def as_it_is(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _called(context, builder, function, inner, args, (a, b))

        return inner.return_type(a, b), as_it_is

    return intrinsic(typer)


def _of_the_library(name: str, count: int) -> Any:
    """Return a function of C's of floats, which Numba computes in another way."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_DOUBLE, [_DOUBLE] * count)
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        pairs = zip(args, signature.args, strict=True)
        given = [context.cast(builder, v, k, types.float64) for v, k in pairs]
        found = builder.call(function, given)
        return context.cast(builder, found, types.float64, signature.return_type)

    def one(typing: Any, value: Any) -> Any:
        return (types.float32 if value == types.float32 else types.float64)(value), generate

    def two(typing: Any, a: Any, b: Any) -> Any:
        single = {a, b} <= {types.float32} or typing.unify_types(a, b) == types.float32
        return (types.float32 if single else types.float64)(a, b), generate

    return intrinsic(one if count == 1 else two)


def _modf(typing: Any, value: Any) -> Any:
    """Return the fraction of a number and the whole number nearer to 0, each with its sign."""
    if not isinstance(value, types.Integer | types.Float | types.Boolean):
        return None
    kind = value if isinstance(value, types.Float) else types.float64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        given = context.cast(builder, args[0], value, kind)
        trunc, fabs = (builder.module.declare_intrinsic(f"llvm.{n}", [given.type]) for n in ("trunc", "fabs"))
        two = ir.FunctionType(given.type, [given.type] * 2)
        copysign = builder.module.declare_intrinsic("llvm.copysign", [given.type], two)
        whole, zero = builder.call(trunc, [given]), given.type(0.0)
        endless = builder.fcmp_ordered("==", builder.call(fabs, [given]), given.type(math.inf))
        fraction = builder.select(endless, zero, builder.fsub(given, whole))
        return context.make_tuple(
            builder, signature.return_type, [builder.call(copysign, [fraction, given]), whole]
        )

    return types.UniTuple(kind, 2)(value), generate


def _fma(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """Multiply and add with one rounding."""
    given = (a, b, c)
    if not all(isinstance(kind, types.Number | types.Boolean) for kind in given):
        return None
    single = typing.unify_types(types.float32, *given) == types.float32
    kind = types.float32 if single else types.float64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pairs = zip(args, given, strict=True)
        return builder.fma(*(context.cast(builder, value, before, kind) for value, before in pairs))

    return kind(*given), generate


def _rounding(typing: Any, value: Any, digits: Any) -> Any:
    """Round a number to digits after its point."""
    inner = typing.resolve_function_type(round, (value, digits), {})
    if inner is None:
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = (types.float64, types.int64)
        given = [
            context.cast(builder, v, k, to) for v, k, to in zip(args, (value, digits), wide, strict=True)
        ]
        found = context.compile_internal(builder, rounded_to, types.float64(*wide), given)
        return context.cast(builder, found, types.float64, inner.return_type)

    return inner.return_type(value, digits), generate


MATHS: dict[str, Any] = {
    "_ts_round_to": intrinsic(_rounding),
    "_ts_math_modf": intrinsic(_modf),
    "_ts_cuda_fma": intrinsic(_fma),
    "_ts_power": _of_two(operator.pow, math.pow),
    "_ts_cuda_cbrt": _of_the_library("cbrt", 1),
}
for _name in OF_ONE:
    if hasattr(math, _name):
        MATHS[f"_ts_math_{_name}"] = _of_one(getattr(math, _name), getattr(math, _name))
for _name, _other in OF_ONE.items():
    if _other:
        MATHS[f"_ts_np_{_other}"] = _of_one(getattr(np, _other), getattr(math, _name))
for _name in OF_TWO:
    MATHS[f"_ts_math_{_name}"] = _of_two(getattr(math, _name), getattr(math, _name))
MATHS |= {f"_ts_math_{_name}": _of_the_library(_name, 2) for _name in ("hypot", "remainder")}
