"""The events that order threads, and the accesses that are watched, in the order in which a launch made them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..analysis.grid_barriers import grid_epochs
from ..model.array_types import Ints
from ..model.grouping import group_starts, positions_in_group, stable_order
from ..model.trace import FENCE_BLOCK, GRID_SCOPE, WARP, Barriers, Op, Trace

BARRIER, WARP_BARRIER, MEMORY_FENCE, ACCESS = range(4)


class SyncEvent(NamedTuple):
    """What a thread does that orders it, or that an order is wanted of."""

    kind: int  # BARRIER, MEETING, FENCING or ACCESS
    at: int  # row of the trace: that of an access, else the first row that comes after
    thread: int  # counted through all blocks that ran
    phase: int  # of its block
    what: int  # the reach of a barrier or a fence, the number of a warp barrier, the op of an access
    more: int  # of a barrier of the grid how many came before, of an atomic its location, else -1


def has_fences(trace: Trace) -> bool:
    """Return whether threads made fences."""
    return bool((trace.warp_barriers.reach >= FENCE_BLOCK).any())


def sync_events_of(trace: Trace, watched: Ints) -> Iterator[SyncEvent]:
    """Return the events in order, with the accesses of some rows (watched) and the atomics that may order threads.

    Warp barriers are those of the blocks that are watched; other barriers and fences of the threads that are, too.
    """
    accesses = _accesses(trace, watched)
    threads = np.unique(accesses[2])
    blocks = np.unique(threads // trace.threads)
    barriers, events = _barriers(trace), _warp_events(trace)
    barriers = barriers[:, np.isin(barriers[2], threads)]
    at_warp_barrier = events[0] == WARP_BARRIER
    events = events[
        :, np.where(at_warp_barrier, np.isin(events[2] // trace.threads, blocks), np.isin(events[2], threads))
    ]
    columns = np.concatenate([barriers, events, accesses], axis=1)
    columns = columns[:, columns[1] <= int(watched.max(initial=-1))]
    kind, at, _, phase, _, _ = columns
    order = np.lexsort((kind == BARRIER, phase, kind == ACCESS, at))  # stable, so each table keeps its order
    return (SyncEvent(*event) for event in columns[:, order].T.tolist())


def _owner(trace: Trace, barriers: Barriers) -> Ints:
    return trace.thread_numbers(barriers.block, barriers.thread)


def _rows_at(trace: Trace, barriers: Barriers) -> Ints:
    """Return the first row that comes after each arrival."""
    return np.searchsorted(trace.step, barriers.step)


def _barriers(trace: Trace) -> Ints:
    barriers = trace.barriers
    place, phase = trace.block_positions(barriers.block), barriers.phase.astype(np.int64)
    epoch = np.where(barriers.reach == GRID_SCOPE, grid_epochs(trace)[place, phase], -1)
    kind = np.full(len(place), BARRIER)
    return np.stack(
        [
            kind,
            _rows_at(trace, barriers),
            _owner(trace, barriers),
            phase,
            barriers.reach.astype(np.int64),
            epoch,
        ]
    )


def _warp_events(trace: Trace) -> Ints:
    """Return the fences, and the arrivals at warp barriers with the number of the barrier."""
    found, reach = trace.warp_barriers, trace.warp_barriers.reach.astype(np.int64)
    fence, thread = reach >= FENCE_BLOCK, _owner(trace, found)
    what = np.where(
        fence,
        reach,
        _warp_barrier_numbers(thread // trace.threads * trace.warps + found.thread // WARP, thread, reach),
    )
    kind = np.where(fence, MEMORY_FENCE, WARP_BARRIER)
    columns = np.stack(
        [kind, _rows_at(trace, found), thread, found.phase.astype(np.int64), what, np.full(len(what), -1)]
    )
    return columns[:, reach > 0]


def _warp_barrier_numbers(warp: Ints, thread: Ints, mask: Ints) -> Ints:
    """Number the warp barriers: one is the k-th time that each lane of a warp comes with the same mask."""
    number = np.unique(mask, return_inverse=True)[1]
    key = thread * (int(number.max(initial=0)) + 1) + number
    order = stable_order(key)
    visit = np.empty_like(key)
    visit[order] = positions_in_group(group_starts(key[order]), len(key))
    return np.unique(np.stack([warp, number, visit]), axis=1, return_inverse=True)[1].reshape(-1)


def _accesses(trace: Trace, watched: Ints) -> Ints:
    """Return the watched accesses, and the atomics on locations where somebody uses what an atomic returns.

    Without a fence such atomics order nothing but the accesses to their own location.
    """
    location = np.full(len(trace), -1)
    atomic = np.flatnonzero(trace.op >= Op.ATOMIC)
    where = locations_of(trace, atomic)
    used = np.isin(where, where[trace.op[atomic] == Op.ATOMIC])
    location[atomic[used]] = where[used]
    rows = np.union1d(watched, atomic[used]) if has_fences(trace) else np.sort(watched)
    thread = trace.thread_of(rows)
    kind = np.full(len(rows), ACCESS)
    return np.stack(
        [
            kind,
            rows,
            thread,
            trace.phase[rows].astype(np.int64),
            trace.op[rows].astype(np.int64),
            location[rows],
        ]
    )


def locations_of(trace: Trace, rows: Ints) -> Ints:
    """Return a number for the memory that each access begins at: equal where it is the same."""
    buffer, of = trace.buffer[rows], trace.buffer_columns
    shared = of.space[buffer] == "shared"
    byte = of.address[buffer] + trace.index[rows].astype(np.int64) * of.unit[buffer]
    block = np.where(shared, trace.block_positions(trace.block[rows]) + 1, 0)
    found: NDArray[np.int64] = np.unique(np.stack([block, byte]), axis=1, return_inverse=True)[1].reshape(-1)
    return found
