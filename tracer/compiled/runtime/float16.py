"""Functions of `cuda.fp16`: computed in single precision, as CPUs do, and rounded to half precision after each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic


def _rounded(typing: Any, value: Any) -> Any:
    """Round a number to half precision."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        single = context.cast(builder, args[0], value, types.float32)
        return builder.fpext(builder.fptrunc(single, ir.HalfType()), ir.FloatType())

    return types.float32(value), generate


rounded = intrinsic(_rounded)

_VALUES: dict[str, Callable[..., Any]] = {
    "hadd": lambda a, b: rounded(a + b),
    "hsub": lambda a, b: rounded(a - b),
    "hmul": lambda a, b: rounded(a * b),
    "hdiv": lambda a, b: rounded(a / b),
    "hfma": lambda a, b, c: rounded(rounded(a * b) + c),
    "hneg": lambda a: -a,
    "habs": lambda a: abs(a),
    "hsin": lambda x: rounded(np.sin(np.float32(x))),
    "hcos": lambda x: rounded(np.cos(np.float32(x))),
    "hlog": lambda x: rounded(np.log(np.float32(x))),
    "hlog2": lambda x: rounded(np.log2(np.float32(x))),
    "hlog10": lambda x: rounded(np.log10(np.float32(x))),
    "hexp": lambda x: rounded(np.exp(np.float32(x))),
    "hexp2": lambda x: rounded(np.exp2(np.float32(x))),
    "hexp10": lambda x: rounded(np.float32(10) ** np.float32(x)),
    "hsqrt": lambda x: rounded(np.sqrt(np.float32(x))),
    "hrsqrt": lambda x: rounded(np.float32(x) ** np.float32(-0.5)),
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
    f"_ts_cuda_fp16_{name}": numba.njit(error_model="numpy")(function) for name, function in _VALUES.items()
}
