"""The display clock: the moment at which each request is made."""

from __future__ import annotations

import heapq

import numpy as np

from ..model.array_types import Ints
from ..model.grouping import group_starts, offsets, positions_in_group
from ..model.trace import STEPPED, Trace
from .grid_barriers import grid_epochs, has_grid_barriers
from .request_order import OrderedRequests


def phase_counts(trace: Trace, block_position: Ints, phase: Ints) -> Ints:
    """Return how many phases each block of trace.blocks went through, one at least.

    block_position, phase: of every request; phases without any are known from the barriers.
    """
    count = np.ones(len(trace.blocks), np.int64)
    np.maximum.at(count, block_position, phase + 1)
    barriers = trace.barriers
    np.maximum.at(count, trace.block_positions(barriers.block), barriers.phase.astype(np.int64) + 2)
    return count


def moments_of(trace: Trace, ordered: OrderedRequests) -> Ints:
    """Return the moment, from 1, of each request.

    Moments grow along each warp, and those of a block's phase come after those of the phase before.
    """
    if trace.schedule.startswith(STEPPED):
        return _moments_by_step(ordered)
    return _moments_by_round(trace, ordered)


def _moments_by_round(trace: Trace, ordered: OrderedRequests) -> Ints:
    """Return the moments that lockstep gives: in each round every running thread makes one access.

    Requests of one warp that fall into the same round, as diverged lanes make them, get moments of their own.
    """
    round_ = _rounds(trace, ordered)
    starts = group_starts(ordered.block_position, ordered.warp, round_)
    turn = positions_in_group(starts, len(round_))
    width = np.zeros(int(round_.max()) + 1, np.int64)
    np.maximum.at(width, round_, turn + 1)
    return offsets(width)[round_] + turn + 1


def _rounds(trace: Trace, ordered: OrderedRequests) -> Ints:
    """Return the round of each request, never falling along a warp.

    A thread makes one access per round; between two phases of a block lies the round in which its threads
    come back from the barrier.
    """
    phases = phase_counts(trace, ordered.block_position, ordered.phase)
    longest = np.zeros((len(phases), int(phases.max())), np.int64)
    np.maximum.at(longest, (ordered.block_position, ordered.phase), ordered.position + 1)
    ran = np.arange(longest.shape[1]) < phases[:, None]
    lengths = (longest + 1) * ran
    return _begins(trace, lengths)[ordered.block_position, ordered.phase] + highest_so_far(ordered)


def _begins(trace: Trace, lengths: Ints) -> Ints:
    """Return the round in which each phase of each block begins, from how many rounds it takes.

    What comes after a barrier of the grid begins when all blocks have come to it.
    """
    epoch = np.zeros_like(lengths)
    if has_grid_barriers(trace):
        epoch = grid_epochs(trace)[:, : lengths.shape[1]]
    begin, first = np.zeros_like(lengths), 0
    for number in range(int(epoch.max(initial=0)) + 1):
        mine = lengths * (epoch == number)
        start = first + _starts(mine.sum(axis=1), trace.resident)
        begin += (epoch == number) * (start[:, None] + np.cumsum(mine, axis=1) - mine)
        first = int((start + mine.sum(axis=1)).max(initial=first))
    return begin


def highest_so_far(ordered: OrderedRequests) -> Ints:
    """Return each request's position, or that of an earlier one of its warp and phase that is larger."""
    group = np.zeros(len(ordered.block_position), np.int64)
    group[group_starts(ordered.block_position, ordered.warp, ordered.phase)[1:]] = 1
    lift = np.cumsum(group) * (int(ordered.position.max()) + 1)
    highest: Ints = np.maximum.accumulate(ordered.position + lift)
    return highest - lift


def _starts(durations: Ints, resident: int) -> Ints:
    """Return the round in which each block starts, when a block waits for one of `resident` slots."""
    ends: list[int] = []
    starts = np.empty_like(durations)
    for number, duration in enumerate(durations.tolist()):
        starts[number] = heapq.heappop(ends) if len(ends) >= max(1, resident) else 0
        heapq.heappush(ends, int(starts[number]) + duration)
    return starts


def _moments_by_step(ordered: OrderedRequests) -> Ints:
    """Return moments that follow the steps; one ends where a warp would make a second request in it."""
    warp = np.zeros(len(ordered.block_position), np.int64)
    warp[group_starts(ordered.block_position, ordered.warp)[1:]] = 1
    lift = np.cumsum(warp) * (int(ordered.step.max()) + 1)
    step = np.maximum.accumulate(ordered.step + lift) - lift
    order = np.argsort(step, kind="stable")
    new = np.zeros(len(order), np.int64)
    new[_cuts(_next_barred(ordered, order))] = 1
    moment = np.empty_like(new)
    moment[order] = np.cumsum(new) + 1
    return moment


def _next_barred(ordered: OrderedRequests, order: Ints) -> Ints:
    """Return per request in this order the first later one that can't share its moment: of its warp, or its
    block's next phase; the number of requests where there is none.
    """
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    after = np.full(len(order), len(order))
    same = (ordered.block_position[1:] == ordered.block_position[:-1]) & (
        ordered.warp[1:] == ordered.warp[:-1]
    )
    after[:-1][same] = rank[1:][same]
    by_phase = np.lexsort((rank, ordered.phase, ordered.block_position))
    starts = group_starts(ordered.block_position[by_phase], ordered.phase[by_phase])
    following = np.append(rank[by_phase[starts[1:]]], len(order))
    last = np.append(
        ordered.block_position[by_phase[starts]][1:] != ordered.block_position[by_phase[starts]][:-1], True
    )
    following[last] = len(order)
    number = np.searchsorted(starts, np.arange(len(order)), side="right") - 1
    after[by_phase] = np.minimum(after[by_phase], following[number])
    return after[order]


def _cuts(after: Ints) -> list[int]:
    """Return where new moments start: a moment that starts at s lasts until min(after[s:])."""
    first = np.minimum.accumulate(after[::-1])[::-1].tolist()
    cuts, cut = [], first[0]
    while cut < len(first):
        cuts.append(cut)
        cut = first[cut]
    return cuts
