"""Counters of complete blocks from their columns: compiled, with the results of tracer.counters and tracer.requests.

If lanes diverge so that the order of a warp's requests must be sorted out, nothing is counted. The caller then counts
the slow way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...analysis.counters import totals_of_sums
from ...analysis.request_cost import ADDRESS, UNIT, new_scratch, rules_of
from ...model.array_types import Columns
from ...model.grouping import group_starts
from ...model.trace import WARP, Buffer, Op
from ..state import IntArray
from .request_cost import add_request, compile_cached_with_rules

SLOTS = 1 << 15  # requests of a warp in a phase; with more, the caller counts the slow way
TABLE = 1 << 20
CHUNK = 1 << 17  # rows


def count_block_rows(
    columns: Columns, buffers: list[Buffer], sites: int, threads: int
) -> dict[str, int] | None:
    """Count the rows of complete blocks, in the order of their steps; None if their order must be sorted out."""
    if sites * len(buffers) * len(Op) > TABLE:
        return None
    rules, work, scratch = rules_of(buffers), new_work(), new_scratch()
    sums = no_sums(len(buffers))
    names = ("block", "phase", "thread", "op", "buffer", "site", "index")
    lanes = -(-threads // WARP) * WARP
    for begin, end in _chunks(columns["block"]):
        int64_columns = [columns[name][begin:end].astype(np.int64) for name in names]
        if not count_all(*int64_columns, rules, sites, lanes, work, scratch, sums):
            return None
    return totals_of_sums(buffers, sums)


def no_sums(buffers: int) -> NDArray[np.int64]:
    """Return sums of zero for a number of buffers; see `counters.totals_of_sums`."""
    return np.zeros((buffers, len(Op), 3), np.int64)


def _chunks(block: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield (first row, end) of groups of complete blocks, small enough to stay in a processor's cache."""
    starts = group_starts(block)
    begin = 0
    for end in [*starts[1:].tolist(), len(block)]:
        if end - begin >= CHUNK or end == len(block):
            yield begin, end
            begin = end


def new_work() -> tuple[NDArray[np.int64], ...]:
    """Allocate the work arrays for the requests of a warp in a phase; see `_warp_requests`."""
    return *(np.empty(SLOTS, np.int64) for _ in range(6)), np.empty((SLOTS, WARP), np.int64)


def _warp_requests(
    rows: IntArray,
    starts: IntArray,
    op: IntArray,
    buffer: IntArray,
    site: IntArray,
    index: IntArray,
    rules: IntArray,
    sites: int,
    work: tuple[IntArray, ...],
) -> int:
    """Put a warp's accesses in a phase, rows[starts[lane]:starts[lane + 1]] of each lane, into requests.

    work: per request its latest position, first lane, first position, size, variant, lanes (a bit each), and the
    accesses' bytes by lane.
    Returns the number of slots used, or -1 if the order of a lane's requests contradicts their own.
    """
    latest, first_lane, first_position, size, variant_of, lanes_of, address = work
    buffers = len(rules)
    visits, max_visits = np.zeros(sites, np.int64), np.zeros(sites, np.int64)
    for lane in range(WARP):
        visits[:] = 0
        for k in range(starts[lane], starts[lane + 1]):
            visits[site[rows[k]]] += 1
        max_visits = np.maximum(max_visits, visits)
    base = np.full(sites * buffers * 4, -1, np.int64)
    used = 0
    slots = np.empty(starts[WARP] - starts[0], np.int64)
    for lane in range(WARP):
        visits[:] = 0
        for k in range(starts[lane], starts[lane + 1]):
            row = rows[k]
            variant = (site[row] * buffers + buffer[row]) * 4 + op[row]
            if base[variant] < 0:
                if used + max_visits[site[row]] > SLOTS:
                    return -1
                base[variant] = used
                size[used : used + max_visits[site[row]]] = 0
                variant_of[used : used + max_visits[site[row]]] = variant
                used += max_visits[site[row]]
            slot = base[variant] + visits[site[row]]
            visits[site[row]] += 1
            position = k - starts[lane]
            if size[slot] == 0:
                latest[slot], first_lane[slot], first_position[slot], lanes_of[slot] = (
                    position,
                    lane,
                    position,
                    0,
                )
            latest[slot] = max(latest[slot], position)
            address[slot, size[slot]] = rules[buffer[row], ADDRESS] + index[row] * rules[buffer[row], UNIT]
            size[slot] += 1
            lanes_of[slot] |= 1 << lane
            slots[k - starts[0]] = slot
    for lane in range(WARP):
        for k in range(starts[lane] + 1, starts[lane + 1]):
            a, b = slots[k - 1 - starts[0]], slots[k - starts[0]]
            if latest[a] > latest[b]:
                return -1
            if latest[a] == latest[b] and (first_lane[a], first_position[a]) >= (
                first_lane[b],
                first_position[b],
            ):
                return -1
    return used


warp_requests = compile_cached_with_rules(_warp_requests)


def _count_all(
    block: IntArray,
    phase: IntArray,
    thread: IntArray,
    op: int,
    buffer: int,
    site: int,
    index: int,
    rules: IntArray,
    sites: int,
    threads: int,
    work: tuple[IntArray, ...],
    scratch: IntArray,
    sums: IntArray,
) -> bool:
    """Add the requests of these rows to sums; return False if that is impossible."""
    begin = 0
    while begin < len(block):
        end = begin
        counts = np.zeros(threads + 1, np.int64)
        while end < len(block) and block[end] == block[begin] and phase[end] == phase[begin]:
            counts[thread[end] + 1] += 1
            end += 1
        starts = np.cumsum(counts)
        rows, next_row = np.empty(end - begin, np.int64), starts.copy()
        for row in range(begin, end):
            rows[next_row[thread[row]]] = row
            next_row[thread[row]] += 1
        for warp in range(0, threads, WARP):
            if starts[warp] == starts[warp + WARP]:
                continue
            used = warp_requests(
                rows, starts[warp : warp + WARP + 1], op, buffer, site, index, rules, sites, work
            )
            if used < 0:
                return False
            add_requests(used, work, rules, scratch, sums)
        begin = end
    return True


def _add_requests(
    used: int, work: tuple[IntArray, ...], rules: IntArray, scratch: IntArray, sums: IntArray
) -> None:
    """Add the requests of a warp, as `_warp_requests` left them in `work`, to sums."""
    size, variant, lanes, address = work[3], work[4], work[5], work[6]
    for slot in range(used):
        if size[slot] > 0:
            op, number = variant[slot] % 4, variant[slot] // 4 % len(rules)
            add_request(address[slot], size[slot], lanes[slot], op, number, rules, scratch, sums)


add_requests = compile_cached_with_rules(_add_requests)
count_all = compile_cached_with_rules(_count_all)
