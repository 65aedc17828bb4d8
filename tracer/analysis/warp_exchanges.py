"""Warp operations in which lanes exchange values: the participants, the givers, and the moment."""

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

    Columns of shape (exchanges,), ordered by (moment, block, warp), and `lane` and `part` of shape (participating
    lanes,), of which those of exchange e are [start[e]:start[e + 1]], by lane.
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

    def during(self, moment: int) -> range:
        """Return the exchanges of a moment."""
        first, last = np.searchsorted(self.moment, [moment, moment + 1])
        return range(int(first), int(last))

    def find(self, block: int, warp: int, moment: int) -> int:
        """Find the exchange that a warp makes at a moment, -1 for none."""
        now = self.during(moment)
        range_of_moment = slice(now.start, now.stop)
        matches = np.flatnonzero(
            (self.block[range_of_moment] == block) & (self.warp[range_of_moment] == warp)
        )
        return int(matches[0]) + now.start if len(matches) else -1

    def givers(self, exchange: int) -> Ints:
        """Return per lane, shape (32,), the lane whose value it gets: its own if the giver is absent, -1 if absent.

        A vote or a match has no givers: -1 for all.
        """
        lane, part = self.lanes(exchange)
        givers = np.full(WARP, -1)
        if part[0] < VOTED_NO:
            sources = part - 1
            givers[lane] = np.where(np.isin(sources, lane), sources, lane)
        return givers

    def votes(self, exchange: int) -> NDArray[np.int8]:
        """Return per lane, shape (32,), 1 for yes, 0 for no, -1 where it does not vote."""
        lane, part = self.lanes(exchange)
        votes = np.full(WARP, -1, np.int8)
        votes[lane] = np.select([part == VOTED_YES, part == VOTED_NO], [1, 0], -1)
        return votes

    def lanes(self, exchange: int) -> tuple[Ints, Ints]:
        """Return the participating lanes, and the part of each."""
        own = slice(self.start[exchange], self.start[exchange + 1])
        return self.lane[own], self.part[own]

    def kind(self, exchange: int) -> str:
        """Return "shuffle", "vote" or "match"."""
        first = int(self.part[self.start[exchange]])
        return "match" if first == COMPARED else "vote" if first >= VOTED_NO else "shuffle"


def no_exchanges() -> WarpExchanges:
    """Return the exchanges of a launch without any."""
    none = np.empty(0, np.int64)
    return WarpExchanges(none, none, none, none, none, np.zeros(1, np.int64), none, none)


def with_moments(trace: Trace, ordered: OrderedRequests) -> tuple[Ints, WarpExchanges]:
    """Compute the moment of each request, and the exchanges with their moments: each exchange has a separate one.

    An exchange comes after the requests that its lanes made before the last of them arrived.
    """
    exchanges, arrival = _exchanges(trace)
    if not len(exchanges):
        return moments_of(trace, ordered.runs), exchanges
    position = np.searchsorted(trace.blocks, exchanges.block)
    runs = ordered.singly(trace)
    merged, order = _merge(trace, runs, exchanges, position, arrival)
    moment = np.empty(len(order), np.int64)
    moment[order] = moments_of(trace, merged)
    request_moments, exchange_moments = np.split(moment, [len(runs.step)])
    return request_moments, _sort_by_moment(exchanges, exchange_moments)


