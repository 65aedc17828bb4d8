"""Fast path of `request_order`: threads ran one after the other, and the lanes of a warp did not diverge.

The accesses of such a warp in a phase are a matrix with a row for each lane; its columns are the requests. Diverged
warps, as at the edge of an array, are left to `request_order`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ..model.array_types import AnyInts, Ints, Mask, index_dtype
from ..model.grouping import group_starts, offsets
from ..model.trace import STEPPED, WARP, Trace
from .request_cost import ADDRESS, PERIOD, RULE, UNIT, WAVEFRONTS_BY_LANE, costs_of, rules_of

PART = 1 << 17  # accesses processed at once: few enough to stay in a processor's cache
QUEUES = 1 << 14  # of threads in a phase that are processed at once, for the same reason
WORDS = (np.uint64, np.uint32, np.uint16, np.uint8)
SPARSE = 8  # range of keys, per key, from which on sorting takes less memory than a table
Shape = tuple[int, int, int]  # matrices, lanes of each, accesses of each lane


class AccessMatrices(Struct, frozen=True, eq=False):
    """The warps' phases, one entry each, sorted by (block, warp, phase): columns of shape (matrices,)."""

    block_position: Ints  # of the block in trace.blocks
    warp: Ints  # number in the block
    phase: Ints  # barriers that its threads had passed
    begin: Ints  # first row of the trace
    lanes: Ints  # those that made accesses
    length: Ints  # accesses of each of these lanes

    def some(self, chosen: Ints) -> AccessMatrices:
        """Select matrices, in this order."""
        return AccessMatrices(*(getattr(self, name)[chosen] for name in self.__struct_fields__))

    def costs(self, trace: Trace) -> tuple[NDArray[np.int32], Ints, Ints]:
        """Return the index of each request's cost in an array of sectors and one of wavefronts.

        A request costs as much as the one of the matrix before if its lanes have the same distances to each other, and
        it is shifted by a multiple of PERIOD bytes.
        """
        start, rules, table = offsets(self.length), rules_of(trace.buffers), _CostTable(trace)
        cost_index = np.empty(start[-1], np.int32)
        for number, shape in _by_size(self):
            begin = self.begin[number]
            alike, first = _group_by_cost(trace, begin, shape, rules)
            cost_index[start[number][:, None] + np.arange(shape[2])] = alike + table.size
            matrix, column = np.divmod(first, shape[2])
            table.add((begin[matrix] + column)[:, None] + np.arange(shape[1]) * shape[2])
        return cost_index, *table.costs()


class _CostTable:
    """The costs of requests, computed for many of them at once."""

    def __init__(self, trace: Trace) -> None:
        self._trace, self.size = trace, 0
        self._waiting: list[Ints] = []
        self._costs: list[tuple[Ints, Ints]] = []

    def add(self, rows: Ints) -> None:
        """Add requests, by the rows of the trace that their accesses are: shape (requests, lanes)."""
        self.size += len(rows)
        self._waiting.append(rows)
        if sum(batch.size for batch in self._waiting) > PART:
            self._compute()

    def costs(self) -> tuple[Ints, Ints]:
        """Return (sectors, wavefronts) of all added requests."""
        self._compute()
        sectors, wavefronts = (np.concatenate(costs) for costs in zip(*self._costs, strict=True))
        return sectors, wavefronts

    def _compute(self) -> None:
        lanes = [np.full(len(batch), batch.shape[1]) for batch in self._waiting]
        if lanes:
            rows = np.concatenate([batch.ravel() for batch in self._waiting])
            self._costs.append(costs_of(self._trace, rows, offsets(np.concatenate(lanes))))
            self._waiting = []


def access_matrices(trace: Trace) -> tuple[AccessMatrices, Ints] | None:
    """Return the matrices of a trace that has accesses, and the rows of all other accesses, ascending.

    None if threads did not run one after the other, or all warps diverged.
    """
    grouped = None if trace.schedule.startswith(STEPPED) else _groups(trace)
    if grouped is None:
        return None
    groups, is_even = grouped
    regular = np.flatnonzero(is_even)
    if len(regular):
        regular = regular[_lanes_agree(trace, groups.some(regular))]
    if not len(regular):
        return None
    matrices = groups.some(regular)
    in_order = np.lexsort((matrices.phase, matrices.warp, matrices.block_position))
    return matrices.some(in_order), _rows_of_others(groups.begin, len(trace), regular)


