"""Functions of real numbers: those of libdevice if it is installed, as on a GPU.

Without libdevice, single-precision functions are computed in double precision and rounded, as in the simulator. That is
the float nearest to the exact result.
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

from ...nvidia_math.libdevice_functions import Signature as LibdeviceSignature
from ...nvidia_math.libdevice_functions import libdevice_function, signature_of
from ...recording.decimal_rounding import round_to_digits
from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..math_functions import BINARY_FUNCTIONS, UNARY_FUNCTIONS

_DOUBLE, _SINGLE = ir.DoubleType(), ir.FloatType()
_PROMOTED_TO_INT32 = (types.int8, types.int16, types.int32, types.uint8, types.uint16, types.boolean)


def call_libdevice(
    context: BaseContext, builder: Builder, signature: Signature, values: Sequence[Any]
) -> Value:
    """Call a function of libdevice with values of the right types; return a tuple if it writes to pointers."""
    kinds = [context.get_value_type(getattr(types, kind)) for kind, _ in signature.parameters]
    pointers = [is_pointer for _, is_pointer in signature.parameters]
    parameters = [
        kind.as_pointer() if is_pointer else kind for kind, is_pointer in zip(kinds, pointers, strict=True)
    ]
    returns_nothing = signature.returned == "none"
    returned = (
        ir.VoidType() if returns_nothing else context.get_value_type(getattr(types, signature.returned))
    )
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(returned, parameters), signature.name
    )
    inputs = iter(values)
    arguments = [
        cgutils.alloca_once(builder, kind) if is_pointer else next(inputs)
        for kind, is_pointer in zip(kinds, pointers, strict=True)
    ]
    result = builder.call(function, arguments)
    if not any(pointers):
        return result
    written = [
        builder.load(value) for value, is_pointer in zip(arguments, pointers, strict=True) if is_pointer
    ]
    parts = written if returns_nothing else [result, *written]
    return context.make_tuple(builder, result_type(signature), parts)


def result_type(signature: LibdeviceSignature) -> types.Type:
    """Return the type of the result of a libdevice function."""
    kinds = [getattr(types, kind) for kind in signature.results]
    return kinds[0] if len(kinds) == 1 else types.Tuple(kinds)


def _type_libdevice_call(signature: LibdeviceSignature, *given_types: types.Type) -> Intrinsic:
    """Type a call: return its signature and its code generator."""
    parameter_types = [getattr(types, kind) for kind in signature.arguments]

    def generate(context: BaseContext, builder: Builder, _: Any, args: Values) -> Value:
        pairs = zip(args, given_types, parameter_types, strict=True)
        values = [context.cast(builder, value, from_type, to_type) for value, from_type, to_type in pairs]
        return call_libdevice(context, builder, signature, values)

    return result_type(signature)(*given_types), generate


def _call_numba(
    context: BaseContext, builder: Builder, function: Any, inner: Any, values: Any, kinds: Any
) -> Value:
    """Call one of Numba's functions with values of these types."""
    arguments = [context.cast(builder, v, k, to) for v, k, to in zip(values, kinds, inner.args, strict=True)]
    return context.get_function(function, inner)(builder, arguments)


def _compute_in_double(context: BaseContext, builder: Builder, double: Any, inner: Any, values: Any) -> Value:
    """Compute a function of single-precision numbers in double precision, and round the result."""
    double_values = [builder.fpext(value, _DOUBLE) for value in values]
    return builder.fptrunc(context.get_function(double, inner)(builder, double_values), _SINGLE)


