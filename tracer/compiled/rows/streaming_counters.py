"""Counters straight from rows, warp by warp, without columns: what is left of a launch of which nothing is kept.

Where all lanes of a warp did the same between two barriers, their k-th accesses are its k-th request. Where they did
not, `block_counters` puts the accesses into requests, and says so where these need sorting out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...analysis.counters import totals_of_sums
from ...analysis.request_cost import ADDRESS, PERIOD, UNIT, new_scratch, rules_of
from ...model.trace import WARP, Buffer
from ..state import SITE_BITS
from .block_counters import add_requests, new_work, no_sums, warp_requests
from .request_cost import cached, cost_of

TILE = 64  # requests compared at once: their rows are read in the order in which they lie
DONE, UNKNOWN, UNSORTED = range(3)
_LOW = (1 << SITE_BITS) - 1


class StreamingCounters:
    """The counters of a launch so far.

    learn(key) puts what a new key means into the tables; sort_out(rows) counts a warp's phase the long way.
    """

    def __init__(
        self, threads: int, learn: Callable[[int], None], sort_out: Callable[[NDArray[Any]], None]
    ) -> None:
        self.threads, self._learn, self._sort_out = threads, learn, sort_out
        self._buffers: list[Buffer] = []
        self._sums = no_sums(0)
        self._work, self._scratch = new_work(), new_scratch()
        self._shapes = _no_shapes(0)

    def add(
        self, rows: NDArray[Any], buffers: list[Buffer], tables: tuple[NDArray[Any], ...], sites: int
    ) -> None:
        """Count rows, which are whole warps' phases sorted by context.

        tables: buffer by key, site of the trace by site of the program (of which there are so many), Op by that.
        """
        said = np.zeros(2, np.int64)
        self._buffers = buffers
        if len(self._shapes[0]) < sites:
            self._shapes = _no_shapes(sites)
        while len(rows):
            self._sums = np.concatenate((self._sums, no_sums(len(buffers) - len(self._sums))))
            done = count_rows(
                rows["key"], rows["context"], rows["index"], self.threads, *tables, rules_of(buffers), sites,
                self._work, self._scratch, self._shapes, self._sums, said,
            )  # fmt: skip
            hindered, end = said.tolist()
            if hindered == UNKNOWN:
                self._learn(int(rows["key"][end - 1]))
            elif hindered == UNSORTED:
                self._sort_out(rows[done:end])
            rows = rows[end if hindered == UNSORTED else done :]

    def totals(self) -> dict[str, int]:
        """Return the counters by name."""
        return totals_of_sums(self._buffers, self._sums)


def _no_shapes(sites: int) -> tuple[NDArray[np.int64], ...]:
    """Return room for the shape that requests of each site had last: how far the lanes are from the first one.

    Most requests of a site differ in where they lie alone, and then cost the same again after PERIOD bytes. By site:
    its key, a bit for each lane (0: none yet), and 1 more than the row where the tile began that it is from; then (by
    lane, site) the indices between that lane and the first, and the cost (-1: unknown) by where the first lane's
    element lies. Beside it what a tile works with: what differs, indices of the first lane, addresses of a request.
    """
    seen, shape = np.zeros((sites, 3), np.int64), np.zeros((WARP, sites), np.int64)
    costs = np.full((sites, PERIOD), -1, np.int64)
    return seen, shape, costs, np.empty(TILE, np.int64), np.empty(TILE, np.int64), np.empty(WARP, np.int64)


def _incomplete_from(contexts: Any, complete: Any) -> Any:
    """Return how many rows there are up to the last one of a context before `complete`."""
    row = len(contexts)
    while row > 0 and contexts[row - 1] >= complete:
        row -= 1
    return row


incomplete_from = cached(_incomplete_from)


def _lanes(contexts: Any, begin: Any, first: Any, last: Any, starts: Any) -> None:
    """Fill starts: where the rows of each lane begin, of a warp whose lanes have the contexts from first up to last."""
    row, length = begin, 0
    for lane in range(WARP):
        starts[lane] = row
        context, end = first + lane, row + length
        if context >= last or row >= len(contexts) or contexts[row] != context:
            continue
        alike = end <= len(contexts) and contexts[end - 1] == context
        if not (length and alike and (end == len(contexts) or contexts[end] != context)):
            end = row
            while end < len(contexts) and contexts[end] == context:
                end += 1
            length = end - row
        row = end
    starts[WARP] = row


lanes = cached(_lanes)


def _uniform(
    keys: Any, indices: Any, starts: Any, buffers: Any, sites: Any, ops: Any, rules: Any, scratch: Any, shapes: Any,
    sums: Any,
) -> Any:  # fmt: skip
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
    seen, shape, kept_costs, which, first, low = shapes
    for tile in range(0, count, TILE):
        size, begin = min(TILE, count - tile), starts[lead] + tile
        if not alike(keys, indices, starts, tile, size, lead, lanes, shapes):
            return 0
        for k in range(size):
            key = np.int64(keys[begin + k])
            buffer = np.int64(buffers[key >> SITE_BITS])
            if buffer < 0 or sites[key & _LOW] < 0:
                return -1 - begin - k
            site, op, unit = key & _LOW, ops[key & _LOW], rules[buffer, UNIT]
            address = rules[buffer, ADDRESS] + first[k] * unit
            if which[k] != 0 or seen[site, 2] == begin + 1:
                seen[site, 2] = begin + 1
                learn_shape(keys, indices, starts, tile + k, lead, lanes, shapes)
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


def _alike(
    keys: Any, indices: Any, starts: Any, tile: Any, size: Any, lead: Any, lanes: Any, shapes: Any
) -> Any:  # fmt: skip
    """Return whether all lanes of a warp did what the first one did, in so many accesses from `tile` on.

    Fills `which`: 0 for requests of the shape that their site had last before this tile.
    """
    seen, shape, _, which, first, _ = shapes
    begin = starts[lead] + tile
    leading, place = keys[begin : begin + size], np.empty(size, np.int64)
    for k in range(size):
        place[k] = np.int64(leading[k]) & _LOW
        first[k] = indices[begin + k]
        which[k] = (seen[place[k], 0] ^ np.int64(leading[k])) | (seen[place[k], 1] ^ lanes)
    for lane in range(lead + 1, WARP):
        if not lanes >> lane & 1:
            continue
        mine, there = keys[starts[lane] + tile :], indices[starts[lane] + tile :]
        apart, behind = np.uint32(0), shape[lane]
        for k in range(size):
            apart |= mine[k] ^ leading[k]
            which[k] |= (there[k] - first[k]) ^ behind[place[k]]
        if apart != 0:
            return False
    return True


def _learn_shape(
    keys: Any, indices: Any, starts: Any, k: Any, lead: Any, lanes: Any, shapes: Any
) -> None:  # fmt: skip
    """Take the shape of a request, the k-th of its warp, for that of its site, of which no cost is known yet."""
    seen, shape, kept_costs, _, _, _ = shapes
    key = np.int64(keys[starts[lead] + k])
    site = key & _LOW
    seen[site, 0], seen[site, 1] = key, lanes
    kept_costs[site] = -1
    for lane in range(lead, WARP):
        if lanes >> lane & 1:
            shape[lane, site] = indices[starts[lane] + k] - indices[starts[lead] + k]


alike, learn_shape = cached(_alike), cached(_learn_shape)
uniform = cached(_uniform)


def _diverged(
    keys: Any, indices: Any, starts: Any, buffers: Any, sites: Any, ops: Any, rules: Any, count: Any, work: Any,
    scratch: Any, sums: Any,
) -> Any:  # fmt: skip
    """Add the requests of a warp whose lanes did different things; return 1, or 0 where they need sorting out.

    Returns -1 - row for a row with an unknown key.
    """
    begin, size = starts[0], starts[WARP] - starts[0]
    op, buffer, site = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    for k in range(size):
        key = np.int64(keys[begin + k])
        op[k], site[k], buffer[k] = ops[key & _LOW], sites[key & _LOW], buffers[key >> SITE_BITS]
        if site[k] < 0 or buffer[k] < 0:
            return -1 - begin - k
    index = np.empty(size, np.int64)
    for k in range(size):
        index[k] = indices[begin + k]
    used = warp_requests(np.arange(size), starts - begin, op, buffer, site, index, rules, count, work)
    if used < 0:
        return 0
    add_requests(used, work, rules, scratch, sums)
    return 1


diverged = cached(_diverged)


def _count_rows(
    keys: Any, contexts: Any, indices: Any, threads: Any, buffers: Any, sites: Any, ops: Any, rules: Any, count: Any,
    work: Any, scratch: Any, shapes: Any, sums: Any, said: Any,
) -> Any:  # fmt: skip
    """Count rows until something hinders; return the first one that is not counted.

    said gets what hinders and one past where: nothing (DONE), the row there has a key that is not in the tables
    (UNKNOWN), or the requests from the first row on need sorting out (UNSORTED).
    """
    begin, starts, before = np.int64(0), np.empty(WARP + 1, np.int64), np.empty_like(sums)
    said[0], said[1] = DONE, len(keys)
    while begin < len(keys):
        context = np.int64(contexts[begin])
        sweep = context // threads * threads
        first = sweep + ((context - sweep) >> 5 << 5)
        lanes(contexts, begin, first, sweep + threads, starts)
        before[:] = sums
        done = uniform(keys, indices, starts, buffers, sites, ops, rules, scratch, shapes, sums)
        if done == 0:
            sums[:] = before
            done = diverged(keys, indices, starts, buffers, sites, ops, rules, count, work, scratch, sums)
        if done < 0:
            sums[:] = before
            said[0], said[1] = UNKNOWN, -done
            break
        if done == 0:
            said[0], said[1] = UNSORTED, starts[WARP]
            break
        begin = starts[WARP]
    return begin


count_rows = cached(_count_rows)