def _rows_of_others(begin: Ints, count: int, regular: Ints) -> Ints:
    """List the rows, of `count`, of the groups that begin at these rows and are not regular."""
    other = np.ones(len(begin), bool)
    other[regular] = False
    size = np.diff(begin, append=count)[other]
    before = offsets(size)
    return np.arange(before[-1]) + np.repeat(begin[other] - before[:-1], size)


def _groups(trace: Trace) -> tuple[AccessMatrices, Mask] | None:
    """Return each warp's phases, by their first row, and whether all of a warp's lanes have equally many rows.

    `length` is that of the first lane. None if threads did not run one after the other.
    """
    starts, phases = _queues(trace), int(trace.phase.max()) + 1
    heads, uneven = [], []
    for low in range(0, len(starts) - 1, QUEUES):
        part = _groups_from(trace, starts, low, phases)
        if part is None:
            return None
        heads.append(part[0])
        uneven.append(part[1])
    head = np.concatenate(heads)
    begin, end = (starts[queue].astype(np.int64) for queue in (head, head + 1))
    block, thread, phase = (
        column[begin].astype(np.int64) for column in (trace.block, trace.thread, trace.phase)
    )
    is_even = np.ones(len(head), bool)
    is_even[np.searchsorted(head, np.concatenate(uneven), side="right") - 1] = False
    lanes = np.diff(head, append=len(starts) - 1)
    columns = trace.block_positions(block), thread // WARP, phase
    return AccessMatrices(*columns, begin, lanes, end - begin), is_even


