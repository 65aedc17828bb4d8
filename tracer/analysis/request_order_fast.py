"""The usual case of `request_order`, in a fraction of its time: threads ran one after the other, lanes did alike.

The accesses of such a warp in a phase are a matrix, a row of it for each lane, and its columns are the requests. What
warps do whose lanes part, as at the edge of a matrix, is left to `request_order`.
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

PART = 1 << 17  # accesses handled at once: few enough to stay in a processor's cache
QUEUES = 1 << 14  # of threads in a phase that are handled at once, for the same reason
WORDS = (np.uint64, np.uint32, np.uint16, np.uint8)
Shape = tuple[int, int, int]  # how many matrices, of how many lanes, of how many accesses each


class AccessMatrices(Struct, frozen=True, eq=False):
    """The warps' phases, an entry each, sorted by (block, warp, phase): columns of shape (matrices,)."""

    block_position: Ints  # of the block in trace.blocks
    warp: Ints  # number in the block
    phase: Ints  # barriers that its threads had passed
    begin: Ints  # first row of the trace
    lanes: Ints  # those that made accesses
    length: Ints  # accesses of each of these lanes

    def some(self, some: Ints) -> AccessMatrices:
        """Return some of the matrices, in this order."""
        return AccessMatrices(*(getattr(self, name)[some] for name in self.__struct_fields__))

    def costs(self, trace: Trace) -> tuple[NDArray[np.int32], Ints, Ints]:
        """Return where the costs of each request stand among these sectors and wavefronts.

        One whose lanes lie to each other as in the matrix before costs the same again where it lies as far behind a
        multiple of PERIOD bytes.
        """
        start, rules, table = offsets(self.length), rules_of(trace.buffers), _CostTable(trace)
        place = np.empty(start[-1], np.int32)
        for number, shape in _of_a_size(self):
            begin = self.begin[number]
            alike, first = _costing_alike(trace, begin, shape, rules)
            place[start[number][:, None] + np.arange(shape[2])] = alike + table.size
            matrix, column = np.divmod(first, shape[2])
            table.add((begin[matrix] + column)[:, None] + np.arange(shape[1]) * shape[2])
        return place, *table.costs()


class _CostTable:
    """What some requests cost, which is found out for many of them at once."""

    def __init__(self, trace: Trace) -> None:
        self._trace, self.size = trace, 0
        self._waiting: list[Ints] = []
        self._found: list[tuple[Ints, Ints]] = []

    def add(self, rows: Ints) -> None:
        """Add requests, by the rows of the trace that their accesses are: shape (requests, lanes)."""
        self.size += len(rows)
        self._waiting.append(rows)
        if sum(some.size for some in self._waiting) > PART:
            self._find_out()

    def costs(self) -> tuple[Ints, Ints]:
        """Return (sectors, wavefronts) of all that were added."""
        self._find_out()
        sectors, wavefronts = (np.concatenate(costs) for costs in zip(*self._found, strict=True))
        return sectors, wavefronts

    def _find_out(self) -> None:
        lanes = [np.full(len(some), some.shape[1]) for some in self._waiting]
        if lanes:
            rows = np.concatenate([some.ravel() for some in self._waiting])
            self._found.append(costs_of(self._trace, rows, offsets(np.concatenate(lanes))))
            self._waiting = []


def access_matrices(trace: Trace) -> tuple[AccessMatrices, Ints] | None:
    """Return the matrices of a trace that has accesses, and the rows of all other accesses, ascending.

    None where threads did not run one after the other, or no warp's lanes did alike.
    """
    found = None if trace.schedule.startswith(STEPPED) else _groups(trace)
    if found is None:
        return None
    groups, as_long = found
    regular = np.flatnonzero(as_long)
    if len(regular):
        regular = regular[_alike(trace, groups.some(regular))]
    if not len(regular):
        return None
    made = groups.some(regular)
    in_order = np.lexsort((made.phase, made.warp, made.block_position))
    return made.some(in_order), _others(groups.begin, len(trace), regular)


def _others(begin: Ints, count: int, regular: Ints) -> Ints:
    """Return the rows, of `count`, of the groups that begin at these and are not among the regular ones."""
    other = np.ones(len(begin), bool)
    other[regular] = False
    size = np.diff(begin, append=count)[other]
    before = offsets(size)
    return np.arange(before[-1]) + np.repeat(begin[other] - before[:-1], size)


def _groups(trace: Trace) -> tuple[AccessMatrices, Mask] | None:
    """Return what each warp did in each phase, by its first row, and whether all of its lanes have as many rows.

    `length` is that of the first lane. None where threads did not run one after the other.
    """
    starts, phases = _queues(trace), int(trace.phase.max()) + 1
    heads, uneven = [], []
    for low in range(0, len(starts) - 1, QUEUES):
        found = _groups_from(trace, starts, low, phases)
        if found is None:
            return None
        heads.append(found[0])
        uneven.append(found[1])
    head = np.concatenate(heads)
    begin, end = (starts[some].astype(np.int64) for some in (head, head + 1))
    block, thread, phase = (c[begin].astype(np.int64) for c in (trace.block, trace.thread, trace.phase))
    as_long = np.ones(len(head), bool)
    as_long[np.searchsorted(head, np.concatenate(uneven), side="right") - 1] = False
    lanes = np.diff(head, append=len(starts) - 1)
    where = trace.block_positions(block), thread // WARP, phase
    return AccessMatrices(*where, begin, lanes, end - begin), as_long


