"""Fixed-width integers in the simulator as Numba computes with them: in 64 bits, where NumPy's small ones wrap.

After "Numba Enhancement Proposal 1: Changes in integer typing".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray


class FixedWidth(int):
    """An integer of a type other than int64, as it is loaded or cast.

    What Python computes with it is an int, which stands for an int64: what Numba gives for signed ones.
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
    """Return how many bits a type of integers has, by its name."""
    return int(kind.lstrip("uint"))


def is_signed(kind: str) -> bool:
    """Return whether a type of integers has negative ones, by its name."""
    return kind[0] == "i"


def wrapped(kind: str, value: int) -> int:
    """Return an integer as one of a type has it: its low bits."""
    bits = width_of(kind)
    low = value & ((1 << bits) - 1)
    if is_signed(kind) and low >> (bits - 1):
        low -= 1 << bits
    return INTEGERS[kind](low)


class FixedWidthInts:
    """An array of integers whose elements come out of it as their type."""

    __slots__ = ("_cells", "_type")

    def __init__(self, cells: Any, dtype: np.dtype[Any]) -> None:
        self._cells, self._type = cells, INTEGERS[dtype.name]

    def __getitem__(self, cell: int) -> Any:
        return self._type(self._cells[cell])

    def __setitem__(self, cell: int, value: Any) -> None:
        self._cells[cell] = value


def elements_as_computed(cells: NDArray[Any]) -> Any:
    """Return what gives the elements of an array as numbers to compute with: of Python's, where these will do."""
    dtype = cells.dtype
    if dtype.kind not in "iubf" or dtype.name == "float128":
        return cells
    # A memoryview reads at half of NumPy's cost.
    plain = dtype.isnative and cells.flags.aligned and dtype.name not in ("float16", "float32", "longdouble")
    seen: Any = memoryview(cells) if plain else cells  # type: ignore[arg-type]  # an array is a buffer
    if dtype.kind in "iu" and (INTEGERS[dtype.name] is not int or not plain):
        return FixedWidthInts(seen, dtype)
    return seen


@contextmanager
def integer_casts() -> Iterator[None]:
    """Let `int32(x)` in a kernel be an integer as it is on the GPU: one that wraps once, and then has 64 bits."""
    from numba.core.types import Integer

    before = Integer.cast_python_value
    Integer.cast_python_value = _cast
    try:
        yield
    finally:
        Integer.cast_python_value = before


def _cast(kind: Any, value: Any) -> Any:
    return wrapped(kind.name, int(value))


class BitFunctions:
    """The functions of `cuda` that look at the bits of integers: 32 of small ones, else 64."""

    def popc(self, value: Any) -> int:
        """Return how many bits are set."""
        return bin(_bits(value)[0]).count("1")

    def clz(self, value: Any) -> int:
        """Return how many zeros lead."""
        bits, width = _bits(value)
        return width - bits.bit_length()

    def ffs(self, value: Any) -> int:
        """Return the place of the lowest bit that is set, from 1; 0 if none is."""
        bits, _ = _bits(value)
        return (bits & -bits).bit_length()

    def brev(self, value: Any) -> int:
        """Return the number with its bits in the opposite order."""
        bits, width = _bits(value)
        return int(f"{bits:0{width}b}"[::-1], 2)


def _bits(value: Any) -> tuple[int, int]:
    """Return the bits of an integer as an unsigned one, and how many there are."""
    name = _NAMES.get(type(value)) or getattr(value, "dtype", np.dtype("int64")).name
    width = 64 if name in ("int64", "uint64") else 32
    return int(value) & ((1 << width) - 1), width
