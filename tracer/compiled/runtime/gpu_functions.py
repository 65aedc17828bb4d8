"""Functions of real numbers: libdevice's where it is installed, as on a GPU.

Without it, those of single precision are computed in double precision and rounded, as in the simulator: what is nearest
to the number that is meant.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from ...nvidia_math.functions import Signature, libdevice_function, signature_of
from ...recording.rounding import rounded_to
from ..math_functions import OF_ONE, OF_TWO

_DOUBLE, _SINGLE = ir.DoubleType(), ir.FloatType()
_LIKE_INT32 = (types.int8, types.int16, types.int32, types.uint8, types.uint16, types.boolean)


def call_libdevice(context: Any, builder: Any, signature: Signature, values: Sequence[Any]) -> Any:
    """Return what a function of libdevice gives for values of its own types: a tuple where it writes to pointers."""
    kinds = [context.get_value_type(getattr(types, kind)) for kind, _ in signature.parameters]
    pointers = [is_pointer for _, is_pointer in signature.parameters]
    parameters = [
        kind.as_pointer() if is_pointer else kind for kind, is_pointer in zip(kinds, pointers, strict=True)
    ]
    nothing = signature.returned == "none"
    returned = ir.VoidType() if nothing else context.get_value_type(getattr(types, signature.returned))
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(returned, parameters), signature.name
    )
    waiting = iter(values)
    given = [
        cgutils.alloca_once(builder, kind) if is_pointer else next(waiting)
        for kind, is_pointer in zip(kinds, pointers, strict=True)
    ]
    result = builder.call(function, given)
    if not any(pointers):
        return result
    written = [builder.load(value) for value, is_pointer in zip(given, pointers, strict=True) if is_pointer]
    parts = written if nothing else [result, *written]
    return context.make_tuple(builder, result_type(signature), parts)


def result_type(signature: Signature) -> Any:
    """Return the type of what a function of libdevice gives."""
    kinds = [getattr(types, kind) for kind in signature.results]
    return kinds[0] if len(kinds) == 1 else types.Tuple(kinds)


def _of_libdevice(signature: Signature, *given: Any) -> Any:
    """Return the typing of a call: its signature, and what generates it."""
    wanted = [getattr(types, kind) for kind in signature.arguments]

    def generate(context: Any, builder: Any, _: Any, args: Any) -> Any:
        pairs = zip(args, given, wanted, strict=True)
        values = [context.cast(builder, value, before, after) for value, before, after in pairs]
        return call_libdevice(context, builder, signature, values)

    return result_type(signature)(*given), generate


def _called(context: Any, builder: Any, function: Any, inner: Any, given: Any, kinds: Any) -> Any:
    """Return what a function of Numba's gives for values of these types."""
    found = [context.cast(builder, v, k, to) for v, k, to in zip(given, kinds, inner.args, strict=True)]
    return context.get_function(function, inner)(builder, found)


def _in_double(context: Any, builder: Any, double: Any, inner: Any, given: Any) -> Any:
    """Return what a function gives for single-precision numbers: that of double precision, rounded."""
    wide = [builder.fpext(value, _DOUBLE) for value in given]
    return builder.fptrunc(context.get_function(double, inner)(builder, wide), _SINGLE)