def _math_intrinsic(count: int, function: Any, math_function: Any) -> Any:
    """Make an intrinsic of so many arguments from a function that Numba knows; `math_function` is its double form."""

    def typed(typing: TypingContext, *given_types: types.Type) -> Intrinsic:
        inner = typing.resolve_function_type(function, given_types, {})
        if inner is None:
            return None
        kind = inner.return_type
        is_integer_power = (
            function is not math_function and isinstance(inner.args[-1], types.Integer) and count == 2
        )
        if not is_integer_power and kind in (types.float32, types.float64):
            libdevice_signature = libdevice_function(
                math_function, *(_argument_type(math_function, kind, value) for value in given_types)
            )
            if libdevice_signature is not None:
                return _type_libdevice_call(libdevice_signature, *given_types)
            if kind == types.float32:
                return _single(typing, *given_types)

        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            return _call_numba(context, builder, function, inner, args, given_types)

        return kind(*given_types), generate

    def _single(typing: TypingContext, *given_types: types.Type) -> Intrinsic:
        double_signature = typing.resolve_function_type(math_function, (types.float64,) * count, {})

        def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
            pairs = zip(args, given_types, strict=True)
            values = [context.cast(builder, value, from_type, types.float32) for value, from_type in pairs]
            return _compute_in_double(context, builder, math_function, double_signature, values)

        return types.float32(*given_types), generate

    def unary(typing: TypingContext, value: types.Type) -> Intrinsic:
        return typed(typing, value)

    def binary(typing: TypingContext, a: types.Type, b: types.Type) -> Intrinsic:
        return typed(typing, a, b)

    return intrinsic(unary if count == 1 else binary)


def _argument_type(function: Any, kind: Any, given_type: Any) -> str:
    """Return the type of an argument in libdevice: that of the result, but for integer exponents of `math.pow`."""
    return "int32" if function is math.pow and given_type in _PROMOTED_TO_INT32 else str(kind)