def _groups_from(trace: Trace, starts: AnyInts, low: int, phases: int) -> tuple[Ints, Ints] | None:
    """Find the queues that begin a warp's phase, and the others whose length differs from the previous queue's.

    They are QUEUES from `low` on. starts: of all queues, and the end of the last one. None if they are out of order.
    """
    first = max(0, low - 1)  # compared with the one at `low`
    bounds = starts[first : low + QUEUES + 1]
    block, thread, phase = (
        column[bounds[:-1]].astype(np.int64) for column in (trace.block, trace.thread, trace.phase)
    )
    turn = trace.block_positions(block) * phases + phase
    order = turn * trace.threads + thread
    if not (order[1:] > order[:-1]).all():
        return None
    length, new = np.diff(bounds), np.ones(len(turn), bool)
    new[1:] = (turn[1:] != turn[:-1]) | (thread[1:] // WARP != thread[:-1] // WARP)
    uneven = ~new
    uneven[1:] &= length[1:] != length[:-1]
    return np.flatnonzero(new[low - first :]) + low, np.flatnonzero(uneven[low - first :]) + low


def _queues(trace: Trace) -> AnyInts:
    """Find the rows at which the thread, phase or block changes, and the end of the last queue."""
    dtype = index_dtype(len(trace))
    starts = [np.zeros(1, dtype)]
    for low in range(0, len(trace) - 1, PART):
        part = slice(low, low + PART + 1)
        changes = np.zeros(min(PART, len(trace) - 1 - low), bool)
        for column in (trace.thread[part], trace.phase[part], trace.block[part]):
            changes |= column[1:] != column[:-1]
        starts.append((np.flatnonzero(changes) + (low + 1)).astype(dtype))
    return np.concatenate([*starts, np.full(1, len(trace), dtype)])


def _by_size(matrices: AccessMatrices) -> Iterator[tuple[Ints, Shape]]:
    """Yield matrices of equal size, in the order of the trace, and their shape.

    Together they have at most PART accesses, or are one matrix. There are few sizes, since large matrices are few.
    """
    order = np.lexsort((matrices.begin, matrices.length, matrices.lanes))
    lanes, length = matrices.lanes[order], matrices.length[order]
    starts = group_starts(lanes, length)
    for low, high in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        batch_size = max(1, PART // int(lanes[low] * length[low]))
        for begin in range(low, high, batch_size):
            chosen = order[begin : min(begin + batch_size, high)]
            yield chosen, (len(chosen), int(lanes[low]), int(length[low]))


def _gather(column: NDArray[Any], begin: Ints, shape: Shape) -> NDArray[Any]:
    """Return a column's entries of matrices that begin at these rows, in their shape."""
    size = shape[1] * shape[2]
    from_each_row = as_strided(
        column, (len(column) - size + 1, size), column.strides * 2, subok=False, writeable=False
    )
    entries: NDArray[Any] = from_each_row[begin].reshape(shape)
    return entries


def _in_words(entries: NDArray[Any]) -> NDArray[Any]:
    """View entries as the longest words that fit the last axis, to compare fewer of them."""
    size = entries.shape[-1] * entries.itemsize
    return entries.view(next(word for word in WORDS if size % np.dtype(word).itemsize == 0))


def _lanes_agree(trace: Trace, matrices: AccessMatrices) -> Mask:
    """Test for each matrix that every lane made the same accesses as the first one of its warp."""
    alike = np.ones(len(matrices.begin), bool)
    for number, shape in _by_size(matrices):
        columns = (trace.site, trace.buffer, trace.op, *([] if trace.round is None else [trace.round]))
        for column in columns:
            words = _in_words(_gather(column, matrices.begin[number], shape))
            if not np.array_equal(words[:, 1:], words[:, :-1]):
                alike[number] &= (words[:, 1:] == words[:, :-1]).all(axis=(1, 2))
    return alike


def _group_by_cost(trace: Trace, begin: Ints, shape: Shape, rules: Ints) -> tuple[Ints, Ints]:
    """Group requests, of matrices that begin at these rows, by equal cost, and find the first of each kind.

    Return the kind of each request, shape (matrices, length), and the number of each kind's first request.
    """
    first_lane = (shape[0], 1, shape[2])
    buffer, op = (_gather(column, begin, first_lane)[:, 0] for column in (trace.buffer, trace.op))
    index = _gather(trace.index, begin, shape)
    address = rules[:, ADDRESS][buffer] + index[:, 0] * rules[:, UNIT][buffer]
    new = _has_new_distances(index)
    if shape[1] < WARP and (rules[:, RULE:] == WAVEFRONTS_BY_LANE).any():
        lane = trace.thread[begin[:, None] + np.arange(shape[1]) * shape[2]] % WARP
        new[1:] |= (lane[1:] != lane[:-1]).any(axis=1)[:, None]
    new[1:] |= (buffer[1:] != buffer[:-1]) | (op[1:] != op[:-1])
    kind = np.cumsum(new, axis=0, dtype=np.int64) * shape[2] + np.arange(shape[2])
    key = kind * PERIOD + (address & (PERIOD - 1))
    # One thread that runs much longer than all others makes keys so large that a table would take gigabytes.
    if key.max() > SPARSE * key.size:
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        return number.reshape(key.shape), first
    first = np.full(int(key.max()) + 1, -1)
    first[key.ravel()[::-1]] = np.arange(key.size)[::-1]  # of several assignments the last one stays
    used = np.flatnonzero(first >= 0)
    number = np.empty_like(first)
    number[used] = np.arange(len(used))
    return number[key], first[used]


def _has_new_distances(index: NDArray[Any]) -> Mask:
    """Test for each request whether its lanes have other distances to each other than in the matrix before."""
    # Distance of each lane to the first one. No buffer has 2^31 elements, so 32 bits tell different distances apart.
    distance = np.subtract(index, index[:, :1], dtype=index.dtype if index.itemsize >= 4 else np.int32)
    changes = distance[1:] != distance[:-1]
    new = np.ones((index.shape[0], index.shape[2]), bool)
    new[1:] = False
    changed = np.flatnonzero(_in_words(changes.reshape(len(changes), index[0].size)).any(axis=1))
    new[changed + 1] = changes[changed].any(axis=1)
    return new
