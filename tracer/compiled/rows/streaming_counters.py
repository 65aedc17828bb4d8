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
from ...analysis.request_cost import ADDRESS, PERIOD, RULE, SCRATCH, UNIT, new_scratch, rules_of
from ...model.trace import WARP, Buffer, Op
from ..cached import part
from ..state import (
    CODE_BITS,
    COUNT_WORDS,
    REGIONS,
    ROW_BYTES,
    SHAPES,
    SITE_BITS,
    CountWord,
    TouchWord,
)
from ..words import peek, pointer, poke
from .block_counters import SLOTS, add_requests, new_work, no_sums, warp_requests
from .request_cost import cached, cost_of
from .request_shapes import (
    HALF,
    NOTED,
    NUMBER,
    TILE,
    alike,
    context_of,
    index_of,
    key_of,
    learn_shape,
    longs,
    no_shapes,
    note_request,
    shapes_at,
)
from .touched import Touched, mark

DONE, UNKNOWN, UNSORTED = range(3)
_LOW, _KEYS = (1 << SITE_BITS) - 1, REGIONS << CODE_BITS
_OPS = len(Op)
_RULES = RULE + _OPS


class StreamingCounters:
    """The counters of a launch so far.

    learn(key) puts what a new key means into the tables; sort_out(rows) counts a warp's phase the long way. touched:
    where it is noted what memory the rows touch that are counted otherwise, if that is to be known.
    """

    def __init__(
        self, threads: int, learn: Callable[[int], None], sort_out: Callable[[NDArray[Any]], None],
        touched: Touched | None = None,
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
            self._shapes = no_shapes(sites)
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
    touched: Any,
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
    seen, shape, kept_costs, which, low, base, _, numbers = shapes
    for tile in range(0, count, TILE):
        size, begin, latest = min(TILE, count - tile), starts[lead] + tile, numbers[TILE]
        if not alike(rows, starts, tile, size, lead, lanes, shapes):
            return 0
        for k in range(size):
            first, key = base[k, 0], base[k, 1] & HALF
            buffer = np.int64(buffers[key >> SITE_BITS])
            if buffer < 0 or sites[key & _LOW] < 0:
                return -1 - begin - k
            site, op, unit = key & _LOW, ops[key & _LOW], rules[buffer, UNIT]
            address = rules[buffer, ADDRESS] + first * unit
            if which[k] != 0 or seen[site, NUMBER] > latest:  # new in this tile: look at it again
                learn_shape(rows, starts, tile + k, lead, lanes, op, touched, shapes)
            if seen[site, NOTED]:
                note_request(touched, key >> SITE_BITS, op, first, site, active, shapes)
            if kept_costs[site, address % PERIOD] < 0:
                there = 0
                for lane in range(lead, WARP):
                    if lanes >> lane & 1:
                        low[there] = address + shape[lane, site] * unit
                        there += 1
                kept_costs[site, address % PERIOD] = cost_of(low, active, lanes, op, buffer, rules, scratch)
            sums[buffer, op, 0] += 1
            sums[buffer, op, 1] += kept_costs[site, address % PERIOD]
            sums[buffer, op, 2] += active
    return 1


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


def _note_rows(touched: Any, rows: Any, starts: Any, ops: Any) -> None:
    """Note what memory the rows of a warp touch."""
    count = starts[WARP] - starts[0]
    if mark(touched, rows + ROW_BYTES * starts[0], count, ops) < count:
        poke(touched, TouchWord.UNMARKED, 1)


note_rows = part(_note_rows)


def _count_rows(
    rows: Any, end: Any, threads: Any, buffers: Any, sites: Any, ops: Any, rules: Any, count: Any, work: Any,
    scratch: Any, shapes: Any, sums: Any, said: Any, touched: Any, kinds: Any,
) -> Any:  # fmt: skip
    """Count so many rows at an address until something hinders; return the first one that is not counted.

    said gets what hinders and one past where: nothing (DONE), the row there has a key that is not in the tables
    (UNKNOWN), or the requests from the first row on need sorting out (UNSORTED). kinds: the address of `ops`.
    """
    begin, starts, before = np.int64(0), np.empty(WARP + 1, np.int64), np.empty_like(sums)
    said[0], said[1] = DONE, end
    while begin < end:
        context = context_of(rows, begin)
        sweep = context // threads * threads
        first = sweep + ((context - sweep) >> 5 << 5)
        lanes(rows, end, begin, first, sweep + threads, starts)
        before[:] = sums
        done = uniform(rows, starts, buffers, sites, ops, rules, scratch, shapes, sums, touched)
        if done == 0:
            sums[:] = before
            done = diverged(rows, starts, buffers, sites, ops, rules, count, work, scratch, sums)
            if touched:
                note_rows(touched, rows, starts, kinds)
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
            longs(peek(work, 3), SLOTS), longs(peek(work, 4), SLOTS), longs(peek(work, 5), SLOTS),
            carray(pointer(peek(work, 6)), (SLOTS, WARP), np.int64),
        ),
        longs(peek(words, CountWord.SCRATCH), SCRATCH),
        shapes_at(shapes, sites),
        carray(pointer(peek(words, CountWord.SUMS)), (rules, _OPS, 3), np.int64), said,
        peek(words, CountWord.TOUCHED), peek(words, CountWord.OPS),
    )  # fmt: skip
    poke(words, CountWord.HINDERED, said[0])
    poke(words, CountWord.HINDERED_AT, said[1])
    return done


count_at = cached(_count_at)
