"""Which memory that blocks share has been read and written, from rows: whether those who ran beside each other met."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.trace import Buffer, Op
from ..cached import cached
from ..state import SITE_BITS

READ, WRITTEN = 1, 2
PRIVATE, UNKNOWN, ONLY_READ = -1, -2, -3  # in place of where a buffer begins
# What is looked at, by key: nothing, each access, or those that store; a bit for loads, others for what stores.
NOTHING, EACH, STORES = 0, 7, 6
COARSEST = 3  # places of 8 bytes
_ONE_OF_EACH = np.uint64(0x0101010101010101)  # the lowest bit of each of eight places
LARGEST = 1 << 28  # places


class Touched:
    """What one thread of the driver's has read and written of global memory, in places of a few bytes each.

    buffers: all that there are. only_read: the numbers of those that were read until now and never written; of these it
    is enough that nobody begins to. Memory that is not looked at takes no room.
    """

    def __init__(self, buffers: Sequence[Buffer], only_read: Container[int] = ()) -> None:
        self._buffers, (self.shift, places) = buffers, places_of(buffers)
        self._spans = [_span(b) for n, b in enumerate(buffers) if b.space == "global" and n not in only_read]
        self.words = np.zeros(-(-places // 8), np.uint64)
        self.places = self.words.view(np.uint8)
        self.where = np.full((1 << 32 - SITE_BITS, 3), UNKNOWN, np.int64)  # by key: begin, unit, bytes
        self.watched = np.full(len(self.where), EACH, np.uint8)  # by key

    def add(self, rows: NDArray[Any], ops: NDArray[np.uint8]) -> int:
        """Note what rows touch; return the first one of an unknown buffer, or of a store to one that was only read.

        Returns how many there are where it is none. ops: the Op of each site of the program.
        """
        done: int = mark(rows["key"], rows["index"], self.where, ops, self.shift, self.places)
        return done

    def flags(self) -> NDArray[np.uint8]:
        """Return of which accesses it is noted what they touch, shape (buffers, ops)."""
        kinds = 1 | np.arange(len(Op)) << 1  # a bit for loads, others for what stores; see `STORES`
        return np.array([[self._kind(b)[1] & kind != 0 for kind in kinds] for b in self._buffers], np.uint8)

    def is_known(self, what: int) -> bool:
        """Return whether `learn` has been called of a key's region and code."""
        return bool(self.where[what, 0] != UNKNOWN)

    def learn(self, what: int, number: int) -> None:
        """Take the number of the buffer that a key's region and code name."""
        buffer = self._buffers[number]
        begin, self.watched[what] = self._kind(buffer)
        self.where[what] = begin, buffer.unit, buffer.itemsize

    def _kind(self, buffer: Buffer) -> tuple[int, int]:
        """Return where a buffer begins, or what stands for that, and which of its accesses are looked at."""
        if buffer.space != "global":
            return PRIVATE, NOTHING
        if not any(_overlap(_span(buffer), span) for span in self._spans):
            return ONLY_READ, STORES
        return buffer.address, EACH


def places_of(buffers: Sequence[Buffer]) -> tuple[int, int]:
    """Return the bits of an address within a place of memory, and how many places hold the memory that blocks share."""
    shared = [buffer for buffer in buffers if buffer.space == "global"]
    smallest = min((buffer.itemsize for buffer in shared), default=1)
    shift = min(smallest.bit_length() - 1, COARSEST)
    return shift, (max((_span(buffer)[1] for buffer in shared), default=0) >> shift) + 2


def _span(buffer: Buffer) -> tuple[int, int]:
    """Return where a buffer of global memory begins and ends."""
    return buffer.address, buffer.address + buffer.size * buffer.unit


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _mark(keys: Any, indices: Any, where: Any, ops: Any, shift: Any, places: Any) -> Any:
    """Enter rows into `places`; see `Touched.add`."""
    for row in range(len(keys)):
        key = np.int64(keys[row])
        what = key >> SITE_BITS
        begin, op = where[what, 0], ops[key & ((1 << SITE_BITS) - 1)]
        if begin == PRIVATE or (begin == ONLY_READ and op == Op.LOAD):
            continue
        if begin < 0:
            return row
        first = begin + indices[row] * where[what, 1]
        how = READ if op == Op.LOAD else WRITTEN if op == Op.STORE else READ | WRITTEN
        for place in range(first >> shift, ((first + where[what, 2] - 1) >> shift) + 1):
            places[place] |= how
    return len(keys)


def _meet(all_places: Any, places: Any) -> Any:
    """Return whether a place is touched by both and written by one; add the second to the first.

    Both are words of eight places. READ is the lowest bit of a place and WRITTEN the next, so what is shifted by one
    has in the lowest bit whether it was written.
    """
    for word in range(len(places)):
        mine, others = places[word], all_places[word]
        both = (mine | mine >> np.uint64(1)) & (others | others >> np.uint64(1))
        if both & (mine | others) >> np.uint64(1) & _ONE_OF_EACH:
            return True
        all_places[word] = mine | others
    return False


mark, meet = cached(_mark), cached(_meet)


def have_met(all_touched: Sequence[Touched]) -> bool:
    """Return whether two have touched the same place, of which one has written it; spoils the first."""
    first, *others = all_touched
    return any(bool(meet(first.words, other.words)) for other in others)