def _groups_from(trace: Trace, starts: AnyInts, low: int, phases: int) -> tuple[Ints, Ints] | None:
    """Return which queues begin what a warp did in a phase, and which others are not as long as the one before.

    They are QUEUES from `low` on. starts: of all queues, and the end of the last one. None where they are not in order.
    """
    first = max(0, low - 1)  # which the one at `low` is held against
    bounds = starts[first : low + QUEUES + 1]
    block, thread, phase = (c[bounds[:-1]].astype(np.int64) for c in (trace.block, trace.thread, trace.phase))
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
    """Return where the rows of another thread, phase or block begin, and where the last of these end."""
    dtype = index_dtype(len(trace))
    found = [np.zeros(1, dtype)]
    for low in range(0, len(trace) - 1, PART):
        part = slice(low, low + PART + 1)
        changes = np.zeros(min(PART, len(trace) - 1 - low), bool)
        for column in (trace.thread[part], trace.phase[part], trace.block[part]):
            changes |= column[1:] != column[:-1]
        found.append((np.flatnonzero(changes) + (low + 1)).astype(dtype))
    return np.concatenate([*found, np.full(1, len(trace), dtype)])


def _of_a_size(matrices: AccessMatrices) -> Iterator[tuple[Ints, Shape]]:
    """Yield matrices that are as large, in the order of the trace, and their shape.

    They have PART accesses together at most, or are one. There are few sizes, since those of many accesses add up.
    """
    order = np.lexsort((matrices.begin, matrices.length, matrices.lanes))
    lanes, length = matrices.lanes[order], matrices.length[order]
    starts = group_starts(lanes, length)
    for low, high in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
        each = max(1, PART // int(lanes[low] * length[low]))
        for begin in range(low, high, each):
            some = order[begin : min(begin + each, high)]
            yield some, (len(some), int(lanes[low]), int(length[low]))


def _taken(column: NDArray[Any], begin: Ints, shape: Shape) -> NDArray[Any]:
    """Return a column's entries of matrices that begin at these rows, in their shape."""
    size = shape[1] * shape[2]
    from_each_row = as_strided(
        column, (len(column) - size + 1, size), column.strides * 2, subok=False, writeable=False
    )
    found: NDArray[Any] = from_each_row[begin].reshape(shape)
    return found


def _in_words(entries: NDArray[Any]) -> NDArray[Any]:
    """Return entries as the longest words that those along the last axis fill, of which there are fewer."""
    size = entries.shape[-1] * entries.itemsize
    return entries.view(next(word for word in WORDS if size % np.dtype(word).itemsize == 0))


def _alike(trace: Trace, matrices: AccessMatrices) -> Mask:
    """Return of each matrix whether every lane did what the first one of its warp did."""
    alike = np.ones(len(matrices.begin), bool)
    for number, shape in _of_a_size(matrices):
        for column in (trace.site, trace.buffer, trace.op):
            made = _in_words(_taken(column, matrices.begin[number], shape))
            if not np.array_equal(made[:, 1:], made[:, :-1]):
                alike[number] &= (made[:, 1:] == made[:, :-1]).all(axis=(1, 2))
    return alike


def _costing_alike(trace: Trace, begin: Ints, shape: Shape, rules: Ints) -> tuple[Ints, Ints]:
    """Return which requests of matrices that begin at these rows cost alike, and the first of each kind.

    Of each request the number of its kind, shape (matrices, length); of each kind the number of its first request.
    """
    first_lane = (shape[0], 1, shape[2])
    buffer, op = (_taken(column, begin, first_lane)[:, 0] for column in (trace.buffer, trace.op))
    index = _taken(trace.index, begin, shape)
    lies = rules[:, ADDRESS][buffer] + index[:, 0] * rules[:, UNIT][buffer]
    new = _laid_anew(index)
    if shape[1] < WARP and (rules[:, RULE:] == WAVEFRONTS_BY_LANE).any():
        lane = trace.thread[begin[:, None] + np.arange(shape[1]) * shape[2]] % WARP
        new[1:] |= (lane[1:] != lane[:-1]).any(axis=1)[:, None]
    new[1:] |= (buffer[1:] != buffer[:-1]) | (op[1:] != op[:-1])
    kind = np.cumsum(new, axis=0, dtype=np.int64) * shape[2] + np.arange(shape[2])
    key = kind * PERIOD + (lies & (PERIOD - 1))
    first = np.full(int(key.max()) + 1, -1)
    first[key.ravel()[::-1]] = np.arange(key.size)[::-1]  # of several the last one stays
    known = np.flatnonzero(first >= 0)
    number = np.empty_like(first)
    number[known] = np.arange(len(known))
    return number[key], first[known]


def _laid_anew(index: NDArray[Any]) -> Mask:
    """Return of each request of matrices whether its lanes lie to each other otherwise than in the matrix before."""
    # How far each lane is from the first one. No buffer has 2^31 elements: of 32 bits two that differ stay different.
    apart = np.subtract(index, index[:, :1], dtype=index.dtype if index.itemsize >= 4 else np.int32)
    other = apart[1:] != apart[:-1]
    new = np.ones((index.shape[0], index.shape[2]), bool)
    new[1:] = False
    some = np.flatnonzero(_in_words(other.reshape(len(other), index[0].size)).any(axis=1))
    new[some + 1] = other[some].any(axis=1)
    return new
