"""Counters straight from rows, warp by warp, without columns: what is left of a launch of which nothing is kept.

Where all lanes of a warp did the same between two barriers, their k-th accesses are its k-th request. Where they did
not, `block_counters` puts the accesses into requests, and says so where these need sorting out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import carray
from numpy.typing import NDArray

from ...analysis.counters import totals_of_sums
from ...analysis.request_cost import ADDRESS, LATEST, PERIOD, RULE, UNIT, new_scratch, rules_of
from ...model.trace import WARP, Buffer, Op
from ..cached import part
from ..state import (
    CODE_BITS,
    CONTEXT_AT,
    COUNT_WORDS,
    KEY_AT,
    REGIONS,
    ROW_BYTES,
    SHAPES,
    SITE_BITS,
    CountWord,
)
from ..words import peek, peek32, pointer, poke
from .block_counters import SLOTS, add_requests, new_work, no_sums, warp_requests
from .request_cost import cached, cost_of

TILE = 64  # requests compared at once: their rows are read in the order in which they lie
DONE, UNKNOWN, UNSORTED = range(3)
_LOW, _KEYS = (1 << SITE_BITS) - 1, REGIONS << CODE_BITS
_OPS = len(Op)
_RULES = RULE + _OPS


class StreamingCounters:
    """The counters of a launch so far.

    learn(key) puts what a new key means into the tables; sort_out(rows) counts a warp's phase the long way.
    """

    def __init__(
        self, threads: int, learn: Callable[[int], None], sort_out: Callable[[NDArray[Any]], None]
    ) -> None:
        self._learn, self._sort_out = learn, sort_out
        self._buffers: list[Buffer] = []
        self._sums, self._rules = no_sums(0), rules_of([])
        self._work, self._scratch = new_work(), new_scratch()
        self._shapes = _no_shapes(0)
        self._tables: tuple[NDArray[Any], ...] = ()
        self.words = np.zeros(COUNT_WORDS, np.int64)
        self.words[CountWord.THREADS] = threads

    def add(
        self, rows: NDArray[Any], buffers: list[Buffer], tables: tuple[NDArray[Any], ...], sites: int
    ) -> None:
        """Count rows, which are whole warps' phases sorted by context.

        tables: buffer by key, site of the trace by site of the program (of which there are so many), Op by that.
        """
        self._tables = tables
        while len(rows):
            self._have_room(buffers, sites)
            self.words[CountWord.ROWS], self.words[CountWord.COUNT] = rows.ctypes.data, len(rows)
            done = count_at(self.words.ctypes.data)
            hindered, end = self.words[[CountWord.HINDERED, CountWord.HINDERED_AT]].tolist()
            if hindered == UNKNOWN:
                self._learn(int(rows["key"][end - 1]))
            elif hindered == UNSORTED:
                self._sort_out(rows[done:end])
            rows = rows[end if hindered == UNSORTED else done :]
        self._have_room(buffers, sites)

    def _have_room(self, buffers: list[Buffer], sites: int) -> None:
        """Have sums for these buffers, and shapes for so many sites."""
        if len(self._sums) < len(buffers):
            self._sums = np.concatenate((self._sums, no_sums(len(buffers) - len(self._sums))))
            self._buffers, self._rules = buffers, rules_of(buffers)
        if len(self._shapes[0]) < sites:
            self._shapes = _no_shapes(sites)
        numbers = (CountWord.SITE_COUNT, sites), (CountWord.RULE_COUNT, len(self._rules))
        arrays = zip(
            (CountWord.BUFFERS, CountWord.FINAL, CountWord.OPS, CountWord.RULES, CountWord.SCRATCH, CountWord.SUMS),
            (*self._tables, self._rules, self._scratch, self._sums), strict=True,
        )  # fmt: skip
        for word, number in (*numbers, *((word, array.ctypes.data) for word, array in arrays)):
            self.words[word] = number
        for first, made in ((CountWord.WORK, self._work), (SHAPES, self._shapes)):
            self.words[first : first + len(made)] = [array.ctypes.data for array in made]

    def done(self, *, at_loads: bool) -> set[int]:
        """Return the buffers of which loads have been counted, or stores and atomics."""
        ops = slice(Op.LOAD, Op.LOAD + 1) if at_loads else slice(Op.STORE, None)
        return set(np.flatnonzero(self._sums[:, ops, 0].any(axis=1)).tolist())

    def totals(self) -> dict[str, int]:
        """Return the counters by name."""
        return totals_of_sums(self._buffers, self._sums)


def _no_shapes(sites: int) -> tuple[NDArray[np.int64], ...]:
    """Return room for the shape that requests of each site had last: how far the lanes are from the first one.

    Most requests of a site differ in where they lie alone, and then cost the same again after PERIOD bytes. By site:
    its key, a bit for each lane (0: none yet), and 1 more than the row where the tile began that it is from; then (by
    lane, site) the indices between that lane and the first, and the cost (-1: unknown) by where the first lane's
    element lies. Beside it what a tile works with: what differs, indices of the first lane, addresses of a
    request, sites.
    """
    seen, shape = np.zeros((sites, 3), np.int64), np.zeros((WARP, sites), np.int64)
    costs = np.full((sites, PERIOD), -1, np.int64)
    return seen, shape, costs, *(np.empty(size, np.int64) for size in (TILE, TILE, WARP, TILE))


def _key_of(rows: Any, row: Any) -> Any:
    return peek32(rows + ROW_BYTES * row + KEY_AT)


def _context_of(rows: Any, row: Any) -> Any:
    return peek32(rows + ROW_BYTES * row + CONTEXT_AT)


def _index_of(rows: Any, row: Any) -> Any:
    return peek(rows + ROW_BYTES * row, 0)


key_of, context_of, index_of = part(_key_of), part(_context_of), part(_index_of)


def _lanes(rows: Any, count: Any, begin: Any, first: Any, last: Any, starts: Any) -> None:
    """Fill starts: where the rows of each lane begin, of a warp whose lanes have the contexts from first up to last."""
    row, length = begin, 0
    for lane in range(WARP):
        starts[lane] = row
        context, end = first + lane, row + length
        if context >= last or row >= count or context_of(rows, row) != context:
            continue
        alike = end <= count and context_of(rows, end - 1) == context
        if not (length and alike and (end == count or context_of(rows, end) != context)):
            end = row
            while end < count and context_of(rows, end) == context:
                end += 1
            length = end - row
        row = end
    starts[WARP] = row


lanes = part(_lanes)


def _uniform(
    rows: Any,
    starts: Any,
    buffers: Any,
    sites: Any,
    ops: Any,
    rules: Any,
    scratch: Any,
    shapes: Any,
    sums: Any,
) -> Any:
    """Add the requests of a warp whose lanes did the same, or made no access; return whether that was so.

    Returns -1 - row for a row with an unknown key. Sums are changed also where a later access turns out to differ.
    """
    lead, active, lanes = 0, 0, np.int64(0)
    while starts[lead + 1] == starts[lead]:
        lead += 1
    count = starts[lead + 1] - starts[lead]
    for lane in range(lead, WARP):
        if starts[lane + 1] != starts[lane]:
            if starts[lane + 1] - starts[lane] != count:
                return 0
            active += 1
            lanes |= np.int64(1) << lane
    seen, shape, kept_costs, which, first, low, _ = shapes
    for tile in range(0, count, TILE):
        size, begin = min(TILE, count - tile), starts[lead] + tile
        if not alike(rows, starts, tile, size, lead, lanes, shapes):
            return 0
        for k in range(size):
            key = key_of(rows, begin + k)
            buffer = np.int64(buffers[key >> SITE_BITS])
            if buffer < 0 or sites[key & _LOW] < 0:
                return -1 - begin - k
            site, op, unit = key & _LOW, ops[key & _LOW], rules[buffer, UNIT]
            address = rules[buffer, ADDRESS] + first[k] * unit
            if which[k] != 0 or seen[site, 2] == begin + 1:
                seen[site, 2] = begin + 1
                learn_shape(rows, starts, tile + k, lead, lanes, shapes)
            if kept_costs[site, address % PERIOD] < 0:
                there = 0
                for lane in range(lead, WARP):
                    if lanes >> lane & 1:
                        low[there] = address + shape[lane, site] * unit
                        there += 1
                kept_costs[site, address % PERIOD] = cost_of(low, active, op, buffer, rules, scratch)
            sums[buffer, op, 0] += 1
            sums[buffer, op, 1] += kept_costs[site, address % PERIOD]
            sums[buffer, op, 2] += active
    return 1


def _alike(rows: Any, starts: Any, tile: Any, size: Any, lead: Any, lanes: Any, shapes: Any) -> Any:
    """Return whether all lanes of a warp did what the first one did, in so many accesses from `tile` on.

    Fills `which`: 0 for requests of the shape that their site had last before this tile.
    """
    seen, shape, _, which, first, _, place = shapes
    begin = rows + ROW_BYTES * (starts[lead] + tile)
    for k in range(size):
        key = peek32(begin + ROW_BYTES * k + KEY_AT)
        place[k] = key & _LOW
        first[k] = peek(begin + ROW_BYTES * k, 0)
        which[k] = (seen[place[k], 0] ^ key) | (seen[place[k], 1] ^ lanes)
    apart = 0
    for lane in range(lead + 1, WARP):
        if not lanes >> lane & 1:
            continue
        there, behind = rows + ROW_BYTES * (starts[lane] + tile), shape[lane]
        for k in range(size):
            row = ROW_BYTES * k
            apart |= peek32(there + row + KEY_AT) ^ peek32(begin + row + KEY_AT)
            which[k] |= (peek(there + row, 0) - first[k]) ^ behind[place[k]]
        if apart != 0:
            return False
    return True


def _learn_shape(rows: Any, starts: Any, k: Any, lead: Any, lanes: Any, shapes: Any) -> None:
    """Take the shape of a request, the k-th of its warp, for that of its site, of which no cost is known yet."""
    seen, shape, kept_costs, _, _, _, _ = shapes
    key = key_of(rows, starts[lead] + k)
    site = key & _LOW
    seen[site, 0], seen[site, 1] = key, lanes
    kept_costs[site] = -1
    for lane in range(lead, WARP):
        if lanes >> lane & 1:
            shape[lane, site] = index_of(rows, starts[lane] + k) - index_of(rows, starts[lead] + k)


alike, learn_shape = part(_alike), part(_learn_shape)
uniform = part(_uniform)


def _diverged(
    rows: Any, starts: Any, buffers: Any, sites: Any, ops: Any, rules: Any, count: Any, work: Any, scratch: Any,
    sums: Any,
) -> Any:  # fmt: skip
    """Add the requests of a warp whose lanes did different things; return 1, or 0 where they need sorting out.

    Returns -1 - row for a row with an unknown key.
    """
    begin, size = starts[0], starts[WARP] - starts[0]
    op, buffer, site = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    index = np.empty(size, np.int64)
    for k in range(size):
        key = key_of(rows, begin + k)
        op[k], site[k], buffer[k] = ops[key & _LOW], sites[key & _LOW], buffers[key >> SITE_BITS]
        if site[k] < 0 or buffer[k] < 0:
            return -1 - begin - k
        index[k] = index_of(rows, begin + k)
    used = warp_requests(np.arange(size), starts - begin, op, buffer, site, index, rules, count, work)
    if used < 0:
        return 0
    add_requests(used, work, rules, scratch, sums)
    return 1


diverged = part(_diverged)


def _count_rows(
    rows: Any, end: Any, threads: Any, buffers: Any, sites: Any, ops: Any, rules: Any, count: Any, work: Any,
    scratch: Any, shapes: Any, sums: Any, said: Any,
) -> Any:  # fmt: skip
    """Count so many rows at an address until something hinders; return the first one that is not counted.

    said gets what hinders and one past where: nothing (DONE), the row there has a key that is not in the tables
    (UNKNOWN), or the requests from the first row on need sorting out (UNSORTED).
    """
    begin, starts, before = np.int64(0), np.empty(WARP + 1, np.int64), np.empty_like(sums)
    said[0], said[1] = DONE, end
    while begin < end:
        context = context_of(rows, begin)
        sweep = context // threads * threads
        first = sweep + ((context - sweep) >> 5 << 5)
        lanes(rows, end, begin, first, sweep + threads, starts)
        before[:] = sums
        done = uniform(rows, starts, buffers, sites, ops, rules, scratch, shapes, sums)
        if done == 0:
            sums[:] = before
            done = diverged(rows, starts, buffers, sites, ops, rules, count, work, scratch, sums)
        if done < 0:
            sums[:] = before
            said[0], said[1] = UNKNOWN, -done
            break
        if done == 0:
            said[0], said[1] = UNSORTED, starts[WARP]
            break
        begin = starts[WARP]
    return begin


count_rows = part(_count_rows)


def _count_at(words: Any) -> Any:
    """Count rows as `CountWord` says, and say there what hindered; return the first one that is not counted."""
    sites, rules = peek(words, CountWord.SITE_COUNT), peek(words, CountWord.RULE_COUNT)
    work, shapes = words + 8 * CountWord.WORK, words + 8 * SHAPES
    said = np.empty(2, np.int64)
    done = count_rows(
        peek(words, CountWord.ROWS), peek(words, CountWord.COUNT), peek(words, CountWord.THREADS),
        carray(pointer(peek(words, CountWord.BUFFERS)), (_KEYS,), np.int32),
        carray(pointer(peek(words, CountWord.FINAL)), (sites,), np.int32),
        carray(pointer(peek(words, CountWord.OPS)), (sites,), np.uint8),
        carray(pointer(peek(words, CountWord.RULES)), (rules, _RULES), np.int64), sites,
        (
            longs(peek(work, 0), SLOTS), longs(peek(work, 1), SLOTS), longs(peek(work, 2), SLOTS),
            longs(peek(work, 3), SLOTS), longs(peek(work, 4), SLOTS),
            carray(pointer(peek(work, 5)), (SLOTS, WARP), np.int64),
        ),
        longs(peek(words, CountWord.SCRATCH), LATEST + 1),
        (
            carray(pointer(peek(shapes, 0)), (sites, 3), np.int64),
            carray(pointer(peek(shapes, 1)), (WARP, sites), np.int64),
            carray(pointer(peek(shapes, 2)), (sites, PERIOD), np.int64),
            longs(peek(shapes, 3), TILE), longs(peek(shapes, 4), TILE), longs(peek(shapes, 5), WARP),
            longs(peek(shapes, 6), TILE),
        ),
        carray(pointer(peek(words, CountWord.SUMS)), (rules, _OPS, 3), np.int64), said,
    )  # fmt: skip
    poke(words, CountWord.HINDERED, said[0])
    poke(words, CountWord.HINDERED_AT, said[1])
    return done


def _longs(address: Any, count: Any) -> Any:
    """Return so many words at an address."""
    return carray(pointer(address), (count,), np.int64)


longs = part(_longs)
count_at = cached(_count_at)
