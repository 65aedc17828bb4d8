"""Arrays: their types as signatures name them, the smallest types that do, and the alignment that Numba takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
AnyInts = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
POINTER = 8  # bytes that an address takes on a GPU
Columns = dict[str, NDArray[Any]]  # by name, one entry a row in each


def alignment_fault(alignment: Any) -> str:
    """Return what is wrong with the alignment of an array that a kernel declares, in Numba's words, or nothing."""
    if alignment is None:
        return ""
    if not isinstance(alignment, int):
        return "Alignment must be an integer"
    if alignment <= 0:
        return "Alignment must be positive"
    if alignment & (alignment - 1):
        return "Alignment must be a power of 2"
    return f"Alignment must be a multiple of {POINTER}" if alignment % POINTER else ""


_AT_ONCE = 1 << 16  # entries: NumPy makes numbers of 8 bytes of indices, of so many in a processor's cache


def narrow(column: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers from 0 up in the smallest unsigned dtype that holds them."""
    if column.dtype == np.uint8 or not column.size:
        return column.astype(np.uint8, copy=False)
    top = 0
    for begin in range(0, len(column), _AT_ONCE):  # mostly the first ones need all of it
        top = max(top, int(column[begin : begin + _AT_ONCE].max()))
        if np.min_scalar_type(top) == column.dtype:
            return column
    return column.astype(np.min_scalar_type(top), copy=False)


def index_dtype(count: int) -> type[np.signedinteger[Any]]:
    """Return the type for numbers up to a count: columns with an entry for each access are the largest by far."""
    return np.int32 if count < 2**31 else np.int64


def counts_of(numbers: AnyInts) -> Ints:
    """Return how often each whole number from 0 up occurs, to the largest: `np.bincount` with little memory besides."""
    made = np.zeros(int(numbers.max(initial=0)) + 1, np.int64)
    for begin in range(0, len(numbers), _AT_ONCE):
        made += np.bincount(numbers[begin : begin + _AT_ONCE], minlength=len(made))
    return made


def looked_up(table: NDArray[Any], numbers: AnyInts) -> NDArray[Any]:
    """Return the entries of a table at these indices: `table[numbers]` with little memory besides."""
    made = np.empty(len(numbers), table.dtype)
    for begin in range(0, len(numbers), _AT_ONCE):
        some = slice(begin, begin + _AT_ONCE)
        np.take(table, numbers[some], out=made[some], mode="clip")
    return made
