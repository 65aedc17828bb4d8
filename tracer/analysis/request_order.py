"""The grouping of accesses into requests, and the order in which a warp makes its requests."""

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

# Accesses processed at once: few enough to stay in a processor's cache.
BATCH = 1 << 18


class Runs(Struct, frozen=True, eq=False):
    """Requests of each warp in its order: sorted by (block, warp, phase), then as the warp makes them.

    A run is either all requests of a warp in a phase in which its lanes did not diverge, or a single request. Columns
    of shape (runs,).
    """

    block_position: Ints  # of the block in trace.blocks
    warp: Ints  # number in the block
    phase: Ints  # barriers that its threads had passed
    length: Ints  # requests
    position: Ints  # of the first request: the most accesses that one of its threads made before in the phase
    step: Ints  # the largest step of the first request's accesses


class OrderedRequests(Struct, frozen=True, eq=False):
    """The requests of a trace in the order of each warp, and their accesses: columns of shape (runs,) except `rows`.

    In a run that is not `listed`, each lane's accesses are consecutive in the trace, one per request.
    """

    runs: Runs
    lanes: Ints  # accesses of each of its requests
    first: (
        Ints  # the first request's first access: a row of the trace, or, if it is listed, an index in `rows`
    )
    listed: Mask  # the single requests whose accesses are in `rows`
    rows: NDArray[np.signedinteger[Any]]  # of the trace, by request, then lane
    matrices: AccessMatrices | None = None  # the runs that are not listed, in their order

    def each(self) -> NDArray[np.int32]:
        """Return the run of each request."""
        return np.repeat(np.arange(len(self.lanes), dtype=np.int32), self.runs.length)

    def singly(self, trace: Trace) -> Runs:
        """Return each request as a separate run."""
        run = self.each()
        position = np.arange(len(run)) - offsets(self.runs.length)[run]
        runs = Runs(*(getattr(self.runs, name)[run] for name in Runs.__struct_fields__))
        followers = np.flatnonzero(position)
        last = (self.first + (self.lanes - 1) * self.runs.length)[run[followers]] + position[followers]
        runs.step[followers] = trace.steps_of(last)
        return replace(runs, length=np.ones_like(runs.length), position=runs.position + position)


def ordered_requests(trace: Trace) -> OrderedRequests:
    """Group a trace's accesses, of which there are some, into requests, in the order of each warp."""
    split = access_matrices(trace)
    if split is None:
        return _order_queues(trace, np.arange(len(trace)))
    matrices, others = split
    regular = _order_matrices(trace, matrices)
    return _merge(trace, regular, _order_queues(trace, others)) if len(others) else regular


def _order_queues(trace: Trace, chosen: Ints) -> OrderedRequests:
    """Order the requests of the chosen rows, a batch of blocks at a time.

    chosen: ascending, with complete phases of warps.
    """
    rows: NDArray[np.signedinteger[Any]] = np.empty(len(chosen), index_dtype(len(trace)))
    parts, count = [], 0
    for batch in _batches(trace, chosen):
        runs, lanes, ordered = _order_batch(trace, lane_queues(trace, batch))
        rows[count : count + len(batch)] = ordered
        count += len(batch)
        parts.append((runs, lanes))
    lanes = np.concatenate([each for _, each in parts])
    listed = np.ones(len(lanes), bool)
    return OrderedRequests(_joined(*(runs for runs, _ in parts)), lanes, offsets(lanes)[:-1], listed, rows)


def _joined(*parts: Runs) -> Runs:
    return Runs(*(np.concatenate([getattr(part, name) for part in parts]) for name in Runs.__struct_fields__))


def _order_matrices(trace: Trace, matrices: AccessMatrices) -> OrderedRequests:
    length, none = matrices.length, np.zeros(len(matrices.begin), np.int64)
    step = trace.steps_of(matrices.begin + (matrices.lanes - 1) * length)
    runs = Runs(matrices.block_position, matrices.warp, matrices.phase, length, none, step)
    rows: NDArray[np.signedinteger[Any]] = np.empty(0, index_dtype(len(trace)))
    return OrderedRequests(runs, matrices.lanes, matrices.begin, none.astype(bool), rows, matrices)


