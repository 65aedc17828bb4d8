"""Which accesses add to the elements of an array, which lanes contend there, and which additions are lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from ..model.array_types import Ints, Mask
from ..model.grouping import group_starts, positions_in_group, stable_order
from ..model.trace import WARP, Buffer, Op, Trace
from .requests import Requests


class ContentionRecords(NamedTuple):
    """Times at which more lanes of one request than ever before added to one cell: moment (ascending), cell, lanes."""

    moment: Ints
    cell: Ints
    lanes: Ints

    def most_lanes(self, moment: int, low: int, high: int) -> Ints:
        """Return the most lanes that contended by this moment for each cell from `low` up to `high`."""
        done = int(np.searchsorted(self.moment, moment, side="right"))
        mine = np.flatnonzero((self.cell[:done] >= low) & (self.cell[:done] < high))
        found = np.zeros(high - low, np.int64)
        found[self.cell[mine] - low] = self.lanes[mine]
        return found


class Additions(Struct, frozen=True, eq=False):
    """The additions to one buffer: its atomics, and stores of a thread to what it had loaded just before.

    Columns of shape (additions,), in the order of (moment, row).
    """

    buffer: int  # its number
    size: int  # elements of one copy of it, at least 1
    row: Ints  # of the trace: the atomic or the store
    load: Ints  # the row of the load that a store rests on, -1 for an atomic
    cell: Ints  # `copy * size + index`; a shared buffer has a copy in each block, a global one copy 0 alone
    sample: Ints  # the row of the last load of another buffer that the thread made before, -1 for none
    request: Ints  # number in `Requests`
    moment: Ints  # as in `Requests`
    contending: Ints  # lanes of the request that add to the same cell, 1 to 32
    survives: (
        Mask  # whether the element's last value contains it; what a store overwrote after its load is lost
    )
    contention: ContentionRecords  # of each cell
    _change: tuple[Ints, Ints]  # moments, and how many additions are in the values from each of them on

    def __len__(self) -> int:
        return len(self.row)

    def upto(self, moment: int) -> int:
        """Return how many additions were made by this moment."""
        return int(np.searchsorted(self.moment, moment, side="right"))

    def at(self, moment: int) -> slice:
        """Return the additions of this moment."""
        return slice(self.upto(moment - 1), self.upto(moment))

    def kept(self, moment: int) -> int:
        """Return how many of the additions made by this moment are in the values that memory then holds."""
        moments, kept = self._change
        return int(kept[np.searchsorted(moments, moment, side="right")])

    def lost(self, moment: int) -> int:
        """Return how many of the additions made by this moment were overwritten."""
        return self.upto(moment) - self.kept(moment)


def additions_of(trace: Trace, requests: Requests, buffer: int) -> Additions:
    """Return the additions to a buffer, a pure function of the trace."""
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
    newest, kept = _kept(rows[order], cell[order], depth[order])
    survives = _reached(order[newest], before)
    chosen = order[adds[order]]
    request = requests.request[rows[chosen]].astype(np.int64)
    contending, contention = _contention(request, cell[chosen], moment[chosen])
    return Additions(
        buffer, size, rows[chosen], load[chosen], cell[chosen], _samples(trace, rows[chosen], buffer),
        request, moment[chosen], contending, survives[chosen], contention, (moment[order], kept),
    )  # fmt: skip


def _copies(trace: Trace, rows: Ints, buffer: int) -> Ints:
    """Return the copy of the buffer that each access is to."""
    space = trace.buffers[buffer].space
    if space == "local":
        return trace.thread_in_grid(rows)
    return trace.block[rows].astype(np.int64) if space == "shared" else np.zeros(len(rows), np.int64)


def _loads_before(trace: Trace, rows: Ints, cell: Ints) -> Ints:
    """Return for each store the load of the same cell that its thread made just before it, else -1."""
    thread = trace.thread_in_grid(rows)
    order = stable_order(cell)
    order = order[stable_order(thread[order])]
    same = (np.diff(thread[order]) == 0) & (np.diff(cell[order]) == 0)
    op = trace.op[rows[order]]
    same &= (op[1:] == Op.STORE) & (op[:-1] == Op.LOAD)
    found = np.full(len(rows), -1)
    found[order[1:][same]] = rows[order[:-1][same]]
    return found


def _depths(rows: Ints, cell: Ints, known: Ints, adds: Mask) -> tuple[Ints, Ints]:
    """Return how many additions are in the value that each write leaves, and the write that it rests on.

    rows ascend; known: up to which row each write knew its cell. A write that is no addition rests on nothing,
    which is number len(rows). Chains are followed by doubling (list ranking: Wyllie, "The complexity of
    parallel computations", 1979).
    """
    none, span = len(rows), int(rows.max(initial=0)) + 1
    order = stable_order(cell)
    place = np.searchsorted(cell[order] * span + rows[order], cell * span + known) - 1
    before = np.append(order[place], none)
    before[:-1][(place < 0) | (cell[before[:-1] % max(none, 1)] != cell) | ~adds] = none
    depth, jump = np.append(adds.astype(np.int64), 0), before
    while (jump < none).any():
        depth = depth + depth[jump]
        jump = jump[jump]
    return depth[:-1], before


def _reached(ends: Ints, before: Ints) -> Mask:
    """Return which writes the values of these ends rest on, themselves among them."""
    reached, jump = np.zeros(len(before), bool), before
    reached[ends] = True
    while (jump < len(before) - 1).any():
        reached[jump[reached]] = True
        jump = jump[jump]
    return reached


def _kept(rows: Ints, cell: Ints, depth: Ints) -> tuple[Ints, Ints]:
    """Return the write that each cell ends with, and how many additions are in all values after each write.

    The writes come in the order of their moments; of those to a cell the one of the largest row is its value.
    """
    order = stable_order(cell)
    span = int(rows.max(initial=0)) + 1
    newest = np.maximum.accumulate(cell[order] * span + rows[order]) % span
    place = np.zeros(span, np.int64)
    place[rows] = np.arange(len(rows))
    value = depth[place[newest]]
    starts = group_starts(cell[order])
    change = np.diff(value, prepend=0)
    change[starts] = value[starts]
    added = np.empty_like(change)
    added[order] = change
    ends = place[newest[np.append(starts[1:], len(order)) - 1]] if len(order) else order
    return ends, np.concatenate(([0], np.cumsum(added)))


def _contention(request: Ints, cell: Ints, moment: Ints) -> tuple[Ints, ContentionRecords]:
    """Return for each addition how many lanes of its request add to its cell, and the records of each cell."""
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
    """Return the last load of another buffer that the thread of each addition made before, -1 for none."""
    loads = np.flatnonzero((trace.op == Op.LOAD) & (trace.buffer != buffer))
    rows = np.concatenate([loads, added])
    rows = rows[np.argsort(rows, kind="stable")]
    rows = rows[stable_order(trace.thread_in_grid(rows))]
    thread = trace.thread_in_grid(rows)
    is_load = (trace.op[rows] == Op.LOAD) & (trace.buffer[rows] != buffer)
    last = np.maximum.accumulate(np.where(is_load, np.arange(len(rows)), -1))
    last[thread[last] != thread] = -1
    found = np.full(len(trace) + 1, -1)
    found[rows] = np.where(last >= 0, rows[last], -1)
    return found[added]


def histogram_buffer(trace: Trace, roles: Mapping[str, str]) -> int | None:
    """Return the buffer that a launch counts into, None for a launch that does something else.

    It is a row of whole numbers in global memory to whose elements several threads add: the result, where
    roles name one.
    """
    results = {name for name, role in roles.items() if role == "result"}
    for number, buffer in enumerate(trace.buffers):
        if buffer.space == "global" and _may_count(buffer) and buffer.name in (results or {buffer.name}):
            rows = np.flatnonzero(trace.buffer == number)
            if _is_counted(trace, rows):
                return number
    return None


def private_histogram_buffer(trace: Trace, buffer: int) -> int | None:
    """Return the shared buffer in which blocks count before they add to this one, None where there is none."""
    shape = trace.buffers[buffer].shape
    for number, other in enumerate(trace.buffers):
        if other.space == "shared" and _may_count(other) and other.shape == shape:
            rows = np.flatnonzero(trace.buffer == number)
            if _is_counted(trace, rows):
                return number
    return None


def _may_count(buffer: Buffer) -> bool:
    plain = buffer.strides == (buffer.itemsize,) and buffer.unit == buffer.itemsize
    return len(buffer.shape) == 1 and np.dtype(buffer.dtype).kind in "iu" and plain


def _is_counted(trace: Trace, rows: Ints) -> bool:
    """Return whether most writes add to what was there, and several threads add to one element."""
    cell = trace.index[rows].astype(np.int64)
    op = trace.op[rows]
    adds = (op >= Op.ATOMIC) | (_loads_before(trace, rows, cell) >= 0)
    if 2 * adds.sum() < (op != Op.LOAD).sum() or not adds.any():
        return False
    order = stable_order(cell[adds])
    cells, threads = cell[adds][order], trace.thread_in_grid(rows[adds])[order]
    first = threads[np.arange(len(cells)) - positions_in_group(group_starts(cells), len(cells))]
    return bool((threads != first).any())
