"""Which memory that blocks share has been read and written, from rows: whether those who ran beside each other met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.trace import Buffer, Op
from ..cached import cached
from ..state import SITE_BITS

READ, WRITTEN = 1, 2
PRIVATE, UNKNOWN = -1, -2  # in place of where a buffer begins
COARSEST = 3  # places of 8 bytes
LARGEST = 1 << 28  # places


class Touched:
    """What one thread of the driver's has read and written of global memory, in places of a few bytes each.

    buffers: all that there are. Memory that is not looked at takes no room.
    """

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        shared = [buffer for buffer in buffers if buffer.space == "global"]
        smallest = min((buffer.itemsize for buffer in shared), default=1)
        self._buffers, self.shift = buffers, min(smallest.bit_length() - 1, COARSEST)
        end = max((buffer.address + buffer.size * buffer.unit for buffer in shared), default=0)
        self.places: NDArray[np.uint8] = np.zeros((end >> self.shift) + 2, np.uint8)
        self.where = np.full((1 << 32 - SITE_BITS, 3), UNKNOWN, np.int64)  # by key: begin, unit, bytes

    def add(self, rows: NDArray[Any], ops: NDArray[np.uint8]) -> int:
        """Note what rows touch; return the first one of an unknown buffer, or how many there are.

        ops: the Op of each site of the program.
        """
        done: int = mark(rows["key"], rows["index"], self.where, ops, self.shift, self.places)
        return done

    def learn(self, what: int, number: int) -> None:
        """Take the number of the buffer that a key's region and code name."""
        buffer = self._buffers[number]
        begin = buffer.address if buffer.space == "global" else PRIVATE
        self.where[what] = begin, buffer.unit, buffer.itemsize


def _mark(keys: Any, indices: Any, where: Any, ops: Any, shift: Any, places: Any) -> Any:
    """Enter rows into `places`; see `Touched.add`."""
    for row in range(len(keys)):
        key = np.int64(keys[row])
        what = key >> SITE_BITS
        begin = where[what, 0]
        if begin == PRIVATE:
            continue
        if begin == UNKNOWN:
            return row
        first, op = begin + indices[row] * where[what, 1], ops[key & ((1 << SITE_BITS) - 1)]
        how = READ if op == Op.LOAD else WRITTEN if op == Op.STORE else READ | WRITTEN
        for place in range(first >> shift, ((first + where[what, 2] - 1) >> shift) + 1):
            places[place] |= how
    return len(keys)


def _meet(all_places: Any, places: Any) -> Any:
    """Return whether a place is touched by both and written by one; add the second to the first."""
    for place in range(len(places)):
        mine, others = places[place], all_places[place]
        if mine and others and (mine | others) & WRITTEN:
            return True
        all_places[place] = mine | others
    return False


mark, meet = cached(_mark), cached(_meet)


def have_met(all_touched: Sequence[Touched]) -> bool:
    """Return whether two have touched the same place, of which one has written it; spoils the first."""
    first, *others = all_touched
    return any(bool(meet(first.places, other.places)) for other in others)
