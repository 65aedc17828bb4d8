"""Accesses outside an array: the name of the element, and the check for addresses without memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..model.trace import Buffer

# A GPU's allocations share pages of 2 MiB, and the pages next to a used page may be in use too.
PAGE = 2 << 20


class IllegalAddressError(RuntimeError):
    """An access to an address without memory, which ends the launch."""


class MisalignedAddressError(IllegalAddressError):
    """An access to an address that is not a multiple of the element size, which ends the launch too."""


def element_name(buffer: Buffer, parts: Sequence[int], index: int) -> str:
    """Format the name of an element outside its array, with the source's index; a view shows the buffer's index."""
    if len(parts) != len(buffer.shape) and buffer.is_plain and not 0 <= index < buffer.size:
        parts = _coordinates(buffer.shape, index)
    return f"{buffer.name}[{', '.join(map(str, parts))}]"


def _coordinates(shape: Sequence[int], index: int) -> list[int]:
    """Convert an index to coordinates in C order; the first coordinate has no limit."""
    coordinates: list[int] = []
    for length in reversed(shape[1:]):
        index, inner = divmod(index, max(1, length))
        coordinates.insert(0, inner)
    return [index, *coordinates]


def check_address(buffers: Sequence[Buffer], number: int, index: int, name: str) -> None:
    """Raise IllegalAddressError if an index of a buffer lies more than a page from any known memory."""
    buffer = buffers[number]
    if -PAGE <= index * buffer.unit <= buffer.size * buffer.unit + PAGE:
        return
    candidates = buffers if buffer.space == "global" else [buffer]
    address = buffer.address + index * buffer.unit
    if all(other.space != buffer.space or _distance(other, address) > PAGE for other in candidates):
        side = "after the end" if index >= 0 else "before the start"
        raise IllegalAddressError(
            f"{name} lies {_distance(buffer, address):,} bytes {side} of {buffer.name}, where a GPU has no memory: "
            "an illegal address, which ends the launch"
        )


def _distance(buffer: Buffer, address: int) -> int:
    """Compute the bytes between a buffer and an address, 0 within the buffer."""
    end = buffer.address + max(buffer.size * buffer.unit, math.prod(buffer.shape) * buffer.itemsize)
    return max(buffer.address - address, address - end, 0)
