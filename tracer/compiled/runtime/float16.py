"""Half precision for Numba's CPU target: the type, its operators, and the functions of `cuda.fp16`.

Sums, products and quotients are computed in half precision, as on a GPU. Other functions are computed in single
precision and rounded.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.extending import intrinsic, lower_builtin, register_model
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.cpython import numbers

from ...nvidia_math.contraction import HALF_FLAGS
from ..codegen_types import BaseContext, Builder, Intrinsic, Signature, TypingContext, Value, Values
from ..quick_compiler import PartCompiler
from .gpu_functions import MATH_FUNCTIONS

_PROMOTED_TO_HALF = (types.float16, types.int8, types.boolean)
_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "truediv": "fdiv"}
_COMPARISONS = {
    "lt": numbers.real_lt_impl, "le": numbers.real_le_impl, "gt": numbers.real_gt_impl, "ge": numbers.real_ge_impl,
    "eq": numbers.real_eq_impl, "ne": numbers.real_ne_impl,
}  # fmt: skip
_SIGNS = {operator.pos: numbers.real_positive_impl, abs: numbers.real_abs_impl}


@register_model(types.Float)
class _FloatModel(models.PrimitiveModel):  # type: ignore[misc]  # Numba is untyped to mypy
    """Floats as LLVM types, including half precision."""

    def __init__(self, manager: Any, fe_type: Any) -> None:
        kinds = {16: ir.HalfType, 32: ir.FloatType, 64: ir.DoubleType}
        super().__init__(manager, fe_type, kinds[fe_type.bitwidth]())


def _register(function: Any, implementation: Any, result: Any, count: int) -> None:
    """Register an operator of half precision, for operands that convert to half without loss."""

    class Operator(AbstractTemplate):  # type: ignore[misc]
        metadata: ClassVar = {
            "target": "cpu"
        }  # has priority over Numba's own, which compute in single precision

        def generic(self, args: Any, kws: Any) -> Any:
            if (
                len(args) == count
                and types.float16 in args
                and all(kind in _PROMOTED_TO_HALF for kind in args)
            ):
                return signature(result, *[types.float16] * count)
            return None

    infer_global(function)(Operator)
    lower_builtin(function, *[types.float16] * count)(implementation)


def _operation(opcode: str) -> Any:
    """Make the code generator of an operation; all but quotients may be fused."""

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        return getattr(builder, opcode)(*args, flags=() if opcode == "fdiv" else HALF_FLAGS)

    return generate


for _name, _opcode in _ARITHMETIC.items():
    for _prefix in ("", "i"):
        _register(getattr(operator, f"{_prefix}{_name}"), _operation(_opcode), types.float16, 2)
for _name, _implementation in _COMPARISONS.items():
    _register(getattr(operator, _name), _implementation, types.boolean, 2)
_register(operator.neg, _operation("fneg"), types.float16, 1)
for _function, _implementation in _SIGNS.items():
    _register(_function, _implementation, types.float16, 1)


def _rounded(typing: TypingContext, value: types.Type) -> Intrinsic:
    """Round a number to half precision."""
    if not isinstance(value, types.Number | types.Boolean) or isinstance(value, types.Complex):
        return None

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        return context.cast(builder, args[0], value, types.float16)

    return types.float16(value), generate


def _hfma(typing: TypingContext, a: types.Type, b: types.Type, c: types.Type) -> Intrinsic:
    """Multiply and add numbers of half precision with one rounding."""
    argument_types = (a, b, c)

    def generate(context: BaseContext, builder: Builder, signature: Signature, args: Values) -> Value:
        pairs = zip(args, argument_types, strict=True)
        return builder.fma(
            *(context.cast(builder, value, from_type, types.float16) for value, from_type in pairs)
        )

    return types.float16(*argument_types), generate


rounded, fused = intrinsic(_rounded), intrinsic(_hfma)
_exp, _sin, _cos = (
    MATH_FUNCTIONS["_ts_math_exp"],
    MATH_FUNCTIONS["_ts_math_sin"],
    MATH_FUNCTIONS["_ts_math_cos"],
)
_log, _log2, _log10 = (
    MATH_FUNCTIONS["_ts_math_log"],
    MATH_FUNCTIONS["_ts_math_log2"],
    MATH_FUNCTIONS["_ts_math_log10"],
)
_exp2, _power = MATH_FUNCTIONS.get("_ts_math_exp2", np.exp2), MATH_FUNCTIONS["_ts_power"]

_VALUES: dict[str, Callable[..., Any]] = {
    "hadd": lambda a, b: rounded(a) + rounded(b),
    "hsub": lambda a, b: rounded(a) - rounded(b),
    "hmul": lambda a, b: rounded(a) * rounded(b),
    "hdiv": lambda a, b: rounded(a) / rounded(b),
    "hfma": lambda a, b, c: fused(a, b, c),
    "hneg": lambda a: -rounded(a),
    "habs": lambda a: abs(rounded(a)),
    "hsin": lambda x: rounded(_sin(np.float32(x))),
    "hcos": lambda x: rounded(_cos(np.float32(x))),
    "hlog": lambda x: rounded(_log(np.float32(x))),
    "hlog2": lambda x: rounded(_log2(np.float32(x))),
    "hlog10": lambda x: rounded(_log10(np.float32(x))),
    "hexp": lambda x: rounded(_exp(np.float32(x))),
    "hexp2": lambda x: rounded(_exp2(np.float32(x))),
    "hexp10": lambda x: rounded(_power(np.float32(10), np.float32(x))),
    "hsqrt": lambda x: rounded(np.sqrt(np.float32(x))),
    "hrsqrt": lambda x: rounded(np.float32(1) / np.sqrt(np.float32(x))),
    "hceil": lambda x: rounded(np.ceil(np.float32(x))),
    "hfloor": lambda x: rounded(np.floor(np.float32(x))),
    "hrcp": lambda x: rounded(np.float32(1) / np.float32(x)),
    "htrunc": lambda x: rounded(np.trunc(np.float32(x))),
    "hrint": lambda x: rounded(np.rint(np.float32(x))),
    "heq": lambda a, b: a == b,
    "hne": lambda a, b: a != b,
    "hge": lambda a, b: a >= b,
    "hgt": lambda a, b: a > b,
    "hle": lambda a, b: a <= b,
    "hlt": lambda a, b: a < b,
    "hmax": lambda a, b: b if b > a else a,
    "hmin": lambda a, b: b if b < a else a,
}
HALVES = {"_ts_to_float16": rounded} | {
    f"_ts_cuda_fp16_{name}": numba.njit(error_model="numpy", pipeline_class=PartCompiler)(function)
    for name, function in _VALUES.items()
}
