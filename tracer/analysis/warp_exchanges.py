"""Warp operations in which lanes give values to each other: who takes part, who gives to whom, at which moment."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ..model.array_types import Ints
from ..model.grouping import group_starts, offsets, positions_in_group, stable_order
from ..model.trace import COMPARED, VOTED_NO, VOTED_YES, WARP, Trace
from .display_clock import highest_so_far, moments_of
from .request_order import OrderedRequests, Runs


class WarpExchanges(Struct, frozen=True, eq=False):
    """The shuffles, votes and matches of a launch: one is a warp that executes one site once.

    Columns of shape (exchanges,), ordered by (moment, block, warp), and `lane` and `part` of shape (lanes that took
    part,), of which those of exchange e are [start[e]:start[e + 1]], by lane.
    """

    block: Ints  # linear number in the grid
    warp: Ints  # number in the block
    phase: Ints  # barriers that its threads had passed
    site: Ints  # index in the trace's `sites`
    moment: Ints  # ascending
    start: Ints  # shape (exchanges + 1,)
    lane: Ints  # 0 to 31
    part: Ints  # see `Barriers.part`

    def __len__(self) -> int:
        return len(self.moment)

    def at(self, moment: int) -> range:
        """Return the exchanges of a moment."""
        first, last = np.searchsorted(self.moment, [moment, moment + 1])
        return range(int(first), int(last))

    def of(self, block: int, warp: int, moment: int) -> int:
        """Return the exchange that a warp makes at a moment, -1 for none."""
        now = self.at(moment)
        here = slice(now.start, now.stop)
        mine = np.flatnonzero((self.block[here] == block) & (self.warp[here] == warp))
        return int(mine[0]) + now.start if len(mine) else -1

    def givers(self, exchange: int) -> Ints:
        """Return per lane, shape (32,), the lane whose value it gets: itself where that did not come, -1 if absent.

        In a vote and in a match nobody gets one lane's value; there it is -1 for all.
        """
        lane, part = self.lanes(exchange)
        given = np.full(WARP, -1)
        if part[0] < VOTED_NO:
            asked = part - 1
            given[lane] = np.where(np.isin(asked, lane), asked, lane)
        return given

    def votes(self, exchange: int) -> NDArray[np.int8]:
        """Return per lane, shape (32,), 1 for yes, 0 for no, -1 where it does not vote."""
        lane, part = self.lanes(exchange)
        votes = np.full(WARP, -1, np.int8)
        votes[lane] = np.select([part == VOTED_YES, part == VOTED_NO], [1, 0], -1)
        return votes

    def lanes(self, exchange: int) -> tuple[Ints, Ints]:
        """Return the lanes that take part, and the part of each."""
        mine = slice(self.start[exchange], self.start[exchange + 1])
        return self.lane[mine], self.part[mine]

    def kind(self, exchange: int) -> str:
        """Return "shuffle", "vote" or "match"."""
        first = int(self.part[self.start[exchange]])
        return "match" if first == COMPARED else "vote" if first >= VOTED_NO else "shuffle"


def no_exchanges() -> WarpExchanges:
    """Return the exchanges of a launch without any."""
    none = np.empty(0, np.int64)
    return WarpExchanges(none, none, none, none, none, np.zeros(1, np.int64), none, none)


def timed(trace: Trace, ordered: OrderedRequests) -> tuple[Ints, WarpExchanges]:
    """Return the moment of each of these requests, and the exchanges with theirs: each has a moment of its own.

    An exchange comes after the requests that its lanes made before the last of them arrived.
    """
    found, came = _exchanges(trace)
    if not len(found):
        return moments_of(trace, ordered.runs), found
    position = np.searchsorted(trace.blocks, found.block)
    runs = ordered.singly(trace)
    merged, order = _merged(trace, runs, found, position, came)
    moment = np.empty(len(order), np.int64)
    moment[order] = moments_of(trace, merged)
    of_requests, when = np.split(moment, [len(runs.step)])
    return of_requests, _sorted(found, when)


def _exchanges(trace: Trace) -> tuple[WarpExchanges, Ints]:
    """Return the exchanges without moments, by block, warp, phase and arrival, and when the last lane of each came."""
    arrivals = trace.warp_barriers
    last = (
        int(trace.steps_of(np.array([len(trace) - 1]))[0]) + 1 if len(trace) else 0
    )  # what came after the last access that was kept is not shown
    rows = np.flatnonzero((arrivals.part > 0) & ((arrivals.step <= last) | (not trace.is_part)))
    if not len(rows):
        return no_exchanges(), rows
    block, phase, site = (c[rows].astype(np.int64) for c in (arrivals.block, arrivals.phase, arrivals.site))
    thread = arrivals.thread[rows].astype(np.int64)
    position, warp, lane = trace.block_positions(block), thread // WARP, thread % WARP
    own = (position * trace.threads + thread) * len(trace.sites) + site
    by_own = stable_order(own)
    visit = np.empty_like(own)
    visit[by_own] = positions_in_group(group_starts(own[by_own]), len(own))
    order = np.lexsort((lane, visit, site, warp, position))
    starts = group_starts(*(c[order] for c in (position, warp, site, visit)))
    sizes = np.diff(np.append(starts, len(order)))
    step = arrivals.step[rows][order].astype(np.int64)
    came, arrived = np.maximum.reduceat(step, starts), np.maximum.reduceat(rows[order], starts)
    head = order[starts]
    last_phase = np.maximum.reduceat(phase[order], starts)
    by_time = np.lexsort((arrived, last_phase, warp[head], block[head]))
    head, sizes = head[by_time], sizes[by_time]
    taken = order[_gathered(starts[by_time], sizes)]
    parts, none = arrivals.part[rows].astype(np.int64), np.zeros(len(starts), np.int64)
    found = WarpExchanges(
        block[head],
        warp[head],
        last_phase[by_time],
        site[head],
        none,
        offsets(sizes),
        lane[taken],
        parts[taken],
    )
    return found, came[by_time]


def _gathered(starts: Ints, sizes: Ints) -> Ints:
    """Return the positions of these groups, one group after the other."""
    first = offsets(sizes)
    return np.repeat(starts - first[:-1], sizes) + np.arange(first[-1])


def _merged(trace: Trace, runs: Runs, found: WarpExchanges, position: Ints, came: Ints) -> tuple[Runs, Ints]:
    """Return requests and exchanges together in the order of each warp, and which of (requests, exchanges) each is."""
    phases = int(max(runs.phase.max(), found.phase.max())) + 1
    code = (runs.block_position * trace.warps + runs.warp) * phases + runs.phase
    mine = (position * trace.warps + found.warp) * phases + found.phase
    span = int(max(runs.step.max(), came.max())) + 2
    # The steps of a warp's requests, made to rise along it: an exchange stands behind all that are before its step.
    risen = np.maximum.accumulate(code * span + runs.step)
    place = np.searchsorted(risen, mine * span + came)
    place = np.clip(place, np.searchsorted(code, mine), np.searchsorted(code, mine, "right"))
    key = np.concatenate([np.arange(len(code)) * 2 + 1, place * 2])
    order = stable_order(key)
    of_requests = runs.block_position, runs.warp, runs.phase, runs.step
    of_exchanges = position, found.warp, found.phase, came - 1
    both = [np.concatenate(pair)[order] for pair in zip(of_requests, of_exchanges, strict=True)]
    is_exchange = order >= len(code)
    highest = highest_so_far(runs)
    before = np.where(place > np.searchsorted(code, mine), highest[np.maximum(place - 1, 0)] + 1, 0)
    earlier: Ints = np.cumsum(is_exchange) - is_exchange
    segment = group_starts(*both[:3])
    earlier = earlier - np.repeat(earlier[segment], np.diff(np.append(segment, len(order))))
    at = np.concatenate([highest, before])[order] + earlier
    block_position, warp, phase, step = both
    return Runs(block_position, warp, phase, np.ones_like(at), at, step), order


def _sorted(found: WarpExchanges, moment: Ints) -> WarpExchanges:
    """Return exchanges with these moments, in their order."""
    order = np.lexsort((found.warp, found.block, moment))
    sizes = np.diff(found.start)[order]
    taken = _gathered(found.start[:-1][order], sizes)
    columns = {name: getattr(found, name)[order] for name in ("block", "warp", "phase", "site")}
    return replace(
        found,
        **columns,
        moment=moment[order],
        start=offsets(sizes),
        lane=found.lane[taken],
        part=found.part[taken],
    )
