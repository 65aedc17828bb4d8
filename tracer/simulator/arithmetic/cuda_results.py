"""What the names of `cuda` give: the kinds of numbers of its functions' results, after numba/cuda/cudadecl.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .functions import LIKE_FLOAT32, kind_of_type
from .kinds import INTS
from .static_types import ArrayOf, CudaPath, Known, Number, StaticType, TupleOf, integer, number

GRID = (1 << 31) - 1  # blocks along x, and threads
_EXTENT = {"threadIdx": (0, 1023), "blockIdx": (0, GRID), "blockDim": (1, 1024), "gridDim": (1, GRID)}
_MASKS = ("activemask", "lanemask_lt", "ballot_sync")
_COUNTS = ("syncthreads_count", "syncthreads_and", "syncthreads_or")
_SHUFFLES = ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
_VOTES = ("all_sync", "any_sync", "eq_sync")


def cuda_value(path: CudaPath) -> StaticType:
    """Return what is known of a value under `cuda`, None for a function or module."""
    name, _, axis = path.partition(".")
    if name in _EXTENT and axis in ("x", "y", "z"):
        return Number("int32", *_EXTENT[name])
    return (
        Number("int32", 0, 31)
        if path == "laneid"
        else Number("int64", 32, 32)
        if path == "warpsize"
        else None
    )


def cuda_result(
    path: CudaPath, arguments: Sequence[StaticType], named: Mapping[Any, StaticType]
) -> StaticType:
    """Return what is known of what a function of `cuda` gives for such arguments."""
    if path in ("grid", "gridsize"):
        return _indices(arguments[0] if arguments else None)
    if path in ("shared.array", "local.array"):
        given = dict(zip(("shape", "dtype"), arguments, strict=False)) | dict(named)
        return _declared(given.get("shape"), given.get("dtype"))
    if path == "const.array_like":
        return arguments[0] if arguments else None
    if path.startswith("atomic.") and arguments and isinstance(arguments[0], ArrayOf):
        return number(arguments[0].kind) if arguments[0].kind else None
    if path in _SHUFFLES:
        return arguments[1] if len(arguments) > 1 else None
    if path in _COUNTS:
        return Number("int32", 0, 1024)
    if path in _VOTES:
        return Number("bool", 0, 1)
    return _of_bits(path, arguments)


def _indices(dimensions: StaticType) -> StaticType:
    one = integer(0, GRID)
    if not isinstance(dimensions, Number) or dimensions.low != dimensions.high:
        return None
    return (
        one if dimensions.low == 1 else TupleOf((one,) * dimensions.low) if dimensions.low in (2, 3) else None
    )


def _declared(shape: StaticType, dtype: StaticType) -> StaticType:
    kind = kind_of_type(dtype.value) if isinstance(dtype, Known) else None
    if isinstance(shape, Number):
        return ArrayOf(kind, 1)
    return ArrayOf(kind, len(shape.parts)) if isinstance(shape, TupleOf) else None


def _of_bits(path: str, arguments: Sequence[StaticType]) -> StaticType:
    first = arguments[0] if arguments else None
    if not isinstance(first, Number):
        return None
    if path == "cbrt":
        return Number("float32" if first.kind in LIKE_FLOAT32 else "float64")
    if path in ("ffs", "brev"):
        return integer(0, (1 << 32) - 1) if first.kind != "uint64" or path == "ffs" else None
    if path in ("popc", "clz") and first.kind in INTS:
        return Number("int64" if first.kind == "int64" else "int32", 0, 64)
    return None