def _exchanges(trace: Trace) -> tuple[WarpExchanges, Ints]:
    """Find the exchanges without moments, by block, warp, phase and arrival, and each one's last arrival (step)."""
    arrivals = trace.warp_barriers
    last = (
        int(trace.steps_of(np.array([len(trace) - 1]))[0]) + 1 if len(trace) else 0
    )  # later exchanges than the last kept access are not shown
    rows = np.flatnonzero((arrivals.part > 0) & ((arrivals.step <= last) | (not trace.is_part)))
    if not len(rows):
        return no_exchanges(), rows
    block, phase, site = (
        column[rows].astype(np.int64) for column in (arrivals.block, arrivals.phase, arrivals.site)
    )
    thread = arrivals.thread[rows].astype(np.int64)
    position, warp, lane = trace.block_positions(block), thread // WARP, thread % WARP
    key = (position * trace.threads + thread) * len(trace.sites) + site
    by_key = stable_order(key)
    visit = np.empty_like(key)
    visit[by_key] = positions_in_group(group_starts(key[by_key]), len(key))
    order = np.lexsort((lane, visit, site, warp, position))
    starts = group_starts(*(column[order] for column in (position, warp, site, visit)))
    sizes = np.diff(np.append(starts, len(order)))
    step = arrivals.step[rows][order].astype(np.int64)
    last_arrival, arrived = np.maximum.reduceat(step, starts), np.maximum.reduceat(rows[order], starts)
    head = order[starts]
    last_phase = np.maximum.reduceat(phase[order], starts)
    by_time = np.lexsort((arrived, last_phase, warp[head], block[head]))
    head, sizes = head[by_time], sizes[by_time]
    members = order[_group_positions(starts[by_time], sizes)]
    parts, none = arrivals.part[rows].astype(np.int64), np.zeros(len(starts), np.int64)
    exchanges = WarpExchanges(
        block[head],
        warp[head],
        last_phase[by_time],
        site[head],
        none,
        offsets(sizes),
        lane[members],
        parts[members],
    )
    return exchanges, last_arrival[by_time]


def _group_positions(starts: Ints, sizes: Ints) -> Ints:
    """List the positions in these groups, one group after the other."""
    first = offsets(sizes)
    return np.repeat(starts - first[:-1], sizes) + np.arange(first[-1])


def _merge(
    trace: Trace, runs: Runs, exchanges: WarpExchanges, position: Ints, arrival: Ints
) -> tuple[Runs, Ints]:
    """Merge requests and exchanges in the order of each warp, with the number of each in (requests, exchanges)."""
    phases = int(max(runs.phase.max(), exchanges.phase.max())) + 1
    code = (runs.block_position * trace.warps + runs.warp) * phases + runs.phase
    exchange_code = (position * trace.warps + exchanges.warp) * phases + exchanges.phase
    span = int(max(runs.step.max(), arrival.max())) + 2
    # The steps of a warp's requests, made ascending: an exchange follows all requests before its step.
    risen = np.maximum.accumulate(code * span + runs.step)
    insertion = np.searchsorted(risen, exchange_code * span + arrival)
    insertion = np.clip(
        insertion, np.searchsorted(code, exchange_code), np.searchsorted(code, exchange_code, "right")
    )
    key = np.concatenate([np.arange(len(code)) * 2 + 1, insertion * 2])
    order = stable_order(key)
    of_requests = runs.block_position, runs.warp, runs.phase, runs.step
    of_exchanges = position, exchanges.warp, exchanges.phase, arrival - 1
    columns = [np.concatenate(pair)[order] for pair in zip(of_requests, of_exchanges, strict=True)]
    is_exchange = order >= len(code)
    highest = highest_so_far(runs)
    before = np.where(
        insertion > np.searchsorted(code, exchange_code), highest[np.maximum(insertion - 1, 0)] + 1, 0
    )
    earlier: Ints = np.cumsum(is_exchange) - is_exchange
    segment = group_starts(*columns[:3])
    earlier = earlier - np.repeat(earlier[segment], np.diff(np.append(segment, len(order))))
    positions = np.concatenate([highest, before])[order] + earlier
    block_position, warp, phase, step = columns
    return Runs(block_position, warp, phase, np.ones_like(positions), positions, step), order


def _sort_by_moment(exchanges: WarpExchanges, moment: Ints) -> WarpExchanges:
    """Sort exchanges by these moments."""
    order = np.lexsort((exchanges.warp, exchanges.block, moment))
    sizes = np.diff(exchanges.start)[order]
    members = _group_positions(exchanges.start[:-1][order], sizes)
    columns = {name: getattr(exchanges, name)[order] for name in ("block", "warp", "phase", "site")}
    return replace(
        exchanges,
        **columns,
        moment=moment[order],
        start=offsets(sizes),
        lane=exchanges.lane[members],
        part=exchanges.part[members],
    )
