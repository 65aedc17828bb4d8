"""The shared memory that blocks have read and written, from rows: did blocks that ran in parallel conflict?"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.trace import Buffer, Op
from ..compile_cached import compile_cached, compile_with_callers
from ..memory_words import peek, peek8, peek32, poke8
from ..state import KEY_AT, ROW_BYTES, SITE_BITS, IntArray, TouchWord

READ, WRITTEN = 1, 2
# Watched accesses, by key: none, all, or stores; a bit for loads, others for stores.
NOTHING, ALL_ACCESSES, STORES = 0, 7, 6
COARSEST = 3  # at most places of 8 bytes
_LOWEST_BITS = np.uint64(0x0101010101010101)  # the lowest bit of each of eight places
LARGEST = 1 << 28  # places
_SPAN_BYTES, _SITE_MASK = 3 * 8, (1 << SITE_BITS) - 1


class TouchedMemory:
    """The global memory that one of the driver's threads has read and written, in places of a few bytes each.

    buffers: all buffers. only_read: the numbers of those that were read until now and never written; for these, only a
    first store matters. Memory that is not watched takes no room.
    """

    def __init__(self, buffers: Sequence[Buffer], only_read: Container[int] = ()) -> None:
        self._buffers, (self.shift, places) = buffers, places_of(buffers)
        self._spans = [_span(b) for n, b in enumerate(buffers) if b.space == "global" and n not in only_read]
        self.words = np.zeros(-(-places // 8), np.uint64)
        self.places = self.words.view(np.uint8)
        self.where = np.zeros((1 << 32 - SITE_BITS, 3), np.int64)  # by key: begin, unit, bytes (0: unknown)
        self._learned: set[int] = set()  # keys
        self.watched = np.full(len(self.where), ALL_ACCESSES, np.uint8)  # by key
        self._table = np.zeros(len(TouchWord), np.int64)
        for word, table in (
            (TouchWord.PLACES, self.words), (TouchWord.WHERE, self.where), (TouchWord.WATCHED, self.watched),
        ):  # fmt: skip
            self._table[word] = table.ctypes.data
        self._table[TouchWord.SHIFT] = self.shift
        self.address = int(self._table.ctypes.data)  # of the table for compiled code, see `TouchWord`

    def add(self, rows: NDArray[Any], ops: NDArray[np.uint8]) -> int:
        """Note the memory that rows touch; return the first row of a new buffer, or of a store to one only read so far.

        Returns the number of rows if there is no such row. ops: the Op of each site of the program.
        """
        row_count: int = mark(self.address, rows.ctypes.data, len(rows), ops.ctypes.data)
        return row_count

    @property
    def is_unmarked(self) -> bool:
        """Whether rows were counted whose touched memory could not be noted."""
        return bool(self._table[TouchWord.UNMARKED])

    def is_learned(self, region_code: int) -> bool:
        """Check if `learn` has been called for a key's region and code."""
        return region_code in self._learned

    def learn(self, region_code: int, number: int) -> None:
        """Store the number of the buffer for a key's region and code."""
        buffer = self._buffers[number]
        self._learned.add(region_code)
        self.watched[region_code] = self._watched_accesses(buffer)
        if self.watched[region_code] == ALL_ACCESSES:
            self.where[region_code] = buffer.address, buffer.unit, buffer.itemsize

    def _watched_accesses(self, buffer: Buffer) -> int:
        """Return the accesses to a buffer that are watched."""
        if buffer.space != "global":
            return NOTHING
        return ALL_ACCESSES if any(_overlap(_span(buffer), span) for span in self._spans) else STORES


def places_of(buffers: Sequence[Buffer]) -> tuple[int, int]:
    """Return the bits of an address within a place of memory, and the number of places that hold global memory."""
    shared = [buffer for buffer in buffers if buffer.space == "global"]
    smallest = min((buffer.itemsize for buffer in shared), default=1)
    shift = min(smallest.bit_length() - 1, COARSEST)
    return shift, (max((_span(buffer)[1] for buffer in shared), default=0) >> shift) + 2


