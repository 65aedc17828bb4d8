"""Data races: two threads touch a byte, one of them writes, not both are atomic, and nothing orders them.

The memory model is that of the CUDA C++ Programming Guide. Blocks run in any order, except for barriers of the
grid. In a block barriers order threads, also those of one warp ("Independent Thread Scheduling"), whose lanes
cuda.syncwarp() orders. Conflicts follow from the phases, so a race is found in whatever order this launch happened
to run. Where fences and atomics may order threads too, or masks leave lanes of a warp out, every access is followed
(see `happens_before` and `vector_clocks`). As in compute-sanitizer's racecheck, stores of the same value by all
threads do no harm.

Candidates are the few touches that races can be among. A clean launch has none, which saves the rest of the work.
They come from passes over one part of a launch after the other: a large launch is never completely in memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..analysis.grid_barriers import grid_epochs, has_grid_barriers
from ..analysis.overlap import (
    RANGE,
    SPARE,
    UnitAccesses,
    block_ranges,
    concatenate_accesses,
    dense_keys,
    overlapping_buffers,
    unit_accesses,
)
from ..model.array_types import Ints, Mask
from ..model.trace import FENCE_BLOCK, WARP, Op, Trace
from .conflicting_accesses import ClaimedUnits, Race, UnorderedAccesses, conflicting, merge_races, races_in
from .happens_before import happens_before_races, needs_happens_before
from .missed_barriers import MissedBarriers


def candidates_of(trace: Trace, group: list[int]) -> UnitAccesses:
    """Find the touches of pieces that one thread writes and another touches; of shared memory in one phase."""
    if trace.buffers[group[0]].space == "shared":
        return concatenate_accesses(
            [_in_phases(trace, unit_accesses(trace, group, part)) for part in block_ranges(trace)]
        )
    parts = [slice(low, min(low + RANGE, len(trace))) for low in range(0, len(trace), RANGE)]
    count = unit_accesses(trace, group, slice(0, 0)).count
    if count > 4 * len(trace) + SPARE:  # a table would be too large
        return unit_accesses(trace, group, slice(0, len(trace)))
    contended = _contended(trace, group, parts, count)
    if not contended.any():
        return unit_accesses(trace, group, slice(0, 0))
    touches_by_part = (unit_accesses(trace, group, part) for part in parts)
    return concatenate_accesses([touches.where(contended[touches.unit]) for touches in touches_by_part])


def _in_phases(trace: Trace, touches: UnitAccesses) -> UnitAccesses:
    """Find the touches of shared memory, of complete blocks, on which threads of a block conflict in a phase."""
    if not len(touches.rows):
        return touches
    block_phase, size = dense_keys(_block_phases(trace, touches.rows))
    written = np.zeros(size, bool)
    written[block_phase[trace.op[touches.rows] != Op.LOAD]] = True
    in_written_phase = written[block_phase]
    touches, block_phase = touches.where(in_written_phase), block_phase[in_written_phase]
    key, size = dense_keys(block_phase * touches.count + touches.unit)
    return touches.where(conflicting(key, size, trace.thread[touches.rows], trace.op[touches.rows]))


def _block_phases(trace: Trace, rows: Ints) -> Ints:
    """Number the block and phase of each access."""
    position, phase = trace.block_positions(trace.block[rows]), trace.phase[rows]
    block_phase: Ints = (position - position.min()) * (int(phase.max()) + 1) + phase
    return block_phase


def _contended(trace: Trace, group: list[int], parts: list[slice], count: int) -> Mask:
    """Find the pieces that are written, and touched by more than one thread."""
    written, several, first_thread = np.zeros(count, bool), np.zeros(count, bool), np.full(count, -1)
    for part in parts:
        touches = unit_accesses(trace, group, part)
        rows, piece = touches.rows, touches.unit
        written[piece[trace.op[rows] != Op.LOAD]] = True
        thread = trace.thread_of(rows)
        is_first = first_thread[piece] < 0
        first_thread[piece[is_first]] = thread[is_first]
        several[piece[first_thread[piece] != thread]] = True
    return written & several


def races_of(trace: Trace, missed: MissedBarriers) -> list[Race]:
    """Find the races of a launch, one per buffer and two sites; two if some elements conflict only in one block.

    If a site has a harmful race, its harmless races with equal values are coincidence and left out.
    Accesses of a thread that missed a barrier and ran on (see MissedBarriers) do not race with those of the same block:
    the missed barrier is reported instead.
    """
    if trace.is_race_free:
        return []
    written = trace.access_counts[:, Op.STORE :].sum(axis=1)
    races: dict[tuple[int, tuple[int, int], bool], Race] = {}
    for group in overlapping_buffers(trace, ("global", "shared")):
        if np.any(written[group]) and len((candidates := candidates_of(trace, group)).rows):
            find = _by_happens_before if needs_happens_before(trace, group) else _by_phases
            for race in find(trace, candidates, missed):
                across = races.get((race.buffer, race.sites, False))
                is_within = across is not None and _is_within(race, across)
                key = (race.buffer, race.sites, is_within)
                races[key] = merge_races(races[key], race) if key in races else race
    wrong = {(race.buffer, site) for race in races.values() if race.harmful for site in race.sites}
    return [
        race
        for race in races.values()
        if race.harmful or not wrong & {(race.buffer, site) for site in race.sites}
    ]


def _is_within(race: Race, other: Race) -> bool:
    """Return True for a race within blocks, next to a harmful one between blocks, which has other elements."""
    return other.scope == "grid" and other.harmful and race.scope != "grid"


def _by_phases(trace: Trace, touches: UnitAccesses, missed: MissedBarriers) -> Iterator[Race]:
    """Yield the races that follow from the phases of blocks and the barriers of warps."""
    claimed: ClaimedUnits = {}
    for unordered in _unordered_accesses(trace, touches, missed):
        yield from races_in(trace, unordered, claimed)


def _by_happens_before(trace: Trace, touches: UnitAccesses, missed: MissedBarriers) -> list[Race]:
    """Find the races if more than barriers orders threads; barriers of all threads exclude most accesses first."""
    shared = trace.buffers[int(trace.buffer[touches.rows[0]])].space == "shared"
    key, size = dense_keys(
        _phase_key(trace, touches) * touches.count + touches.unit if shared else _grid_key(trace, touches)
    )
    thread = trace.thread_of(touches.rows)
    conflicts = conflicting(key, size, thread, trace.op[touches.rows])
    touches = touches.where(conflicts)
    return happens_before_races(trace, touches, key[conflicts], _of_stray_threads(trace, touches, missed))


def _unordered_accesses(
    trace: Trace, touches: UnitAccesses, missed: MissedBarriers
) -> Iterator[UnorderedAccesses]:
    """Yield the accesses that may conflict, from the widest scope to the narrowest."""
    if trace.buffers[int(trace.buffer[touches.rows[0]])].space == "global":
        thread = trace.thread_of(touches.rows)
        key, size = dense_keys(_grid_key(trace, touches))
        conflicts = conflicting(key, size, thread, trace.op[touches.rows])
        touches, key = touches.where(conflicts), key[conflicts]
        yield UnorderedAccesses("grid", touches, key, size, _position(trace, touches))
    touches = touches.where(~_of_stray_threads(trace, touches, missed))
    key, size = dense_keys(_phase_key(trace, touches) * touches.count + touches.unit)
    conflicts = conflicting(key, size, trace.thread[touches.rows], trace.op[touches.rows])
    touches, key = touches.where(conflicts), key[conflicts]
    thread = trace.thread[touches.rows].astype(np.int64)
    yield UnorderedAccesses("block", touches, key, size, thread // WARP)
    epoch = epochs_of(trace, touches.rows)
    key = (key * trace.warps + thread // WARP) * (int(epoch.max(initial=0)) + 1) + epoch
    yield UnorderedAccesses("warp", touches, *dense_keys(key), thread)


def _position(trace: Trace, touches: UnitAccesses) -> Ints:
    return trace.block_positions(trace.block[touches.rows])


def _phase_key(trace: Trace, touches: UnitAccesses) -> Ints:
    return _position(trace, touches) * (int(trace.phase.max(initial=0)) + 1) + trace.phase[touches.rows]


def _grid_key(trace: Trace, touches: UnitAccesses) -> Ints:
    """Number the pieces of global memory, with new numbers after each barrier of the grid."""
    if not has_grid_barriers(trace):
        return touches.unit
    epoch: Ints = grid_epochs(trace)[_position(trace, touches), trace.phase[touches.rows]]
    return epoch * touches.count + touches.unit


def _of_stray_threads(trace: Trace, touches: UnitAccesses, missed: MissedBarriers) -> Mask:
    """Find the touches of threads that ran past a barrier, in that phase."""
    stray = missed.ran_on
    if not stray.any():
        return np.zeros(len(touches.rows), bool)
    last: NDArray[np.int64] = np.full((len(trace.blocks), trace.threads), -1)
    last[missed.block_position[stray], missed.thread[stray]] = missed.phase[stray]
    matches: Mask = last[_position(trace, touches), trace.thread[touches.rows]] == trace.phase[touches.rows]
    return matches


def epochs_of(trace: Trace, rows: Ints) -> Ints:
    """Count the warp barriers that its thread had passed at each access."""
    barriers = trace.warp_barriers
    chosen = (barriers.reach > 0) & (barriers.reach < FENCE_BLOCK)
    if not chosen.any():
        return np.zeros(len(rows), np.int64)
    steps = int(max(trace.step.max(initial=0), barriers.step.max())) + 2
    thread = trace.thread_numbers(barriers.block[chosen], barriers.thread[chosen])
    passed = np.sort(thread * steps + barriers.step[chosen])
    start = trace.thread_of(rows) * steps
    count: Ints = np.searchsorted(passed, start + trace.step[rows], side="right") - np.searchsorted(
        passed, start
    )
    return count
