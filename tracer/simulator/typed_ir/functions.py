"""What stands for a function that a kernel calls."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

from ...type_inference.typed_ir import Type
from ..arithmetic.functions import function_for
from .casts import is_number

# Functions of `cuda` whose results are of the right type as they are.
EXACT = (
    "grid", "gridsize", "shared.", "local.", "const.", "atomic.", "syncthreads", "syncwarp", "threadfence", "cg.",
    "shfl_", "nanosleep", "all_sync", "any_sync", "eq_sync",
)  # fmt: skip
AS_THEY_ARE = (builtins.len, builtins.range, builtins.enumerate, builtins.zip, builtins.tuple, builtins.slice)


class CudaPath(str):
    """What a name under `cuda` means, as "shared.array"; "" is `cuda` itself."""

    __slots__ = ()


def needs_no_cast(path: CudaPath) -> bool:
    """Return whether a function of `cuda` gives what the IR says as it is."""
    return path.startswith(EXACT)


def function_of(value: Any, arguments: Sequence[Type], result: Type) -> tuple[Callable[..., Any], bool]:
    """Return what computes a function of a library, and whether its arguments and result are numbers to be cast."""
    if any(value is one for one in AS_THEY_ARE):
        return value, False
    kinds = tuple(_kind(one) for one in arguments)
    of_result = _kind(result.parts[0]) if result.kind == "tuple" and result.parts else _kind(result)
    found = function_for(value, kinds, of_result) if of_result else None
    return (value, True) if found is None else (found, False)


def _kind(found: Type) -> str:
    return found.kind if is_number(found.kind) else ""
