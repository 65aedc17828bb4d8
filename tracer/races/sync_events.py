"""The events that order threads, and the watched accesses, in the order of the launch."""

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
    """An event that orders a thread, or an access to be ordered."""

    kind: int  # BARRIER, WARP_BARRIER, MEMORY_FENCE or ACCESS
    row: int  # of the trace: that of an access, else the first row after the event
    thread: int  # counted through all blocks that ran
    phase: int  # of its block
    detail: int  # the reach of a barrier or a fence, the number of a warp barrier, the op of an access
    extra: int  # for a barrier of the grid the number of earlier ones, for an atomic its location, else -1


def has_fences(trace: Trace) -> bool:
    """Return True if threads made fences."""
    return bool((trace.warp_barriers.reach >= FENCE_BLOCK).any())


def sync_events_of(trace: Trace, watched: Ints) -> Iterator[SyncEvent]:
    """Yield the events in order, with the watched accesses (rows) and the atomics that may order threads.

    Warp barriers are included for watched blocks, other barriers and fences for watched threads.
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
    kind, row, _, phase, _, _ = columns
    order = np.lexsort((kind == BARRIER, phase, kind == ACCESS, row))  # stable, so each table keeps its order
    return (SyncEvent(*event) for event in columns[:, order].T.tolist())


def _owner(trace: Trace, barriers: Barriers) -> Ints:
    return trace.thread_numbers(barriers.block, barriers.thread)


def _rows_at(trace: Trace, barriers: Barriers) -> Ints:
    """Find the first row after each arrival."""
    return np.searchsorted(trace.step, barriers.step)


def _barriers(trace: Trace) -> Ints:
    barriers = trace.barriers
    position, phase = trace.block_positions(barriers.block), barriers.phase.astype(np.int64)
    epoch = np.where(barriers.reach == GRID_SCOPE, grid_epochs(trace)[position, phase], -1)
    kind = np.full(len(position), BARRIER)
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
    """List the fences, and the arrivals at warp barriers with the number of the barrier."""
    events, reach = trace.warp_barriers, trace.warp_barriers.reach.astype(np.int64)
    fence, thread = reach >= FENCE_BLOCK, _owner(trace, events)
    detail = np.where(
        fence,
        reach,
        _warp_barrier_numbers(thread // trace.threads * trace.warps + events.thread // WARP, thread, reach),
    )
    kind = np.where(fence, MEMORY_FENCE, WARP_BARRIER)
    columns = np.stack(
        [
            kind,
            _rows_at(trace, events),
            thread,
            events.phase.astype(np.int64),
            detail,
            np.full(len(detail), -1),
        ]
    )
    return columns[:, reach > 0]


def _warp_barrier_numbers(warp: Ints, thread: Ints, mask: Ints) -> Ints:
    """Number the warp barriers: one is the k-th arrival of each lane of a warp with the same mask."""
    number = np.unique(mask, return_inverse=True)[1]
    key = thread * (int(number.max(initial=0)) + 1) + number
    order = stable_order(key)
    visit = np.empty_like(key)
    visit[order] = positions_in_group(group_starts(key[order]), len(key))
    return np.unique(np.stack([warp, number, visit]), axis=1, return_inverse=True)[1].reshape(-1)


def _accesses(trace: Trace, watched: Ints) -> Ints:
    """List the watched accesses, and the atomics on locations where the result of an atomic is used.

    Without a fence such atomics order only the accesses to their own location.
    """
    location = np.full(len(trace), -1)
    atomic = np.flatnonzero(trace.op >= Op.ATOMIC)
    locations = locations_of(trace, atomic)
    used = np.isin(locations, locations[trace.op[atomic] == Op.ATOMIC])
    location[atomic[used]] = locations[used]
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
    """Number the memory that each access begins at: equal for the same memory."""
    buffer, columns = trace.buffer[rows], trace.buffer_columns
    shared = columns.space[buffer] == "shared"
    byte = columns.address[buffer] + trace.index[rows].astype(np.int64) * columns.unit[buffer]
    block = np.where(shared, trace.block_positions(trace.block[rows]) + 1, 0)
    numbers: NDArray[np.int64] = np.unique(np.stack([block, byte]), axis=1, return_inverse=True)[1].reshape(
        -1
    )
    return numbers