def _merge(trace: Trace, regular: OrderedRequests, others: OrderedRequests) -> OrderedRequests:
    """Merge both sets of requests; no phase of a warp is in both."""
    runs = _joined(regular.runs, others.runs)
    turn = (runs.block_position * trace.warps + runs.warp) * (int(runs.phase.max()) + 1) + runs.phase
    order = stable_order(turn)
    lanes, first, listed = (
        np.concatenate([getattr(part, name) for part in (regular, others)])[order]
        for name in ("lanes", "first", "listed")
    )
    in_order = Runs(*(getattr(runs, name)[order] for name in Runs.__struct_fields__))
    return OrderedRequests(in_order, lanes, first, listed, others.rows, regular.matrices)


def _batches(trace: Trace, chosen: Ints) -> list[Ints]:
    """Split the chosen rows, ascending, by complete blocks, about BATCH rows in each part."""
    block = trace.block if len(chosen) == len(trace) else trace.block[chosen]
    ordered = ascends(block)  # as where blocks run one after the other
    order = np.arange(len(chosen)) if ordered else stable_order(block)
    rows = chosen[order]
    blocks = group_starts(block if ordered else block[order])
    return np.split(rows, blocks[group_starts(blocks // BATCH)][1:])


def _order_batch(trace: Trace, queues: LaneQueues) -> tuple[Runs, Ints, Ints]:
    """Return the requests of these queues in order, the number of accesses of each, and these accesses."""
    slot = issue_slots(trace, queues)
    slots = np.zeros(len(queues.block_position), np.int64)
    np.maximum.at(slots, queues.group, slot + 1)
    number = offsets(slots)[queues.group] + slot
    group = np.repeat(np.arange(len(slots)), slots)
    position, step = np.zeros((2, len(group)), np.int64)
    np.maximum.at(position, number, queues.position)
    np.maximum.at(step, number, trace.steps_of(queues.order))
    columns = (queues.block_position[group], queues.warp[group], queues.phase[group])
    runs = Runs(*columns, np.ones_like(group), position, step)
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
    """Sort rows, which are in the order of their steps in each block, into the queues of lanes."""
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

    Accesses of one (group, site, round, visit) are one request; see `_turn_cells` for an explicit order. Requests are
    ordered by round, then by the largest position of their lanes in it (STEPPED: by their largest step). If that would
    show a lane's later access before an earlier one, which only diverged lanes can cause, `_issue` orders the group.
    """
    cell = _cells(trace, queues)
    stepped = trace.schedule.startswith(STEPPED)
    rounds = None if trace.round is None else trace.round[queues.order].astype(np.int64)
    time = queues.position
    if stepped:
        time, rounds = trace.steps_of(queues.order), None
    elif rounds is not None:
        time = positions_in_group(group_starts(queues.group, queues.lane, rounds), len(rounds))
    first = _first_of(cell)
    rank = _ranks(cell, first, time, queues, rounds)
    slot = rank[cell] - offsets(np.bincount(queues.group[first]))[queues.group]
    wrong = _out_of_order(slot, queues)
    if wrong.any():
        affected = wrong[queues.group]
        slot[affected] = _issue(rank[cell[affected]], queues.group[affected], queues.lane[affected])
    return slot


def _cells(trace: Trace, queues: LaneQueues) -> Ints:
    """Number the request of each access (in queue order), without gaps."""
    if trace.schedule == "order":
        return _turn_cells(trace, queues)
    site = trace.site[queues.order].astype(np.int64)
    turn = queues.group
    if trace.round is not None:
        rounds = trace.round[queues.order].astype(np.int64)
        turn = np.unique(turn * (int(rounds.max(initial=0)) + 1) + rounds, return_inverse=True)[1]
    by_site = _order_by_site(site, turn, trace)
    visit = np.empty_like(site)
    visit[by_site] = positions_in_group(
        group_starts(site[by_site], turn[by_site], queues.lane[by_site]), len(site)
    )
    operation = (trace.buffer[queues.order].astype(np.int64) << 2) | trace.op[queues.order]
    if _is_function_of(site, operation):
        return _number_visits(site, by_site, visit, turn)
    variant = np.unique(site << 32 | operation, return_inverse=True)[1]
    return _number_visits(variant, _order_by_site(variant, turn, trace), visit, turn)


def _order_by_site(site: Ints, turn: Ints, trace: Trace) -> Ints:
    """Sort accesses (in queue order) by site, then by group and round; those of a lane keep their order."""
    return stable_order(site) if trace.round is None else np.lexsort((turn, site))


def _turn_cells(trace: Trace, queues: LaneQueues) -> Ints:
    """Number the requests of an explicit order: adjacent turns of a warp's lanes at one site, within one segment."""
    steps = trace.steps_of(queues.order)
    by_step = np.lexsort((steps, queues.group))
    rows, lane = queues.order[by_step], queues.lane[by_step]
    columns = (queues.group[by_step], trace.site[rows], trace.buffer[rows], trace.op[rows])
    is_first = np.zeros(len(rows), bool)
    is_first[group_starts(*columns, trace.segments_of(steps[by_step]))] = True
    is_first[1:] |= lane[1:] <= lane[:-1]
    number = np.empty(len(rows), np.int64)
    number[by_step] = np.cumsum(is_first) - 1
    return number


def _is_function_of(site: Ints, operation: Ints) -> bool:
    """Check that every site makes one operation on one buffer."""
    table = np.zeros(int(site.max(initial=0)) + 1, np.int64)
    table[site] = operation
    return bool(np.array_equal(table[site], operation))


def _number_visits(site: Ints, by_site: Ints, visit: Ints, group: Ints) -> Ints:
    """Number each (site, group or round of it, visit) that occurs, from 0 on."""
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


def _ranks(cell: Ints, first: Ints, time: Ints, queues: LaneQueues, rounds: Ints | None) -> Ints:
    """Rank requests by group, round and latest time; ties by lowest lane and its position, in any schedule."""
    latest = np.zeros(len(first), np.int64)
    np.maximum.at(latest, cell, time)
    rank = np.empty_like(first)
    keys = [queues.position[first], queues.lane[first], latest]
    keys += [queues.group[first]] if rounds is None else [rounds[first], queues.group[first]]
    rank[np.lexsort(keys)] = np.arange(len(first))
    return rank


def _out_of_order(slot: Ints, queues: LaneQueues) -> NDArray[np.bool_]:
    """Test per group whether a lane has an access in a request no later than that of its previous access."""
    wrong = np.zeros(len(queues.block_position), bool)
    late = (queues.position[1:] > 0) & (slot[1:] <= slot[:-1])
    wrong[queues.group[1:][late]] = True
    return wrong


def _issue(rank: Ints, group: Ints, lane: Ints) -> Ints:
    """Return per access the slot in which it is issued, one request of each group per slot.

    Each lane is a queue. A request that is at the head of all its lanes is issued, of several the one of lowest rank
    (Kahn's topological sort). If every request waits for another (lane 0 does P, Q and lane 1 Q, P), the one of lowest
    rank is issued for the lanes that have it at the head; the rest stays a separate request.
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
    """Return the start and end of each (group, lane)'s queue, shape (groups, 32); equal for empty ones."""
    groups = group_starts(group)
    starts = group_starts(group, lane)
    row = group_numbers(groups, len(group))[starts]
    heads = np.zeros((len(groups), WARP), np.int64)
    ends = np.zeros_like(heads)
    heads[row, lane[starts]] = starts
    ends[row, lane[starts]] = np.append(starts[1:], len(group))
    return heads, ends
