"""The usual case of `request_order`, in a fraction of its time: threads ran one after the other, lanes did alike.

The accesses of a warp in a phase are then a matrix, a row of it for each lane, and its columns are the requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import Ints
from ..model.grouping import group_starts, offsets
from ..model.trace import WARP, Trace


@dataclass(frozen=True, eq=False)
class AccessMatrices:
    """The warps' phases, an entry each, sorted by (block, warp, phase): columns of shape (matrices,)."""

    block_position: Ints  # of the block in trace.blocks
    warp: Ints  # number in the block
    phase: Ints  # barriers that its threads had passed
    begin: Ints  # first row of the trace
    lanes: Ints  # those that made accesses
    length: Ints  # accesses of each of these lanes

    def rows(self) -> tuple[Ints, Ints, NDArray[np.signedinteger[Any]]]:
        """Return per request its matrix and its column there; and the rows of the trace by request, then lane."""
        matrix = np.repeat(np.arange(len(self.begin)), self.length)
        column = np.arange(len(matrix)) - offsets(self.length)[matrix]
        lanes = self.lanes[matrix]
        number = index_dtype(int(lanes.sum()))
        rows = np.arange(int(lanes.sum()), dtype=number)
        rows -= np.repeat(offsets(lanes)[:-1].astype(number), lanes)
        rows *= np.repeat(self.length[matrix].astype(number), lanes)
        rows += np.repeat((self.begin[matrix] + column).astype(number), lanes)
        return matrix, column, rows


def access_matrices(trace: Trace) -> AccessMatrices | None:
    """Return the matrices of a trace that has accesses, None where it is not so regular."""
    if trace.schedule.startswith("random"):
        return None
    starts = _queues(trace)
    thread, phase, block = (c[starts].astype(np.int64) for c in (trace.thread, trace.phase, trace.block))
    block_position = np.searchsorted(trace.blocks, block)
    key = (block_position * (int(phase.max()) + 1) + phase) * trace.threads + thread
    if not (key[1:] > key[:-1]).all():
        return None
    length = np.diff(starts, append=len(trace))
    groups = group_starts(block_position, phase, thread // WARP)
    lanes = np.diff(groups, append=len(starts))
    lead = np.repeat(starts[groups], lanes)
    if not (length == np.repeat(length[groups], lanes)).all() or not _alike(trace, starts - lead, length):
        return None
    found = (
        block_position[groups],
        thread[groups] // WARP,
        phase[groups],
        starts[groups],
        lanes,
        length[groups],
    )
    order = np.lexsort((found[2], found[1], found[0]))
    return AccessMatrices(*(column[order] for column in found))


def _queues(trace: Trace) -> Ints:
    """Return where the rows of another thread, phase or block begin."""
    changes = np.zeros(len(trace) - 1, bool)
    for column in (trace.thread, trace.phase, trace.block):
        changes |= column[1:] != column[:-1]
    return np.append(0, np.flatnonzero(changes) + 1)


def _alike(trace: Trace, behind: Ints, length: Ints) -> bool:
    """Return whether every lane did what the first one of its warp did, whose rows are so far before its own."""
    number = index_dtype(len(trace))
    first = np.arange(len(trace), dtype=number)
    first -= np.repeat(behind.astype(number), length)
    columns: tuple[NDArray[np.unsignedinteger[Any]], ...] = (trace.site, trace.buffer, trace.op)
    return all(bool((column == column[first]).all()) for column in columns)


def index_dtype(count: int) -> type[np.signedinteger[Any]]:
    """Return the type for numbers up to a count: columns with an entry for each access are the largest by far."""
    return np.int32 if count < 2**31 else np.int64
