"""Implementations of the library functions that a kernel calls."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

from ...type_inference.typed_ir import Type
from ..arithmetic.functions import function_for
from .casts import is_number
from .composed_iterators import Enumerate, Zip

# Functions of `cuda` whose results already have the right type.
EXACT = (
    "grid", "gridsize", "shared.", "local.", "const.", "atomic.", "syncthreads", "syncwarp", "threadfence", "cg.",
    "shfl_", "nanosleep", "all_sync", "any_sync", "eq_sync",
)  # fmt: skip
UNCHANGED = builtins.len, builtins.range, builtins.tuple, builtins.slice
COMPOSED: dict[type, Callable[..., Any]] = {builtins.zip: Zip, builtins.enumerate: Enumerate}


class CudaPath(str):
    """The path of a name under `cuda`, such as "shared.array"; "" is `cuda` itself."""

    __slots__ = ()


def needs_no_cast(path: CudaPath) -> bool:
    """Check whether the result of a function of `cuda` has the IR's type without a cast."""
    return path.startswith(EXACT)


def function_of(value: Any, arguments: Sequence[Type], result: Type) -> tuple[Callable[..., Any], bool]:
    """Return the implementation of a library function, and whether its arguments and result need casts."""
    if any(value is function for function in UNCHANGED):
        return value, False
    if isinstance(value, type) and value in COMPOSED:
        return COMPOSED[value], False
    kinds = tuple(_kind(argument) for argument in arguments)
    result_kind = _kind(result.parts[0]) if result.kind == "tuple" and result.parts else _kind(result)
    compute = function_for(value, kinds, result_kind) if result_kind else None
    return (value, True) if compute is None else (compute, False)


def _kind(type_: Type) -> str:
    return type_.kind if is_number(type_.kind) else ""
