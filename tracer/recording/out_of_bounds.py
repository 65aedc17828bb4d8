"""Accesses outside an array: the element's name, and whether a GPU has memory there."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..model.trace import Buffer

# Allocations of a GPU share pages of 2 MiB, and every page around one that is in use may be in use too.
PAGE = 2 << 20


class IllegalAddressError(RuntimeError):
    """An access to an address at which a GPU has no memory: the launch ends there."""


class MisalignedAddressError(IllegalAddressError):
    """An access to elements at addresses that are no multiples of their size: the launch ends there too."""


def element_name(buffer: Buffer, parts: Sequence[int], index: int) -> str:
    """Return the name of an element outside its array: the index in the source, or of a view that in the buffer."""
    if len(parts) != len(buffer.shape) and buffer.is_plain and not 0 <= index < buffer.size:
        parts = _coordinates(buffer.shape, index)
    return f"{buffer.name}[{', '.join(map(str, parts))}]"


def _coordinates(shape: Sequence[int], index: int) -> list[int]:
    """Return the coordinates of an index in C order, the first of them without a limit."""
    coordinates: list[int] = []
    for length in reversed(shape[1:]):
        index, inner = divmod(index, max(1, length))
        coordinates.insert(0, inner)
    return [index, *coordinates]


def check_address(buffers: Sequence[Buffer], number: int, index: int, name: str) -> None:
    """Raise IllegalAddressError where an index of a buffer lies more than a page from any memory that is known."""
    buffer = buffers[number]
    if -PAGE <= index * buffer.unit <= buffer.size * buffer.unit + PAGE:
        return
    near = buffers if buffer.space == "global" else [buffer]
    address = buffer.address + index * buffer.unit
    if all(other.space != buffer.space or _distance(other, address) > PAGE for other in near):
        side = "after the end" if index >= 0 else "before the start"
        raise IllegalAddressError(
            f"{name} lies {_distance(buffer, address):,} bytes {side} of {buffer.name}, where a GPU has no memory: "
            "an illegal address, which ends the launch"
        )


def _distance(buffer: Buffer, address: int) -> int:
    """Return the bytes between a buffer and an address, 0 within it."""
    end = buffer.address + max(buffer.size * buffer.unit, math.prod(buffer.shape) * buffer.itemsize)
    return max(buffer.address - address, address - end, 0)
