"""The display clock: the moment at which each request is made."""

from __future__ import annotations

import heapq

import numpy as np

from ..model.array_types import Ints
from ..model.grouping import group_starts, offsets, positions_in_group
from ..model.trace import STEPPED, Trace
from .grid_barriers import grid_epochs, has_grid_barriers
from .request_order import Runs


def phase_counts(trace: Trace, block_position: Ints, phase: Ints) -> Ints:
    """Count the phases of each block of trace.blocks, at least one.

    block_position, phase: of every request; phases without requests are counted by the barriers.
    """
    count = np.ones(len(trace.blocks), np.int64)
    np.maximum.at(count, block_position, phase + 1)
    barriers = trace.barriers
    np.maximum.at(count, trace.block_positions(barriers.block), barriers.phase.astype(np.int64) + 2)
    return count


def moments_of(trace: Trace, runs: Runs) -> Ints:
    """Compute the moment, from 1, of each request, run after run.

    Moments grow along each warp, and those of a block's phase come after those of the phase before.
    """
    if trace.schedule.startswith(STEPPED):
        return _moments_by_step(trace, runs)
    return _moments_by_round(trace, runs)


def _moments_by_round(trace: Trace, runs: Runs) -> Ints:
    """Compute the moments of lockstep: in each round every running thread makes one access.

    Requests of one warp in the same round, as diverged lanes make them, get different moments.
    """
    round_ = _rounds(trace, runs)
    starts = group_starts(runs.block_position, runs.warp, round_)
    turn = positions_in_group(starts, len(round_))
    width = _has_request(round_, runs.length)
    np.maximum.at(width, round_, turn + 1)
    each = np.repeat(round_ - offsets(runs.length)[:-1], runs.length)
    each += np.arange(len(each))
    return offsets(width)[each] + np.repeat(turn + 1, runs.length)


def _has_request(begin: Ints, length: Ints) -> Ints:
    """Return 1 for each round in which any of the runs that begin in these rounds makes a request, else 0."""
    end = begin + length
    rounds = int(end.max()) + 1
    change = np.bincount(begin, minlength=rounds) - np.bincount(end, minlength=rounds)
    return np.minimum(np.cumsum(change[:-1]), 1)


def _rounds(trace: Trace, runs: Runs) -> Ints:
    """Compute the round of the first request of each run, never falling along a warp.

    A thread makes one access per round. Between two phases of a block is the round in which its threads return from
    the barrier.
    """
    phases = phase_counts(trace, runs.block_position, runs.phase)
    longest = np.zeros((len(phases), int(phases.max())), np.int64)
    np.maximum.at(longest, (runs.block_position, runs.phase), runs.position + runs.length)
    ran = np.arange(longest.shape[1]) < phases[:, None]
    lengths = (longest + 1) * ran
    return _begins(trace, lengths)[runs.block_position, runs.phase] + highest_so_far(runs)


def _begins(trace: Trace, lengths: Ints) -> Ints:
    """Compute the round in which each phase of each block begins, from the number of rounds that each takes.

    The phases after a barrier of the grid begin when all blocks have reached it.
    """
    epoch = np.zeros_like(lengths)
    if has_grid_barriers(trace):
        epoch = grid_epochs(trace)[:, : lengths.shape[1]]
    begin, first = np.zeros_like(lengths), 0
    for number in range(int(epoch.max(initial=0)) + 1):
        epoch_lengths = lengths * (epoch == number)
        start = first + _starts(epoch_lengths.sum(axis=1), trace.resident)
        begin += (epoch == number) * (start[:, None] + np.cumsum(epoch_lengths, axis=1) - epoch_lengths)
        first = int((start + epoch_lengths.sum(axis=1)).max(initial=first))
    return begin


def highest_so_far(runs: Runs) -> Ints:
    """Compute the highest position of the first requests of each run and the earlier runs of its warp and phase."""
    group = np.zeros(len(runs.block_position), np.int64)
    group[group_starts(runs.block_position, runs.warp, runs.phase)[1:]] = 1
    lift = np.cumsum(group) * (int(runs.position.max()) + 1)
    highest: Ints = np.maximum.accumulate(runs.position + lift)
    return highest - lift


def _starts(durations: Ints, resident: int) -> Ints:
    """Compute the round in which each block starts, when a block waits for one of `resident` slots."""
    ends: list[int] = []
    starts = np.empty_like(durations)
    for number, duration in enumerate(durations.tolist()):
        starts[number] = heapq.heappop(ends) if len(ends) >= max(1, resident) else 0
        heapq.heappush(ends, int(starts[number]) + duration)
    return starts


def _moments_by_step(trace: Trace, runs: Runs) -> Ints:
    """Compute moments that follow the steps.

    A moment ends where a warp would make a second request in it, and with a segment of an explicit order.
    """
    warp = np.zeros(len(runs.block_position), np.int64)
    warp[group_starts(runs.block_position, runs.warp)[1:]] = 1
    lift = np.cumsum(warp) * (int(runs.step.max()) + 1)
    step = np.maximum.accumulate(runs.step + lift) - lift
    # A warp operation before a barrier has the step of the next access, which may come after the barrier.
    order = np.lexsort((runs.phase, step))
    after = _next_in_another_moment(runs, order)
    if trace.segment_ends:
        segment = trace.segments_of(step[order])
        after = np.minimum(after, np.searchsorted(segment, segment, side="right"))
    new = np.zeros(len(order), np.int64)
    new[_cuts(after)] = 1
    moment = np.empty_like(new)
    moment[order] = np.cumsum(new) + 1
    return moment


def _next_in_another_moment(runs: Runs, order: Ints) -> Ints:
    """Find per request the first later one, in this order, that can't share its moment.

    That is one of its warp, or of its block's next phase; the number of requests if there is none.
    """
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    after = np.full(len(order), len(order))
    same_warp = (runs.block_position[1:] == runs.block_position[:-1]) & (runs.warp[1:] == runs.warp[:-1])
    after[:-1][same_warp] = rank[1:][same_warp]
    by_phase = np.lexsort((rank, runs.phase, runs.block_position))
    starts = group_starts(runs.block_position[by_phase], runs.phase[by_phase])
    following = np.append(rank[by_phase[starts[1:]]], len(order))
    last = np.append(
        runs.block_position[by_phase[starts]][1:] != runs.block_position[by_phase[starts]][:-1], True
    )
    following[last] = len(order)
    number = np.searchsorted(starts, np.arange(len(order)), side="right") - 1
    after[by_phase] = np.minimum(after[by_phase], following[number])
    return after[order]


def _cuts(after: Ints) -> list[int]:
    """Find the starts of moments: a moment that starts at s lasts until min(after[s:])."""
    first = np.minimum.accumulate(after[::-1])[::-1].tolist()
    cuts, cut = [], first[0]
    while cut < len(first):
        cuts.append(cut)
        cut = first[cut]
    return cuts
