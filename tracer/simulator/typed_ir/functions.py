"""What stands for a function that a kernel calls."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ..arithmetic.functions import typed_function

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


def function_of(value: Any) -> tuple[Callable[..., Any], bool]:
    """Return what computes a function of a library, and whether its arguments and result are numbers to be cast."""
    if value in AS_THEY_ARE:
        return value, False
    typed = typed_function(value)
    if typed is not None:
        return typed.compute, True
    return value, True
