"""Array types for signatures, the smallest integer types for columns, and the alignment that Numba accepts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
AnyInts = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
POINTER = 8  # bytes of an address on a GPU
Columns = dict[str, NDArray[Any]]  # by name, one entry per row in each


def alignment_fault(alignment: Any) -> str:
    """Describe, in Numba's words, the error in the alignment of a declared array; "" if there is none."""
    if alignment is None:
        return ""
    if not isinstance(alignment, int):
        return "Alignment must be an integer"
    if alignment <= 0:
        return "Alignment must be positive"
    if alignment & (alignment - 1):
        return "Alignment must be a power of 2"
    return f"Alignment must be a multiple of {POINTER}" if alignment % POINTER else ""


_AT_ONCE = 1 << 16  # entries: NumPy converts indices to 8 bytes each, which still fit a processor's cache


def narrow(column: NDArray[Any]) -> NDArray[Any]:
    """Convert non-negative integers to the smallest unsigned dtype that holds them."""
    if column.dtype == np.uint8 or not column.size:
        return column.astype(np.uint8, copy=False)
    top = 0
    for begin in range(0, len(column), _AT_ONCE):  # mostly the first entries need the full dtype
        top = max(top, int(column[begin : begin + _AT_ONCE].max()))
        if np.min_scalar_type(top) == column.dtype:
            return column
    return column.astype(np.min_scalar_type(top), copy=False)


def index_dtype(count: int) -> type[np.signedinteger[Any]]:
    """Return the type for numbers up to a count; columns with an entry per access are by far the largest."""
    return np.int32 if count < 2**31 else np.int64


def counts_of(numbers: AnyInts) -> Ints:
    """Count each non-negative integer up to the largest, as `np.bincount`, but with little extra memory."""
    counts = np.zeros(int(numbers.max(initial=0)) + 1, np.int64)
    for begin in range(0, len(numbers), _AT_ONCE):
        counts += np.bincount(numbers[begin : begin + _AT_ONCE], minlength=len(counts))
    return counts


def take_entries(table: NDArray[Any], numbers: AnyInts) -> NDArray[Any]:
    """Return the entries of a table at these indices, as `table[numbers]`, but with little extra memory."""
    entries = np.empty(len(numbers), table.dtype)
    for begin in range(0, len(numbers), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        np.take(table, numbers[part], out=entries[part], mode="clip")
    return entries