def _function(count: int, function: Any, of_math: Any) -> Any:
    """Return a function of Numba's of so many numbers; `of_math` is what computes it in double precision."""

    def typed(typing: Any, *given: Any) -> Any:
        inner = typing.resolve_function_type(function, given, {})
        if inner is None:
            return None
        kind = inner.return_type
        power_of_whole = function is not of_math and isinstance(inner.args[-1], types.Integer) and count == 2
        if not power_of_whole and kind in (types.float32, types.float64):
            found = libdevice_function(of_math, *(_argument(of_math, kind, value) for value in given))
            if found is not None:
                return _of_libdevice(found, *given)
            if kind == types.float32:
                return _single(typing, *given)

        def as_it_is(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _called(context, builder, function, inner, args, given)

        return kind(*given), as_it_is

    def _single(typing: Any, *given: Any) -> Any:
        wide = typing.resolve_function_type(of_math, (types.float64,) * count, {})

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pairs = zip(args, given, strict=True)
            values = [context.cast(builder, value, before, types.float32) for value, before in pairs]
            return _in_double(context, builder, of_math, wide, values)

        return types.float32(*given), generate

    def one(typing: Any, value: Any) -> Any:
        return typed(typing, value)

    def two(typing: Any, a: Any, b: Any) -> Any:
        return typed(typing, a, b)

    return intrinsic(one if count == 1 else two)


def _argument(function: Any, kind: Any, given: Any) -> str:
    """Return the type of an argument in libdevice: of the result, but for an integer as the exponent of `math.pow`."""
    return "int32" if function is math.pow and given in _LIKE_INT32 else str(kind)


def _of_the_library(name: str, count: int) -> Any:
    """Return a function of floats which Numba computes in another way: libdevice's, or C's."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_DOUBLE, [_DOUBLE] * count)
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        pairs = zip(args, signature.args, strict=True)
        given = [context.cast(builder, v, k, types.float64) for v, k in pairs]
        found = builder.call(function, given)
        return context.cast(builder, found, types.float64, signature.return_type)

    def typed(kind: Any, *given: Any) -> Any:
        found = signature_of(f"{name}{'f' if kind == types.float32 else ''}")
        return (kind(*given), generate) if found is None else _of_libdevice(found, *given)

    def one(typing: Any, value: Any) -> Any:
        return typed(types.float32 if value == types.float32 else types.float64, value)

    def two(typing: Any, a: Any, b: Any) -> Any:
        single = {a, b} <= {types.float32} or typing.unify_types(a, b) == types.float32
        return typed(types.float32 if single else types.float64, a, b)

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


def _absolute(typing: Any, value: Any) -> Any:
    """Return the absolute value of a number; of a complex one by libdevice."""
    inner = typing.resolve_function_type(abs, (value,), {})
    if inner is None:
        return None
    kind = str(inner.return_type)
    found = libdevice_function(math.hypot, kind, kind) if isinstance(value, types.Complex) else None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if found is None:
            return _called(context, builder, abs, inner, args, (value,))
        number = context.make_complex(builder, value, args[0])
        return call_libdevice(context, builder, found, (number.real, number.imag))

    return inner.return_type(value), generate


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
    "_ts_absolute": intrinsic(_absolute),
    "_ts_cuda_fma": intrinsic(_fma),
    "_ts_power": _function(2, operator.pow, math.pow),
    "_ts_cuda_cbrt": _of_the_library("cbrt", 1),
}
for _name in OF_ONE:
    if hasattr(math, _name):
        MATHS[f"_ts_math_{_name}"] = _function(1, getattr(math, _name), getattr(math, _name))
for _name, _other in OF_ONE.items():
    if _other:
        MATHS[f"_ts_np_{_other}"] = _function(1, getattr(np, _other), getattr(math, _name))
for _name in OF_TWO:
    MATHS[f"_ts_math_{_name}"] = _function(2, getattr(math, _name), getattr(math, _name))
MATHS |= {f"_ts_math_{_name}": _of_the_library(_name, 2) for _name in ("hypot", "remainder", "fmod")}


def libdevice_call(name: str) -> Any:
    """Return a function of `cuda.libdevice` for compiled code; None where there is none."""
    signature = signature_of(name)
    if signature is None:
        return None
    count = len(signature.arguments)

    def one(typing: Any, a: Any) -> Any:
        return _of_libdevice(signature, a)

    def two(typing: Any, a: Any, b: Any) -> Any:
        return _of_libdevice(signature, a, b)

    def three(typing: Any, a: Any, b: Any, c: Any) -> Any:
        return _of_libdevice(signature, a, b, c)

    return intrinsic((one, two, three)[count - 1]) if 0 < count < 4 else None
