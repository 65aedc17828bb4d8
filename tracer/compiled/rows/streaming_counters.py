"""Counters straight from rows, warp by warp, without columns: for launches whose rows are not kept.

If all lanes of a warp did the same between two barriers, their k-th accesses are its k-th request. If not,
`block_counters` puts the accesses into requests, and reports if their order must be sorted out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import carray
from numpy.typing import NDArray

from ...analysis.counters import totals_of_sums
from ...analysis.request_cost import ADDRESS, PERIOD, RULE, SCRATCH, UNIT, new_scratch, rules_of
from ...model.trace import WARP, Buffer, Op
from ..compile_cached import compile_with_callers
from ..memory_words import peek, pointer, poke
from ..state import (
    CODE_BITS,
    COUNT_WORDS,
    REGIONS,
    ROW_BYTES,
    SHAPES,
    SITE_BITS,
    CountWord,
    IntArray,
    Number,
    Shapes,
    TouchWord,
)
from .block_counters import SLOTS, add_requests, new_work, no_sums, warp_requests
from .request_cost import compile_cached_with_rules, cost_of
from .request_shapes import (
    HALF,
    NOTED,
    NUMBER,
    TILE,
    context_of,
    index_of,
    key_of,
    lanes_match,
    learn_shape,
    longs,
    no_shapes,
    note_request,
    shapes_at,
)
from .touched_memory import TouchedMemory, mark

DONE, UNKNOWN, UNSORTED = range(3)
_SITE_MASK, _REGION_CODES = (1 << SITE_BITS) - 1, REGIONS << CODE_BITS
_OPS = len(Op)
_RULES = RULE + _OPS


class StreamingCounters:
    """The counters of a launch so far.

    learn(key) puts a new key into the tables; sort_out(rows) counts a warp's phase the slow way. touched: notes the
    memory that rows touch, if that is needed.
    """

    def __init__(
        self, threads: int, learn: Callable[[int], None], sort_out: Callable[[NDArray[Any]], None],
        touched: TouchedMemory | None = None,
    ) -> None:  # fmt: skip
        self._learn, self._sort_out = learn, sort_out
        self._buffers: list[Buffer] = []
        self._sums, self._rules = no_sums(0), rules_of([])
        self._work, self._scratch = new_work(), new_scratch()
        self._shapes = no_shapes(0)
        self._tables: tuple[NDArray[Any], ...] = ()
        self.words = np.zeros(COUNT_WORDS, np.int64)
        self.words[CountWord.THREADS] = threads
        self.words[CountWord.TOUCHED] = touched.address if touched else 0

    def add(
        self, rows: NDArray[Any], buffers: list[Buffer], tables: tuple[NDArray[Any], ...], sites: int
    ) -> None:
        """Count rows, which are complete phases of warps, sorted by context.

        tables: buffer by key, site of the trace by site of the program (there are `sites`), Op by site of the program.
        """
        self._tables = tables
        while len(rows):
            self._ensure_room(buffers, sites)
            self.words[CountWord.ROWS], self.words[CountWord.COUNT] = rows.ctypes.data, len(rows)
            counted_rows = count_at(self.words.ctypes.data)
            hindered, end = self.words[[CountWord.OBSTACLE, CountWord.OBSTACLE_END]].tolist()
            if hindered == UNKNOWN:
                self._learn(int(rows["key"][end - 1]))
            elif hindered == UNSORTED:
                self._sort_out(rows[counted_rows:end])
            rows = rows[end if hindered == UNSORTED else counted_rows :]
        self._ensure_room(buffers, sites)

    def _ensure_room(self, buffers: list[Buffer], sites: int) -> None:
        """Allocate sums for these buffers, and shapes for these sites."""
        if len(self._sums) < len(buffers):
            self._sums = np.concatenate((self._sums, no_sums(len(buffers) - len(self._sums))))
            self._buffers, self._rules = buffers, rules_of(buffers)
        if len(self._shapes[0]) < sites:
            self._shapes = no_shapes(sites)
        numbers = (CountWord.SITE_COUNT, sites), (CountWord.RULE_COUNT, len(self._rules))
        arrays = zip(
            (CountWord.BUFFERS, CountWord.SITES, CountWord.OPS, CountWord.RULES, CountWord.SCRATCH, CountWord.SUMS),
            (*self._tables, self._rules, self._scratch, self._sums), strict=True,
        )  # fmt: skip
        for word, number in (*numbers, *((word, array.ctypes.data) for word, array in arrays)):
            self.words[word] = number
        for first, group in ((CountWord.WORK, self._work), (SHAPES, self._shapes)):
            self.words[first : first + len(group)] = [array.ctypes.data for array in group]

    def done(self, *, at_loads: bool) -> set[int]:
        """Return the buffers with counted loads, or those with counted stores and atomics."""
        ops = slice(Op.LOAD, Op.LOAD + 1) if at_loads else slice(Op.STORE, None)
        return set(np.flatnonzero(self._sums[:, ops, 0].any(axis=1)).tolist())

    def totals(self) -> dict[str, int]:
        """Return the counters by name."""
        return totals_of_sums(self._buffers, self._sums)


def _find_lanes(rows: int, count: int, begin: Number, first: int, last: int, starts: IntArray) -> None:
    """Fill `starts` with the first row of each lane of a warp, whose contexts are from `first` to before `last`."""
    row, length = begin, 0
    for lane in range(WARP):
        starts[lane] = row
        context, end = first + lane, row + length
        if context >= last or row >= count or context_of(rows, row) != context:
            continue
        has_same_length = end <= count and context_of(rows, end - 1) == context
        if not (length and has_same_length and (end == count or context_of(rows, end) != context)):
            end = row
            while end < count and context_of(rows, end) == context:
                end += 1
            length = end - row
        row = end
    starts[WARP] = row


find_lanes = compile_with_callers(_find_lanes)


def _add_uniform(
    rows: int,
    starts: IntArray,
    buffers: IntArray,
    sites: IntArray,
    ops: IntArray,
    rules: IntArray,
    scratch: IntArray,
    shapes: Shapes,
    sums: IntArray,
    touched: int,
) -> int:
    """Add the requests of a warp whose lanes did the same, or made no access; return 0 if they did not.

    Returns -1 - row for a row with an unknown key. The sums may have changed even if the result is not 1.
    """
    lead, active, lane_bits = 0, 0, np.int64(0)
    while starts[lead + 1] == starts[lead]:
        lead += 1
    count = starts[lead + 1] - starts[lead]
    for lane in range(lead, WARP):
        if starts[lane + 1] != starts[lane]:
            if starts[lane + 1] - starts[lane] != count:
                return 0
            active += 1
            lane_bits |= np.int64(1) << lane
    site_shapes, offsets, costs, mismatches, low, base, _, numbers = shapes
    for tile in range(0, count, TILE):
        size, begin, latest = min(TILE, count - tile), starts[lead] + tile, numbers[TILE]
        if not lanes_match(rows, starts, tile, size, lead, lane_bits, shapes):
            return 0
        for k in range(size):
            first, key = base[k, 0], base[k, 1] & HALF
            buffer = np.int64(buffers[key >> SITE_BITS])
            if buffer < 0 or sites[key & _SITE_MASK] < 0:
                return int(-1 - begin - k)
            site, op, unit = key & _SITE_MASK, ops[key & _SITE_MASK], rules[buffer, UNIT]
            address = rules[buffer, ADDRESS] + first * unit
            if mismatches[k] != 0 or site_shapes[site, NUMBER] > latest:  # new in this tile: learn it again
                learn_shape(rows, starts, tile + k, lead, lane_bits, op, touched, shapes)
            if site_shapes[site, NOTED]:
                note_request(touched, key >> SITE_BITS, op, first, site, active, shapes)
            if costs[site, address % PERIOD] < 0:
                position = 0
                for lane in range(lead, WARP):
                    if lane_bits >> lane & 1:
                        low[position] = address + offsets[lane, site] * unit
                        position += 1
                costs[site, address % PERIOD] = cost_of(low, active, lane_bits, op, buffer, rules, scratch)
            sums[buffer, op, 0] += 1
            sums[buffer, op, 1] += costs[site, address % PERIOD]
            sums[buffer, op, 2] += active
    return 1


add_uniform = compile_with_callers(_add_uniform)


def _add_diverged(
    rows: int,
    starts: IntArray,
    buffers: IntArray,
    sites: IntArray,
    ops: IntArray,
    rules: IntArray,
    count: int,
    work: tuple[IntArray, ...],
    scratch: IntArray,
    sums: IntArray,
) -> int:
    """Add the requests of a warp whose lanes diverged; return 1, or 0 if their order must be sorted out.

    Returns -1 - row for a row with an unknown key.
    """
    begin, size = starts[0], starts[WARP] - starts[0]
    op, buffer, site = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    index = np.empty(size, np.int64)
    for k in range(size):
        key = key_of(rows, begin + k)
        op[k], site[k], buffer[k] = ops[key & _SITE_MASK], sites[key & _SITE_MASK], buffers[key >> SITE_BITS]
        if site[k] < 0 or buffer[k] < 0:
            return int(-1 - begin - k)
        index[k] = index_of(rows, begin + k)
    used = warp_requests(np.arange(size), starts - begin, op, buffer, site, index, rules, count, work)
    if used < 0:
        return 0
    add_requests(used, work, rules, scratch, sums)
    return 1


add_diverged = compile_with_callers(_add_diverged)


def _note_rows(touched: int, rows: int, starts: IntArray, ops: int) -> None:
    """Note the memory that the rows of a warp touch."""
    count = starts[WARP] - starts[0]
    if mark(touched, rows + ROW_BYTES * starts[0], count, ops) < count:
        poke(touched, TouchWord.UNMARKED, 1)


note_rows = compile_with_callers(_note_rows)


def _count_rows(
    rows: int,
    end: int,
    threads: int,
    buffers: IntArray,
    sites: IntArray,
    ops: IntArray,
    rules: IntArray,
    count: int,
    work: tuple[IntArray, ...],
    scratch: IntArray,
    shapes: Shapes,
    sums: IntArray,
    obstacle: IntArray,
    touched: int,
    ops_address: int,
) -> Number:
    """Count rows at an address up to an obstacle; return the first row that is not counted.

    obstacle gets its kind and one past its row: none (DONE), a key that is not in the tables (UNKNOWN), or requests
    from the first row on whose order must be sorted out (UNSORTED). ops_address: the address of `ops`.
    """
    begin, starts, sums_before = np.int64(0), np.empty(WARP + 1, np.int64), np.empty_like(sums)
    obstacle[0], obstacle[1] = DONE, end
    while begin < end:
        context = context_of(rows, begin)
        sweep = context // threads * threads
        first_context = sweep + ((context - sweep) >> 5 << 5)
        find_lanes(rows, end, begin, first_context, sweep + threads, starts)
        sums_before[:] = sums
        done = add_uniform(rows, starts, buffers, sites, ops, rules, scratch, shapes, sums, touched)
        if done == 0:
            sums[:] = sums_before
            done = add_diverged(rows, starts, buffers, sites, ops, rules, count, work, scratch, sums)
            if touched:
                note_rows(touched, rows, starts, ops_address)
        if done < 0:
            sums[:] = sums_before
            obstacle[0], obstacle[1] = UNKNOWN, -done
            break
        if done == 0:
            obstacle[0], obstacle[1] = UNSORTED, starts[WARP]
            break
        begin = starts[WARP]
    return begin


count_rows = compile_with_callers(_count_rows)


def _count_at(words: int) -> int:
    """Count rows by the table of `CountWord`, store the obstacle in it, and return the first row not counted."""
    sites, rules = peek(words, CountWord.SITE_COUNT), peek(words, CountWord.RULE_COUNT)
    work, shapes = words + 8 * CountWord.WORK, words + 8 * SHAPES
    obstacle = np.empty(2, np.int64)
    counted_rows = count_rows(
        peek(words, CountWord.ROWS), peek(words, CountWord.COUNT), peek(words, CountWord.THREADS),
        carray(pointer(peek(words, CountWord.BUFFERS)), (_REGION_CODES,), np.int32),
        carray(pointer(peek(words, CountWord.SITES)), (sites,), np.int32),
        carray(pointer(peek(words, CountWord.OPS)), (sites,), np.uint8),
        carray(pointer(peek(words, CountWord.RULES)), (rules, _RULES), np.int64), sites,
        (
            longs(peek(work, 0), SLOTS), longs(peek(work, 1), SLOTS), longs(peek(work, 2), SLOTS),
            longs(peek(work, 3), SLOTS), longs(peek(work, 4), SLOTS), longs(peek(work, 5), SLOTS),
            carray(pointer(peek(work, 6)), (SLOTS, WARP), np.int64),
        ),
        longs(peek(words, CountWord.SCRATCH), SCRATCH),
        shapes_at(shapes, sites),
        carray(pointer(peek(words, CountWord.SUMS)), (rules, _OPS, 3), np.int64), obstacle,
        peek(words, CountWord.TOUCHED), peek(words, CountWord.OPS),
    )  # fmt: skip
    poke(words, CountWord.OBSTACLE, obstacle[0])
    poke(words, CountWord.OBSTACLE_END, obstacle[1])
    return int(counted_rows)


count_at = compile_cached_with_rules(_count_at)
