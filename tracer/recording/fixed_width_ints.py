"""Fixed-width integers of the simulator, which computes in 64 bits like Numba; NumPy's small integers would wrap.

See "Numba Enhancement Proposal 1: Changes in integer typing".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray


class FixedWidth(int):
    """An integer of a type other than int64, as it is loaded or cast.

    Arithmetic on it gives a plain int, which represents an int64, the result type of Numba for signed integers.
    """

    __slots__ = ()


class Int8(FixedWidth):
    """An int8."""

    __slots__ = ()


class Int16(FixedWidth):
    """An int16."""

    __slots__ = ()


class Int32(FixedWidth):
    """An int32."""

    __slots__ = ()


class UInt8(FixedWidth):
    """A uint8."""

    __slots__ = ()


class UInt16(FixedWidth):
    """A uint16."""

    __slots__ = ()


class UInt32(FixedWidth):
    """A uint32."""

    __slots__ = ()


class UInt64(FixedWidth):
    """A uint64."""

    __slots__ = ()


INTEGERS: dict[str, type[int]] = {
    "int8": Int8, "int16": Int16, "int32": Int32, "int64": int, "uint8": UInt8, "uint16": UInt16, "uint32": UInt32,
    "uint64": UInt64,
}  # fmt: skip
_NAMES = {kind: name for name, kind in INTEGERS.items()}


def width_of(kind: str) -> int:
    """Return the number of bits of an integer type, by its name."""
    return int(kind.lstrip("uint"))


def is_signed(kind: str) -> bool:
    """Check whether an integer type is signed, by its name."""
    return kind[0] == "i"


def wrap_integer(kind: str, value: int) -> int:
    """Wrap an integer to a type: keep its low bits."""
    bits = width_of(kind)
    low = value & ((1 << bits) - 1)
    if is_signed(kind) and low >> (bits - 1):
        low -= 1 << bits
    return INTEGERS[kind](low)


class FixedWidthInts:
    """An array of integers whose elements are returned as `FixedWidth` integers of its type."""

    __slots__ = ("_cells", "_type")

    def __init__(self, cells: Any, dtype: np.dtype[Any]) -> None:
        self._cells, self._type = cells, INTEGERS[dtype.name]

    def __getitem__(self, cell: int) -> Any:
        return self._type(self._cells[cell])

    def __setitem__(self, cell: int, value: Any) -> None:
        self._cells[cell] = value


def computable_elements(cells: NDArray[Any]) -> Any:
    """Return a view whose elements are numbers to compute with: Python's numbers if these are exact enough."""
    dtype = cells.dtype
    if dtype.kind not in "iubf" or dtype.name == "float128":
        return cells
    # Reading a memoryview costs half as much as reading a NumPy array.
    is_plain = (
        dtype.isnative and cells.flags.aligned and dtype.name not in ("float16", "float32", "longdouble")
    )
    view: Any = memoryview(cells) if is_plain else cells  # type: ignore[arg-type]  # an array is a buffer
    if dtype.kind in "iu" and (INTEGERS[dtype.name] is not int or not is_plain):
        return FixedWidthInts(view, dtype)
    return view


@contextmanager
def integer_casts() -> Iterator[None]:
    """Context manager that makes `int32(x)` in a kernel wrap once and then compute in 64 bits, as on a GPU."""
    from numba.core.types import Integer

    original = Integer.cast_python_value
    Integer.cast_python_value = _cast
    try:
        yield
    finally:
        Integer.cast_python_value = original


def _cast(kind: Any, value: Any) -> Any:
    return wrap_integer(kind.name, int(value))


class BitFunctions:
    """The bit functions of `cuda`, on 64 bits for 64-bit integers and on 32 bits for others."""

    def popc(self, value: Any) -> int:
        """Count the set bits."""
        return bin(_bits(value)[0]).count("1")

    def clz(self, value: Any) -> int:
        """Count the leading zeros."""
        bits, width = _bits(value)
        return width - bits.bit_length()

    def ffs(self, value: Any) -> int:
        """Find the position of the lowest set bit, from 1; 0 if there is none."""
        bits, _ = _bits(value)
        return (bits & -bits).bit_length()

    def brev(self, value: Any) -> int:
        """Reverse the order of the bits."""
        bits, width = _bits(value)
        return int(f"{bits:0{width}b}"[::-1], 2)


def _bits(value: Any) -> tuple[int, int]:
    """Return the bits of an integer as an unsigned integer, and their number."""
    name = _NAMES.get(type(value)) or getattr(value, "dtype", np.dtype("int64")).name
    width = 64 if name in ("int64", "uint64") else 32
    return int(value) & ((1 << width) - 1), width
