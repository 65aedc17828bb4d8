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
from ...analysis.request_cost import ADDRESS, UNIT, new_scratch, rules_of
from ...model.trace import WARP, Buffer
from ..state import SITE_BITS
from .block_counters import add_requests, new_work, no_sums, warp_requests
from .request_cost import add_request, cached

TILE = 64  # requests put together at once: their rows are read in the order in which they lie
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
        self._low = np.empty((TILE, WARP), np.int64)

    def add(
        self, rows: NDArray[Any], buffers: list[Buffer], tables: tuple[NDArray[Any], ...], sites: int
    ) -> None:
        """Count rows, which are whole warps' phases sorted by context.

        tables: buffer by key, site of the trace by site of the program (of which there are so many), Op by that.
        """
        said = np.zeros(2, np.int64)
        self._buffers = buffers
        while len(rows):
            self._sums = np.concatenate((self._sums, no_sums(len(buffers) - len(self._sums))))
            done = count_rows(
                rows["key"], rows["context"], rows["index"], self.threads, *tables, rules_of(buffers), sites,
                self._work, self._scratch, self._low, self._sums, said,
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
    keys: Any, indices: Any, starts: Any, buffers: Any, sites: Any, ops: Any, rules: Any, scratch: Any, low: Any,
    sums: Any,
) -> Any:  # fmt: skip
    """Add the requests of a warp whose lanes did the same, or made no access; return whether that was so.

    Returns -1 - row for a row with an unknown key. Sums are changed also where a later access turns out to differ.
    """
    lead = 0
    while starts[lead + 1] == starts[lead]:
        lead += 1
    count = starts[lead + 1] - starts[lead]
    for lane in range(WARP):
        if starts[lane + 1] != starts[lane] and starts[lane + 1] - starts[lane] != count:
            return 0
    for tile in range(0, count, TILE):
        size, active = min(TILE, count - tile), 0
        for lane in range(lead, WARP):
            begin = starts[lane] + tile
            if starts[lane + 1] == starts[lane]:
                continue
            for k in range(size):
                if keys[begin + k] != keys[starts[lead] + tile + k]:
                    return 0
                low[k, active] = indices[begin + k]
            active += 1
        for k in range(size):
            row = starts[lead] + tile + k
            key = np.int64(keys[row])
            buffer = np.int64(buffers[key >> SITE_BITS])
            if buffer < 0 or sites[key & _LOW] < 0:
                return -1 - row
            address, unit = rules[buffer, ADDRESS], rules[buffer, UNIT]
            for lane in range(active):
                low[k, lane] = address + low[k, lane] * unit
            add_request(low[k], active, ops[key & _LOW], buffer, rules, scratch, sums)
    return 1


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
    work: Any, scratch: Any, low: Any, sums: Any, said: Any,
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
        done = uniform(keys, indices, starts, buffers, sites, ops, rules, scratch, low, sums)
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
