"""Additions to the elements of an array: the accesses that add, the lanes that contend, the lost additions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from ..dataflow.load_destinations import LoadDestinations
from ..dataflow.source_flow import flow_of
from ..model.array_types import Ints, Mask
from ..model.grouping import group_starts, positions_in_group, stable_order
from ..model.trace import WARP, Buffer, Op, Trace
from .requests import Requests

# Atomics that do not add, in Python, CUDA C++ and libcu++.
NOT_ADDING = re.compile(
    r"(atomic[._]?|fetch_|compare_)(nan)?(max|min|exch|cas|and|or|xor|compare)|\.exchange\(", re.IGNORECASE
)


class ContentionRecords(NamedTuple):
    """Record numbers of lanes of one request that added to one cell: moment (ascending), cell, lanes."""

    moment: Ints
    cell: Ints
    lanes: Ints

    def most_lanes(self, moment: int, low: int, high: int) -> Ints:
        """Return the most lanes that contended by this moment for each cell from `low` up to `high`."""
        count = int(np.searchsorted(self.moment, moment, side="right"))
        chosen = np.flatnonzero((self.cell[:count] >= low) & (self.cell[:count] < high))
        most = np.zeros(high - low, np.int64)
        most[self.cell[chosen] - low] = self.lanes[chosen]
        return most


class Additions(Struct, frozen=True, eq=False):
    """The additions to one buffer: its atomics, and stores of a thread to the element that it had just loaded.

    Columns of shape (additions,), in the order of (moment, row).
    """

    buffer: int  # its number
    size: int  # elements of one copy of it, at least 1
    row: Ints  # of the trace: the atomic or the store
    load: Ints  # the row of the load that a store depends on, -1 for an atomic
    cell: Ints  # `copy * size + index`; a shared buffer has a copy in each block, a global one only copy 0
    sample: Ints  # the row of the thread's last earlier load of another buffer, -1 for none
    request: Ints  # number in `Requests`
    moment: Ints  # as in `Requests`
    contending: Ints  # lanes of the request that add to the same cell, 1 to 32
    survives: Mask  # True if the element's last value contains it; a store after the same load overwrites it
    contention: ContentionRecords  # of each cell
    _change: tuple[Ints, Ints]  # moments, and the number of additions in the values from each moment on

    def __len__(self) -> int:
        return len(self.row)

    def upto(self, moment: int) -> int:
        """Count the additions made by this moment."""
        return int(np.searchsorted(self.moment, moment, side="right"))

    def during(self, moment: int) -> slice:
        """Return the additions of this moment."""
        return slice(self.upto(moment - 1), self.upto(moment))

    def kept(self, moment: int) -> int:
        """Count the additions made by this moment that are in the values that memory then holds."""
        moments, kept = self._change
        return int(kept[np.searchsorted(moments, moment, side="right")])

    def lost(self, moment: int) -> int:
        """Count the additions made by this moment that were overwritten."""
        return self.upto(moment) - self.kept(moment)


def additions_of(trace: Trace, requests: Requests, buffer: int) -> Additions:
    """Find the additions to a buffer; a pure function of the trace."""
    rows = np.flatnonzero(trace.buffer == buffer)
    size = max(1, trace.buffers[buffer].size)
    cell = trace.index[rows] + _copies(trace, rows, buffer) * size
    load = _loads_before(trace, rows, cell)
    write = trace.op[rows] != Op.LOAD
    rows, cell, load = rows[write], cell[write], load[write]
    adds = (trace.op[rows] != Op.STORE) | (load >= 0)
    depth, before = _depths(rows, cell, np.where(load >= 0, load, rows), adds)
    moment = requests.moment[requests.request[rows]]
    order = stable_order(moment)
    newest, kept = _values_after_writes(rows[order], cell[order], depth[order])
    survives = _dependencies(order[newest], before)
    chosen = order[adds[order]]
    request = requests.request[rows[chosen]].astype(np.int64)
    contending, contention = _contention(request, cell[chosen], moment[chosen])
    return Additions(
        buffer, size, rows[chosen], load[chosen], cell[chosen], _samples(trace, rows[chosen], buffer),
        request, moment[chosen], contending, survives[chosen], contention, (moment[order], kept),
    )  # fmt: skip


def _copies(trace: Trace, rows: Ints, buffer: int) -> Ints:
    """Number the copy of the buffer that each access is to."""
    space = trace.buffers[buffer].space
    if space == "local":
        return trace.thread_in_grid(rows)
    return trace.block[rows].astype(np.int64) if space == "shared" else np.zeros(len(rows), np.int64)


def _loads_before(trace: Trace, rows: Ints, cell: Ints) -> Ints:
    """Find for each store the load of the same cell that its thread made just before it, else -1."""
    thread = trace.thread_in_grid(rows)
    order = stable_order(cell)
    order = order[stable_order(thread[order])]
    same = (np.diff(thread[order]) == 0) & (np.diff(cell[order]) == 0)
    op = trace.op[rows[order]]
    same &= (op[1:] == Op.STORE) & (op[:-1] == Op.LOAD)
    loads = np.full(len(rows), -1)
    loads[order[1:][same]] = rows[order[:-1][same]]
    return loads


def _depths(rows: Ints, cell: Ints, visible_rows: Ints, adds: Mask) -> tuple[Ints, Ints]:
    """Count the additions in the value that each write leaves, and find the write that it depends on.

    rows ascend; visible_rows: the last row that each write took into account. A write that is no addition depends on
    none, which is number len(rows). Chains are followed by doubling (list ranking: Wyllie, "The complexity of
    parallel computations", 1979).
    """
    none, span = len(rows), int(rows.max(initial=0)) + 1
    order = stable_order(cell)
    position = np.searchsorted(cell[order] * span + rows[order], cell * span + visible_rows) - 1
    before = np.append(order[position], none)
    before[:-1][(position < 0) | (cell[before[:-1] % max(none, 1)] != cell) | ~adds] = none
    depth, jump = np.append(adds.astype(np.int64), 0), before
    while (jump < none).any():
        depth = depth + depth[jump]
        jump = jump[jump]
    return depth[:-1], before


def _dependencies(ends: Ints, before: Ints) -> Mask:
    """Find the writes that the values of these ends depend on, the ends included."""
    reached, jump = np.zeros(len(before), bool), before
    reached[ends] = True
    while (jump < len(before) - 1).any():
        reached[jump[reached]] = True
        jump = jump[jump]
    return reached


def _values_after_writes(rows: Ints, cell: Ints, depth: Ints) -> tuple[Ints, Ints]:
    """Find the last write of each cell, and count the additions in all values after each write.

    The writes come in the order of their moments; a cell's value is that of its write with the largest row.
    """
    order = stable_order(cell)
    span = int(rows.max(initial=0)) + 1
    newest = np.maximum.accumulate(cell[order] * span + rows[order]) % span
    position_of = np.zeros(span, np.int64)
    position_of[rows] = np.arange(len(rows))
    value = depth[position_of[newest]]
    starts = group_starts(cell[order])
    change = np.diff(value, prepend=0)
    change[starts] = value[starts]
    added = np.empty_like(change)
    added[order] = change
    ends = position_of[newest[np.append(starts[1:], len(order)) - 1]] if len(order) else order
    return ends, np.concatenate(([0], np.cumsum(added)))


def _contention(request: Ints, cell: Ints, moment: Ints) -> tuple[Ints, ContentionRecords]:
    """Count for each addition the lanes of its request that add to its cell, and find the records of each cell."""
    order = stable_order(cell)
    order = order[stable_order(request[order])]
    starts = group_starts(request[order], cell[order])
    lanes = np.diff(starts, append=len(order))
    contending = np.empty(len(order), np.int64)
    contending[order] = np.repeat(lanes, lanes)
    first = order[starts]
    first, lanes = (column[stable_order(cell[first])] for column in (first, lanes))
    lifted = cell[first] * (WARP + 1) + lanes
    new = np.diff(np.maximum.accumulate(lifted), prepend=-1) > 0
    first, lanes = first[new], lanes[new]
    by_moment = stable_order(moment[first])
    first, lanes = first[by_moment], lanes[by_moment]
    return contending, ContentionRecords(moment[first], cell[first], lanes)


def _samples(trace: Trace, added: Ints, buffer: int) -> Ints:
    """Find the last load of another buffer that the thread of each addition made before, -1 for none."""
    loads = np.flatnonzero((trace.op == Op.LOAD) & (trace.buffer != buffer))
    rows = np.concatenate([loads, added])
    rows = rows[np.argsort(rows, kind="stable")]
    rows = rows[stable_order(trace.thread_in_grid(rows))]
    thread = trace.thread_in_grid(rows)
    is_load = (trace.op[rows] == Op.LOAD) & (trace.buffer[rows] != buffer)
    last = np.maximum.accumulate(np.where(is_load, np.arange(len(rows)), -1))
    last[thread[last] != thread] = -1
    samples = np.full(len(trace) + 1, -1)
    samples[rows] = np.where(last >= 0, rows[last], -1)
    return samples[added]


def histogram_buffer(trace: Trace, roles: Mapping[str, str]) -> int | None:
    """Find the buffer that a launch counts into, None for another kind of launch.

    It is a one-dimensional integer array in global memory to whose elements several threads add: the result, if roles
    name one.
    """
    results = {name for name, role in roles.items() if role == "result"}
    for number, buffer in enumerate(trace.buffers):
        if buffer.space == "global" and _may_count(buffer) and buffer.name in (results or {buffer.name}):
            rows = np.flatnonzero(trace.buffer == number)
            if _is_counted(trace, rows):
                return number
    return None


def private_histogram_buffer(trace: Trace, buffer: int) -> int | None:
    """Find the shared buffer in which blocks count before they add to this one, None if there is none."""
    shape = trace.buffers[buffer].shape
    for number, other in enumerate(trace.buffers):
        if other.space == "shared" and _may_count(other) and other.shape == shape:
            rows = np.flatnonzero(trace.buffer == number)
            if _is_counted(trace, rows):
                return number
    return None


def _may_count(buffer: Buffer) -> bool:
    is_plain = buffer.strides == (buffer.itemsize,) and buffer.unit == buffer.itemsize
    return len(buffer.shape) == 1 and np.dtype(buffer.dtype).kind in "iu" and is_plain


def _is_adding_atomic(trace: Trace, rows: Ints) -> Mask:
    """Return True for the atomics that add, by their names in the source; others replace or compare values."""
    adding: Mask = trace.op[rows] >= Op.ATOMIC
    for number in np.unique(trace.site[rows[adding]]).tolist():
        site = trace.sites[number]
        line = trace.sources.get(site.file, "").splitlines()[site.line - 1 : site.line]
        if line and NOT_ADDING.search(line[0]):
            adding &= trace.site[rows] != number
    return adding


def _stores_a_sum(trace: Trace, rows: Ints, loads: Ints) -> Mask:
    """Return True for the stores of a value that is computed from a load.

    loads: the row of the load for each row, -1 for none. If the source does not show it, all stores must add the same.
    """
    is_sum: Mask = loads >= 0
    chosen = np.flatnonzero(is_sum)
    if flow_of(next(iter(trace.sources.values()), ""), trace.kernel) is not None:
        is_sum[chosen] = LoadDestinations(trace).stores_of(loads[chosen]) == rows[chosen]
    elif len(chosen) and trace.value is not None:
        steps = np.subtract(trace.value[rows[chosen]], trace.value[loads[chosen]])
        is_sum[chosen] = bool(steps[0] != 0 and (steps == steps[0]).all())
    return is_sum


def _is_counted(trace: Trace, rows: Ints) -> bool:
    """Return True if most writes are additions, and several threads add to one element."""
    cell = trace.index[rows].astype(np.int64)
    op = trace.op[rows]
    adds = _is_adding_atomic(trace, rows) | _stores_a_sum(trace, rows, _loads_before(trace, rows, cell))
    if 2 * adds.sum() < (op != Op.LOAD).sum() or not adds.any():
        return False
    order = stable_order(cell[adds])
    cells, threads = cell[adds][order], trace.thread_in_grid(rows[adds])[order]
    first = threads[np.arange(len(cells)) - positions_in_group(group_starts(cells), len(cells))]
    return bool((threads != first).any())
