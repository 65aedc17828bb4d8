"""Which memory that blocks share has been read and written, from rows: whether those who ran beside each other met."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.trace import Buffer, Op
from ..cached import cached, part
from ..state import KEY_AT, ROW_BYTES, SITE_BITS, TouchWord
from ..words import peek, peek8, peek32, poke8

READ, WRITTEN = 1, 2
# What is looked at, by key: nothing, each access, or those that store; a bit for loads, others for what stores.
NOTHING, EACH, STORES = 0, 7, 6
COARSEST = 3  # places of 8 bytes
_ONE_OF_EACH = np.uint64(0x0101010101010101)  # the lowest bit of each of eight places
LARGEST = 1 << 28  # places
_WHERE_BYTES, _LOW = 3 * 8, (1 << SITE_BITS) - 1


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
        self.where = np.zeros((1 << 32 - SITE_BITS, 3), np.int64)  # by key: begin, unit, bytes (0: unknown)
        self._known: set[int] = set()  # keys
        self.watched = np.full(len(self.where), EACH, np.uint8)  # by key
        self._table = np.zeros(len(TouchWord), np.int64)
        for word, table in (
            (TouchWord.PLACES, self.words), (TouchWord.WHERE, self.where), (TouchWord.WATCHED, self.watched),
        ):  # fmt: skip
            self._table[word] = table.ctypes.data
        self._table[TouchWord.SHIFT] = self.shift
        self.address = int(self._table.ctypes.data)  # of what compiled code is told of it, see `TouchWord`

    def add(self, rows: NDArray[Any], ops: NDArray[np.uint8]) -> int:
        """Note what rows touch; return the first one of an unknown buffer, or of a store to one that was only read.

        Returns how many there are where it is none. ops: the Op of each site of the program.
        """
        done: int = mark(self.address, rows.ctypes.data, len(rows), ops.ctypes.data)
        return done

    @property
    def is_unmarked(self) -> bool:
        """Whether rows were counted of which it could not be noted what they touch."""
        return bool(self._table[TouchWord.UNMARKED])

    def is_known(self, what: int) -> bool:
        """Return whether `learn` has been called of a key's region and code."""
        return what in self._known

    def learn(self, what: int, number: int) -> None:
        """Take the number of the buffer that a key's region and code name."""
        buffer = self._buffers[number]
        self._known.add(what)
        self.watched[what] = self._kinds(buffer)
        if self.watched[what] == EACH:
            self.where[what] = buffer.address, buffer.unit, buffer.itemsize

    def _kinds(self, buffer: Buffer) -> int:
        """Return which accesses to a buffer are looked at."""
        if buffer.space != "global":
            return NOTHING
        return EACH if any(_overlap(_span(buffer), span) for span in self._spans) else STORES


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


def _enter(places: Any, shift: Any, first: Any, end: Any, op: Any) -> None:
    """Enter an access to the bytes from the first up to `end`."""
    how = READ if op == Op.LOAD else WRITTEN if op == Op.STORE else READ | WRITTEN
    for place in range(places + (first >> shift), places + ((end - 1) >> shift) + 1):
        poke8(place, peek8(place) | how)


def _is_watched(watched: Any, what: Any, op: Any) -> Any:
    """Return whether it is noted what such an access, to a region's elements of a code, touches."""
    return peek8(watched + what) & (1 | op << 1)


enter, is_watched = part(_enter, inlined=True), part(_is_watched, inlined=True)


def _touch(words: Any, what: Any, op: Any, index: Any, count: Any) -> Any:
    """Enter accesses to elements in a row, which are watched; return False where only the driver can."""
    where, places = peek(words, TouchWord.WHERE) + _WHERE_BYTES * what, peek(words, TouchWord.PLACES)
    begin, unit, size, shift = peek(where, 0), peek(where, 1), peek(where, 2), peek(words, TouchWord.SHIFT)
    if size == 0:
        return False
    if unit == size:
        enter(places, shift, begin + index * unit, begin + (index + count) * unit, op)
    else:
        for element in range(index, index + count):
            enter(places, shift, begin + element * unit, begin + element * unit + size, op)
    return True


touch = part(_touch)


def _mark(words: Any, rows: Any, count: Any, ops: Any) -> Any:
    """Enter rows; see `Touched.add`. All are given by addresses, `words` that of `TouchWord`."""
    places, shift = peek(words, TouchWord.PLACES), peek(words, TouchWord.SHIFT)
    where, watched = peek(words, TouchWord.WHERE), peek(words, TouchWord.WATCHED)
    for row in range(count):
        here = rows + ROW_BYTES * row
        key = peek32(here + KEY_AT)
        what, op = key >> SITE_BITS, peek8(ops + (key & _LOW))
        if is_watched(watched, what, op):
            there = where + _WHERE_BYTES * what
            first = peek(there, 0) + peek(here, 0) * peek(there, 1)
            if peek(there, 2) == 0:
                return row
            enter(places, shift, first, first + peek(there, 2), op)
    return count


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
