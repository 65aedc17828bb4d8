"""Operators and functions that compute differently on a GPU than on a CPU, with their names in compiled code."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np

from ..math_functions import BINARY_FUNCTIONS, UNARY_FUNCTIONS
from .constants import is_type

OPERATORS: dict[type, str] = {
    ast.Mod: "_ts_mod", ast.FloorDiv: "_ts_floordiv", ast.LShift: "_ts_lshift", ast.RShift: "_ts_rshift",
    ast.Pow: "_ts_power",
}  # fmt: skip
_FUNCTIONS: list[tuple[Any, str]] = [
    (min, "_ts_smallest"), (max, "_ts_largest"), (int, "_ts_to_int"), (abs, "_ts_absolute"), (math.floor, "_ts_floor"),
    (math.ceil, "_ts_ceil"), (math.trunc, "_ts_trunc"), (math.modf, "_ts_math_modf"), (round, "_ts_round_to"),
    *((getattr(math, name), f"_ts_math_{name}") for name in (*UNARY_FUNCTIONS, *BINARY_FUNCTIONS)),
    *((getattr(np, name), f"_ts_np_{name}") for name in UNARY_FUNCTIONS.values() if name),
]  # fmt: skip
_BY_ID = {id(function): name for function, name in _FUNCTIONS}
_CASTS = ["float16", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]


def name_of_function(value: Any) -> str:
    """Return the name of a function or type in compiled code; "" if it stays as it is."""
    if is_type(value) or (isinstance(value, type) and issubclass(value, np.integer | np.float16)):
        name = str(value) if is_type(value) else np.dtype(value).name
        return f"_ts_to_{name}" if name in _CASTS else ""
    return _BY_ID.get(id(value), "")


def accepts_count(name: str, count: int) -> bool:
    """Check if a function of compiled code accepts so many arguments: `min` and `max` accept two or more."""
    if name in ("_ts_smallest", "_ts_largest"):
        return count > 1
    is_binary = name == "_ts_round_to" or name.removeprefix("_ts_math_") in BINARY_FUNCTIONS
    return count == (2 if is_binary else 1)
