"""The usual case of `request_order`, in a fraction of its time: threads ran one after the other, lanes did alike.

The accesses of such a warp in a phase are a matrix, a row of it for each lane, and its columns are the requests. What
warps do whose lanes part, as at the edge of a matrix, is left to `request_order`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.array_types import Ints
from ..model.grouping import group_starts, offsets
from ..model.trace import STEPPED, WARP, Trace
from .request_cost import ADDRESS, PERIOD, UNIT, costs_of_rows, rules_of

PART = 1 << 17  # accesses handled at once: few enough to stay in a processor's cache
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

    def requests(self) -> tuple[Ints, Ints]:
        """Return per request its matrix and its column there."""
        matrix = np.repeat(np.arange(len(self.begin)), self.length)
        return matrix, np.arange(len(matrix)) - offsets(self.length)[matrix]

    def costs(self, trace: Trace) -> tuple[Ints, Ints]:
        """Return (sectors, wavefronts) of each request.

        One whose lanes lie to each other as in the matrix before costs the same again where it lies as far behind a
        multiple of PERIOD bytes.
        """
        count, rules = offsets(self.length), rules_of(trace.buffers)
        sectors, wavefronts = np.zeros((2, count[-1]), np.int64)
        for number, shape in _of_a_size(self):
            place = count[number][:, None] + np.arange(shape[2])
            sectors[place], wavefronts[place] = _costs(trace, self.begin[number], shape, rules)
        return sectors, wavefronts


def access_matrices(trace: Trace) -> tuple[AccessMatrices, Ints] | None:
    """Return the matrices of a trace that has accesses, and the rows of all other accesses, ascending.

    None where threads did not run one after the other, or no warp's lanes did alike.
    """
    if trace.schedule.startswith(STEPPED):
        return None
    starts = _queues(trace)
    thread, phase, block = (c[starts].astype(np.int64) for c in (trace.thread, trace.phase, trace.block))
    block_position = trace.block_positions(block)
    key = (block_position * (int(phase.max()) + 1) + phase) * trace.threads + thread
    if not (key[1:] > key[:-1]).all():
        return None
    length = np.diff(starts, append=len(trace))
    groups = group_starts(block_position, phase, thread // WARP)
    lanes = np.diff(groups, append=len(starts))
    columns = (
        block_position[groups],
        thread[groups] // WARP,
        phase[groups],
        starts[groups],
        lanes,
        length[groups],
    )
    as_long = np.logical_and.reduceat(length == np.repeat(length[groups], lanes), groups)
    regular = np.flatnonzero(as_long)
    if len(regular):
        regular = regular[_alike(trace, AccessMatrices(*(column[regular] for column in columns)))]
    if not len(regular):
        return None
    block_position, warp, phase = (column[regular] for column in columns[:3])
    in_order = regular[np.lexsort((phase, warp, block_position))]
    made = AccessMatrices(*(column[in_order] for column in columns))
    return made, _others(starts[groups], len(trace), regular)


def _others(begin: Ints, count: int, regular: Ints) -> Ints:
    """Return the rows, of `count`, of the groups that begin at these and are not among the regular ones."""
    other = np.ones(len(begin), bool)
    other[regular] = False
    size = np.diff(begin, append=count)[other]
    before = offsets(size)
    return np.arange(before[-1]) + np.repeat(begin[other] - before[:-1], size)


def _queues(trace: Trace) -> Ints:
    """Return where the rows of another thread, phase or block begin."""
    found = [np.zeros(1, np.int64)]
    for low in range(0, len(trace) - 1, PART):
        part = slice(low, low + PART + 1)
        changes = np.zeros(min(PART, len(trace) - 1 - low), bool)
        for column in (trace.thread[part], trace.phase[part], trace.block[part]):
            changes |= column[1:] != column[:-1]
        found.append(np.flatnonzero(changes) + low + 1)
    return np.concatenate(found)


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
    """Return a column's entries of matrices that begin at these rows, ascending, in their shape."""
    size = shape[1] * shape[2]
    apart = np.flatnonzero(begin[1:] - begin[:-1] != size)  # the others are one behind the other
    lows = [int(begin[0]), *begin[apart + 1].tolist()]
    highs = [*(begin[apart] + size).tolist(), int(begin[-1]) + size]
    rows = [column[low:high] for low, high in zip(lows, highs, strict=True)]
    return (rows[0] if len(rows) == 1 else np.concatenate(rows)).reshape(shape)


def _in_words(entries: NDArray[Any]) -> NDArray[Any]:
    """Return entries as the longest words that those along the last axis fill, of which there are fewer."""
    size = entries.shape[-1] * entries.itemsize
    return entries.view(next(word for word in WORDS if size % np.dtype(word).itemsize == 0))


def _alike(trace: Trace, matrices: AccessMatrices) -> NDArray[np.bool_]:
    """Return of each matrix whether every lane did what the first one of its warp did."""
    alike = np.ones(len(matrices.begin), bool)
    for number, shape in _of_a_size(matrices):
        for column in (trace.site, trace.buffer, trace.op):
            made = _in_words(_taken(column, matrices.begin[number], shape))
            same = made == made[:, :1]
            if not same.all():
                alike[number] &= same.all(axis=(1, 2))
    return alike


def _costs(trace: Trace, begin: Ints, shape: Shape, rules: Ints) -> tuple[Ints, Ints]:
    """Return (sectors, wavefronts) of the requests of matrices that begin at these rows, shape (matrices, length)."""
    lead_rows = begin[:, None] + np.arange(shape[2])
    buffer, op = trace.buffer[lead_rows].astype(np.int64), trace.op[lead_rows]
    index = _taken(trace.index, begin, shape)
    lead = index[:, 0].astype(np.int64)
    # How far each lane is from the first one. No buffer has 2^31 elements: of 32 bits two that differ stay different.
    apart = np.subtract(index, index[:, :1], dtype=index.dtype if index.itemsize >= 4 else np.int32)
    other = np.bitwise_or.reduce(_in_words(apart[1:] != apart[:-1]), axis=1).view(bool)
    new = np.ones((shape[0], shape[2]), np.int64)
    new[1:] = other | (buffer[1:] != buffer[:-1]) | (op[1:] != op[:-1])
    kind = np.cumsum(new, axis=0) * shape[2] + np.arange(shape[2])
    residue = (rules[buffer, ADDRESS] + lead * rules[buffer, UNIT]) % PERIOD
    _, first, which = np.unique(kind * PERIOD + residue, return_index=True, return_inverse=True)
    matrix, column = np.divmod(first, shape[2])
    rows = begin[matrix] + column
    lanes = rows[:, None] + np.arange(shape[1]) * shape[2]
    sectors, wavefronts = costs_of_rows(trace, lanes.ravel(), np.arange(len(first) + 1) * shape[1], rules)
    which = which.reshape(new.shape)
    return sectors[which], wavefronts[which]


def index_dtype(count: int) -> type[np.signedinteger[Any]]:
    """Return the type for numbers up to a count: columns with an entry for each access are the largest by far."""
    return np.int32 if count < 2**31 else np.int64