def _library_intrinsic(name: str, count: int) -> Any:
    """Make an intrinsic for a function that Numba computes differently: libdevice's version, or C's."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        kind = ir.FunctionType(_DOUBLE, [_DOUBLE] * count)
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        pairs = zip(args, signature.args, strict=True)
        arguments = [context.cast(builder, v, k, types.float64) for v, k in pairs]
        result = builder.call(function, arguments)
        return context.cast(builder, result, types.float64, signature.return_type)

    def typed(kind: types.Type, *given_types: types.Type) -> Intrinsic:
        libdevice_signature = signature_of(f"{name}{'f' if kind == types.float32 else ''}")
        return (
            (kind(*given_types), generate)
            if libdevice_signature is None
            else _type_libdevice_call(libdevice_signature, *given_types)
        )

    def unary(typing: TypingContext, value: types.Type) -> Intrinsic:
        return typed(types.float32 if value == types.float32 else types.float64, value)

    def binary(typing: TypingContext, a: types.Type, b: types.Type) -> Intrinsic:
        is_single = {a, b} <= {types.float32} or typing.unify_types(a, b) == types.float32
        return typed(types.float32 if is_single else types.float64, a, b)

    return intrinsic(unary if count == 1 else binary)


def _modf(typing: TypingContext, value: types.Type) -> Intrinsic:
    """Split a number into its fraction and its integer part, truncated toward 0, both with its sign."""
    if not isinstance(value, types.Integer | types.Float | types.Boolean):
        return None
    kind = value if isinstance(value, types.Float) else types.float64

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        number = context.cast(builder, args[0], value, kind)
        trunc, fabs = (
            builder.module.declare_intrinsic(f"llvm.{n}", [number.type]) for n in ("trunc", "fabs")
        )
        binary_type = ir.FunctionType(number.type, [number.type] * 2)
        copysign = builder.module.declare_intrinsic("llvm.copysign", [number.type], binary_type)
        integer, zero = builder.call(trunc, [number]), number.type(0.0)
        is_infinite = builder.fcmp_ordered("==", builder.call(fabs, [number]), number.type(math.inf))
        fraction = builder.select(is_infinite, zero, builder.fsub(number, integer))
        return context.make_tuple(
            builder, signature.return_type, [builder.call(copysign, [fraction, number]), integer]
        )

    return types.UniTuple(kind, 2)(value), generate


def _absolute(typing: TypingContext, value: types.Type) -> Intrinsic:
    """Compute the absolute value of a number; libdevice computes that of a complex number."""
    inner = typing.resolve_function_type(abs, (value,), {})
    if inner is None:
        return None
    kind = str(inner.return_type)
    hypot = libdevice_function(math.hypot, kind, kind) if isinstance(value, types.Complex) else None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        if hypot is None:
            return _call_numba(context, builder, abs, inner, args, (value,))
        number = context.make_complex(builder, value, args[0])
        return call_libdevice(context, builder, hypot, (number.real, number.imag))

    return inner.return_type(value), generate


def _fma(typing: TypingContext, a: types.Type, b: types.Type, c: types.Type) -> Intrinsic:
    """Multiply and add with one rounding."""
    argument_types = (a, b, c)
    if not all(isinstance(kind, types.Number | types.Boolean) for kind in argument_types):
        return None
    is_single = typing.unify_types(types.float32, *argument_types) == types.float32
    kind = types.float32 if is_single else types.float64

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        pairs = zip(args, argument_types, strict=True)
        return builder.fma(*(context.cast(builder, value, from_type, kind) for value, from_type in pairs))

    return kind(*argument_types), generate


def _rounding(typing: TypingContext, value: types.Type, digits: types.Type) -> Intrinsic:
    """Round a number to a number of decimal places."""
    inner = typing.resolve_function_type(round, (value, digits), {})
    if inner is None:
        return None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        double_types = (types.float64, types.int64)
        arguments = [
            context.cast(builder, v, k, to)
            for v, k, to in zip(args, (value, digits), double_types, strict=True)
        ]
        result = context.compile_internal(builder, round_to_digits, types.float64(*double_types), arguments)
        return context.cast(builder, result, types.float64, inner.return_type)

    return inner.return_type(value, digits), generate


MATH_FUNCTIONS: dict[str, Any] = {
    "_ts_round_to": intrinsic(_rounding),
    "_ts_math_modf": intrinsic(_modf),
    "_ts_absolute": intrinsic(_absolute),
    "_ts_cuda_fma": intrinsic(_fma),
    "_ts_power": _math_intrinsic(2, operator.pow, math.pow),
    "_ts_cuda_cbrt": _library_intrinsic("cbrt", 1),
}
for _name in UNARY_FUNCTIONS:
    if hasattr(math, _name):
        MATH_FUNCTIONS[f"_ts_math_{_name}"] = _math_intrinsic(1, getattr(math, _name), getattr(math, _name))
for _name, _numpy_name in UNARY_FUNCTIONS.items():
    if _numpy_name:
        MATH_FUNCTIONS[f"_ts_np_{_numpy_name}"] = _math_intrinsic(
            1, getattr(np, _numpy_name), getattr(math, _name)
        )
for _name in BINARY_FUNCTIONS:
    MATH_FUNCTIONS[f"_ts_math_{_name}"] = _math_intrinsic(2, getattr(math, _name), getattr(math, _name))
MATH_FUNCTIONS |= {
    f"_ts_math_{_name}": _library_intrinsic(_name, 2) for _name in ("hypot", "remainder", "fmod")
}


def libdevice_call(name: str) -> Any:
    """Make an intrinsic for a function of `cuda.libdevice`; None if there is none of this name."""
    signature = signature_of(name)
    if signature is None:
        return None
    count = len(signature.arguments)

    def unary(typing: TypingContext, a: types.Type) -> Intrinsic:
        return _type_libdevice_call(signature, a)

    def binary(typing: TypingContext, a: types.Type, b: types.Type) -> Intrinsic:
        return _type_libdevice_call(signature, a, b)

    def ternary(typing: TypingContext, a: types.Type, b: types.Type, c: types.Type) -> Intrinsic:
        return _type_libdevice_call(signature, a, b, c)

    return intrinsic((unary, binary, ternary)[count - 1]) if 0 < count < 4 else None
