"""Which accesses make one request, and in which order a warp makes its requests."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ..model.array_types import Ints, Mask, index_dtype
from ..model.grouping import ascends, group_numbers, group_starts, offsets, positions_in_group, stable_order
from ..model.trace import STEPPED, WARP, Trace
from .request_order_fast import AccessMatrices, access_matrices

# Accesses handled at once: few enough to stay in a processor's cache.
BATCH = 1 << 18


class Runs(Struct, frozen=True, eq=False):
    """Requests of each warp in its order: sorted by (block, warp, phase), then as the warp makes them.

    A run is what a warp asks whose lanes do alike in a phase, or else one request. Columns of shape (runs,).
    """

    block_position: Ints  # of the block in trace.blocks
    warp: Ints  # number in the block
    phase: Ints  # barriers that its threads had passed
    length: Ints  # requests
    position: Ints  # the largest of the first one's accesses: how many their thread made before in the phase
    step: Ints  # the largest of the first one's accesses


class OrderedRequests(Struct, frozen=True, eq=False):
    """The requests of a trace in the order of each warp, and their accesses: columns of shape (runs,) but for `rows`.

    Of a run that is not `listed` each lane's accesses follow one another in the trace, one for each request.
    """

    runs: Runs
    lanes: Ints  # accesses of each of its requests
    first: Ints  # the first one's first access: a row of the trace or, where it is listed, a place in `rows`
    listed: Mask  # those of one request whose accesses stand in `rows`
    rows: NDArray[np.signedinteger[Any]]  # of the trace, by request, then lane
    matrices: AccessMatrices | None = None  # the runs that are not listed, in their order

    def each(self) -> NDArray[np.int32]:
        """Return the run of each request."""
        return np.repeat(np.arange(len(self.lanes), dtype=np.int32), self.runs.length)

    def singly(self, trace: Trace) -> Runs:
        """Return each request as a run of its own."""
        run = self.each()
        place = np.arange(len(run)) - offsets(self.runs.length)[run]
        runs = Runs(*(getattr(self.runs, name)[run] for name in Runs.__struct_fields__))
        later = np.flatnonzero(place)
        last = (self.first + (self.lanes - 1) * self.runs.length)[run[later]] + place[later]
        runs.step[later] = trace.steps_of(last)
        return replace(runs, length=np.ones_like(runs.length), position=runs.position + place)


def ordered_requests(trace: Trace) -> OrderedRequests:
    """Return the requests of a trace that has accesses, in the order of each warp."""
    found = access_matrices(trace)
    if found is None:
        return _of_queues(trace, np.arange(len(trace)))
    matrices, others = found
    regular = _of_matrices(trace, matrices)
    return _together(trace, regular, _of_queues(trace, others)) if len(others) else regular


def _of_queues(trace: Trace, some: Ints) -> OrderedRequests:
    """Return the requests of some rows, ascending, that hold all of a warp in a phase; a batch of blocks at a time."""
    rows: NDArray[np.signedinteger[Any]] = np.empty(len(some), index_dtype(len(trace)))
    parts, done = [], 0
    for batch in _batches(trace, some):
        runs, lanes, ordered = _order_of(trace, lane_queues(trace, batch))
        rows[done : done + len(batch)] = ordered
        done += len(batch)
        parts.append((runs, lanes))
    lanes = np.concatenate([each for _, each in parts])
    listed = np.ones(len(lanes), bool)
    return OrderedRequests(_joined(*(runs for runs, _ in parts)), lanes, offsets(lanes)[:-1], listed, rows)


def _joined(*parts: Runs) -> Runs:
    return Runs(*(np.concatenate([getattr(p, name) for p in parts]) for name in Runs.__struct_fields__))


def _of_matrices(trace: Trace, matrices: AccessMatrices) -> OrderedRequests:
    length, none = matrices.length, np.zeros(len(matrices.begin), np.int64)
    step = trace.steps_of(matrices.begin + (matrices.lanes - 1) * length)
    runs = Runs(matrices.block_position, matrices.warp, matrices.phase, length, none, step)
    rows: NDArray[np.signedinteger[Any]] = np.empty(0, index_dtype(len(trace)))
    return OrderedRequests(runs, matrices.lanes, matrices.begin, none.astype(bool), rows, matrices)


def _together(trace: Trace, regular: OrderedRequests, others: OrderedRequests) -> OrderedRequests:
    """Return the requests of both, of which no warp has some in each in one phase."""
    runs = _joined(regular.runs, others.runs)
    turn = (runs.block_position * trace.warps + runs.warp) * (int(runs.phase.max()) + 1) + runs.phase
    order = stable_order(turn)
    lanes, first, listed = (
        np.concatenate([getattr(part, name) for part in (regular, others)])[order]
        for name in ("lanes", "first", "listed")
    )
    in_order = Runs(*(getattr(runs, name)[order] for name in Runs.__struct_fields__))
    return OrderedRequests(in_order, lanes, first, listed, others.rows, regular.matrices)


def _batches(trace: Trace, some: Ints) -> list[Ints]:
    """Return some rows, ascending, of whole blocks, about BATCH in each part."""
    block = trace.block if len(some) == len(trace) else trace.block[some]
    ordered = ascends(block)  # as where blocks run one after the other
    order = np.arange(len(some)) if ordered else stable_order(block)
    rows = some[order]
    blocks = group_starts(block if ordered else block[order])
    return np.split(rows, blocks[group_starts(blocks // BATCH)][1:])


def _order_of(trace: Trace, queues: LaneQueues) -> tuple[Runs, Ints, Ints]:
    """Return the requests of these queues in order, how many accesses each has, and which these are."""
    slot = issue_slots(trace, queues)
    slots = np.zeros(len(queues.block_position), np.int64)
    np.maximum.at(slots, queues.group, slot + 1)
    number = offsets(slots)[queues.group] + slot
    group = np.repeat(np.arange(len(slots)), slots)
    position, step = np.zeros((2, len(group)), np.int64)
    np.maximum.at(position, number, queues.position)
    np.maximum.at(step, number, trace.steps_of(queues.order))
    where = (queues.block_position[group], queues.warp[group], queues.phase[group])
    runs = Runs(*where, np.ones_like(group), position, step)
    return runs, np.bincount(number), queues.order[stable_order(number)]


class LaneQueues(Struct, frozen=True, eq=False):
    """Accesses of a trace, as the queue of each lane of each warp in each phase.

    A group is one (block, warp, phase) that made accesses; groups are numbered in that order. The first four
    columns have shape (accesses,), the others (groups,).
    """

    order: Ints  # rows of the trace, sorted by (group, lane, step); the next three go with it
    group: Ints  # number of the access's group
    lane: Ints  # 0 to 31
    position: Ints  # in the lane's queue, from 0
    block_position: Ints  # of the group's block in trace.blocks
    warp: Ints  # number in the block
    phase: Ints  # barriers that its threads had passed


def lane_queues(trace: Trace, rows: Ints) -> LaneQueues:
    """Return these rows, which are in the order of their steps in each block, sorted into the queues of lanes."""
    block_position = np.searchsorted(trace.blocks, trace.block[rows])
    phase, thread = trace.phase[rows], trace.thread[rows].astype(np.int64)
    phases = int(phase.max()) + 1
    code = ((block_position * trace.warps + thread // WARP) * phases + phase) * WARP + thread % WARP
    order = stable_order(code - code.min())
    code, order = code[order], rows[order]
    lanes, groups = group_starts(code), group_starts(code // WARP)
    first = code[groups] // WARP
    return LaneQueues(
        order, group_numbers(groups, len(code)), code % WARP, positions_in_group(lanes, len(code)),
        first // phases // trace.warps, first // phases % trace.warps, first % phases,
    )  # fmt: skip


def issue_slots(trace: Trace, queues: LaneQueues) -> Ints:
    """Return per access (in queue order) the position, from 0, of its request among those of its group.

    Accesses of one (group, site, visit) are one request; requests come in the order of the largest position
    of their lanes (STEPPED: of their largest step). Where that would show a lane's later access before an
    earlier one, which only diverged lanes can cause, `_issue` orders the group.
    """
    cell = _cells(trace, queues)
    stepped = trace.schedule.startswith(STEPPED)
    time = trace.steps_of(queues.order) if stepped else queues.position
    first = _first_of(cell)
    rank = _ranks(cell, first, time, queues)
    slot = rank[cell] - offsets(np.bincount(queues.group[first]))[queues.group]
    wrong = _out_of_order(slot, queues)
    if wrong.any():
        some = wrong[queues.group]
        slot[some] = _issue(rank[cell[some]], queues.group[some], queues.lane[some])
    return slot


def _cells(trace: Trace, queues: LaneQueues) -> Ints:
    """Return per access (in queue order) a number that the accesses of one request share, without gaps."""
    site = trace.site[queues.order].astype(np.int64)
    by_site = stable_order(site)
    visit = np.empty_like(site)
    group, lane = queues.group[by_site], queues.lane[by_site]
    visit[by_site] = positions_in_group(group_starts(site[by_site], group, lane), len(site))
    what = (trace.buffer[queues.order].astype(np.int64) << 2) | trace.op[queues.order]
    if _is_function_of(site, what):
        return _number_visits(site, by_site, visit, queues.group)
    variant = np.unique(site << 32 | what, return_inverse=True)[1]
    return _number_visits(variant, stable_order(variant), visit, queues.group)


def _is_function_of(site: Ints, what: Ints) -> bool:
    """Return whether every site does one thing to one buffer."""
    table = np.zeros(int(site.max(initial=0)) + 1, np.int64)
    table[site] = what
    return bool(np.array_equal(table[site], what))


def _number_visits(site: Ints, by_site: Ints, visit: Ints, group: Ints) -> Ints:
    """Number each (site, group, visit) that occurs, from 0 on."""
    starts = group_starts(site[by_site], group[by_site])
    visits = visit[by_site]
    base = offsets(np.maximum.reduceat(visits, starts) + 1)
    number = np.empty_like(visit)
    number[by_site] = base[group_numbers(starts, len(visit))] + visits
    used = np.zeros(base[-1], bool)
    used[number] = True
    return (np.cumsum(used) - 1)[number]


def _first_of(cell: Ints) -> Ints:
    """Return per request its first access in queue order, which is that of its lowest lane."""
    first = np.empty(int(cell.max()) + 1, np.int64)
    first[cell[::-1]] = np.arange(len(cell))[::-1]
    return first


def _ranks(cell: Ints, first: Ints, time: Ints, queues: LaneQueues) -> Ints:
    """Rank requests by group, then latest time; ties by lowest lane and its position, in any schedule."""
    latest = np.zeros(len(first), np.int64)
    np.maximum.at(latest, cell, time)
    rank = np.empty_like(first)
    keys = (queues.position[first], queues.lane[first], latest, queues.group[first])
    rank[np.lexsort(keys)] = np.arange(len(first))
    return rank


def _out_of_order(slot: Ints, queues: LaneQueues) -> NDArray[np.bool_]:
    """Return per group whether a lane has an access in a request no later than that of its access before."""
    wrong = np.zeros(len(queues.block_position), bool)
    late = (queues.position[1:] > 0) & (slot[1:] <= slot[:-1])
    wrong[queues.group[1:][late]] = True
    return wrong


def _issue(rank: Ints, group: Ints, lane: Ints) -> Ints:
    """Return per access the slot in which it is issued, one request of each group per slot.

    Each lane is a queue. A request whose lanes all have it at the head is issued, of several that of lowest
    rank (Kahn's topological sort). Where every request waits for another (lane 0 does P, Q and lane 1 Q, P),
    that of lowest rank is issued for the lanes that have it at the head; the rest stays a request of its own.
    """
    heads, ends = _bounds(group, lane)
    slot = np.empty_like(rank)
    left = np.bincount(rank)
    waiting = np.zeros(len(left), np.int64)
    np.add.at(waiting, rank[heads[heads < ends]], 1)
    number = 0
    while len(heads):
        alive = heads < ends
        head = rank[np.where(alive, heads, 0)]
        blocked = waiting[head] < left[head]
        best = np.where(alive, head + blocked * len(left), 2 * len(left)).min(axis=1) % len(left)
        taken = alive & (head == best[:, None])
        slot[heads[taken]] = number
        left[best] -= taken.sum(axis=1)
        waiting[best] = 0
        heads[taken] += 1
        moved = heads[taken & (heads < ends)]
        np.add.at(waiting, rank[moved], 1)
        unfinished = (heads < ends).any(axis=1)
        if not unfinished.all():
            heads, ends = heads[unfinished], ends[unfinished]
        number += 1
    return slot


def _bounds(group: Ints, lane: Ints) -> tuple[Ints, Ints]:
    """Return where each (group, lane)'s queue starts and ends, shape (groups, 32); equal for empty ones."""
    groups = group_starts(group)
    starts = group_starts(group, lane)
    row = group_numbers(groups, len(group))[starts]
    heads = np.zeros((len(groups), WARP), np.int64)
    ends = np.zeros_like(heads)
    heads[row, lane[starts]] = starts
    ends[row, lane[starts]] = np.append(starts[1:], len(group))
    return heads, ends