def _span(buffer: Buffer) -> tuple[int, int]:
    """Return the first address of a global buffer, and its end."""
    return buffer.address, buffer.address + buffer.size * buffer.unit


def _overlap(first: tuple[int, int], second: tuple[int, int]) -> bool:
    return first[0] < second[1] and second[0] < first[1]


def _mark_bytes(places: int, shift: int, first: int, end: int, op: int) -> None:
    """Mark the places of the bytes from the first up to `end`."""
    marks = READ if op == Op.LOAD else WRITTEN if op == Op.STORE else READ | WRITTEN
    for place in range(places + (first >> shift), places + ((end - 1) >> shift) + 1):
        poke8(place, peek8(place) | marks)


def _is_watched(watched: int, region_code: int, op: int) -> int:
    """Check if an access to a region and code is watched."""
    return peek8(watched + region_code) & (1 | op << 1)


mark_bytes, is_watched = (
    compile_with_callers(_mark_bytes, inlined=True),
    compile_with_callers(_is_watched, inlined=True),
)


def _touch(words: int, region_code: int, op: int, index: int, count: int) -> bool:
    """Mark accesses to consecutive elements, which are watched; return False if only the driver can do it."""
    span, places = peek(words, TouchWord.WHERE) + _SPAN_BYTES * region_code, peek(words, TouchWord.PLACES)
    begin, unit, size, shift = peek(span, 0), peek(span, 1), peek(span, 2), peek(words, TouchWord.SHIFT)
    if size == 0:
        return False
    if unit == size:
        mark_bytes(places, shift, begin + index * unit, begin + (index + count) * unit, op)
    else:
        for element in range(index, index + count):
            mark_bytes(places, shift, begin + element * unit, begin + element * unit + size, op)
    return True


touch = compile_with_callers(_touch)


def _mark(words: int, rows: int, count: int, ops: int) -> int:
    """Mark the accesses of rows; see `Touched.add`. All parameters are addresses, `words` that of `TouchWord`."""
    places, shift = peek(words, TouchWord.PLACES), peek(words, TouchWord.SHIFT)
    spans, watched = peek(words, TouchWord.WHERE), peek(words, TouchWord.WATCHED)
    for row in range(count):
        row_address = rows + ROW_BYTES * row
        key = peek32(row_address + KEY_AT)
        region_code, op = key >> SITE_BITS, peek8(ops + (key & _SITE_MASK))
        if is_watched(watched, region_code, op):
            span = spans + _SPAN_BYTES * region_code
            begin = peek(span, 0) + peek(row_address, 0) * peek(span, 1)
            if peek(span, 2) == 0:
                return row
            mark_bytes(places, shift, begin, begin + peek(span, 2), op)
    return count


def _words_conflict(all_places: IntArray, places: IntArray) -> bool:
    """Check if a place is touched in both tables and written in one; add the second table to the first.

    The tables are words of eight places. READ is the lowest bit of a place and WRITTEN the next one. So the lowest
    bits of a word shifted by one bit are set for the written places.
    """
    for word in range(len(places)):
        own_word, other_word = places[word], all_places[word]
        common = (own_word | own_word >> np.uint64(1)) & (other_word | other_word >> np.uint64(1))
        if common & (own_word | other_word) >> np.uint64(1) & _LOWEST_BITS:
            return True
        all_places[word] = own_word | other_word
    return False


mark, words_conflict = compile_cached(_mark), compile_cached(_words_conflict)


def has_cross_block_conflict(all_touched: Sequence[TouchedMemory]) -> bool:
    """Check if two of them touched the same place, and one wrote it; changes the first."""
    first, *others = all_touched
    return any(bool(words_conflict(first.words, other.words)) for other in others)
