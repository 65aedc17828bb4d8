"""Fixed-width integers in the simulator as Numba computes with them: in 64 bits, where NumPy's small ones wrap.

After "Numba Enhancement Proposal 1: Changes in integer typing".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Small(np.int64):
    """A signed integer of up to 32 bits, as it is loaded or cast; what is computed with it has 64.

    Unsigned ones are Python's: NumPy has none that go with its of 64 bits as Numba's do.
    """

    __slots__ = ()


class SmallInts:
    """An array of integers of up to 32 bits whose elements come out of it as `Small`, or as Python's."""

    __slots__ = ("_cells", "_type")

    def __init__(self, cells: NDArray[Any]) -> None:
        plain = (
            cells.dtype.isnative and cells.flags.aligned
        )  # what a memoryview can read, at half of NumPy's cost
        self._cells: Any = memoryview(cells) if plain else cells  # type: ignore[arg-type]  # an array is a buffer
        self._type: Any = Small if cells.dtype.kind == "i" else int

    def __getitem__(self, cell: int) -> Any:
        return self._type(self._cells[cell])

    def __setitem__(self, cell: int, value: Any) -> None:
        self._cells[cell] = value


def elements_as_computed(cells: NDArray[Any]) -> Any:
    """Return what gives the elements of an array as Numba computes with them."""
    return SmallInts(cells) if cells.dtype.kind in "iu" and cells.itemsize <= 4 else cells


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
    bits = int(value) & ((1 << kind.bitwidth) - 1)
    if kind.signed and bits >> (kind.bitwidth - 1):
        bits -= 1 << kind.bitwidth
    if kind.bitwidth < 64:
        return Small(bits) if kind.signed else bits
    return np.int64(bits) if kind.signed else np.uint64(bits)


class BitFunctions:
    """The functions of `cuda` that look at the bits of integers: 32 of small ones, else 64.

    Of Python's own numbers, which have no type, 32 where they fit.
    """

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
    small = isinstance(value, Small) or getattr(value, "itemsize", 8) < 8
    fits = type(value) is int and -(1 << 31) <= value < 1 << 32
    width = 32 if small or fits else 64
    return int(value) & ((1 << width) - 1), width
