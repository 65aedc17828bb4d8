"""What one block, one warp and one thread do over a launch: the look-ups that several views share."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ....tracer.analysis.requests import Requests
from ....tracer.model.array_types import Ints
from ....tracer.model.trace import WARP, Trace
from ...model.session import Session

WarpState = Literal["absent", "before", "request", "exchange", "waiting", "idle", "after"]


class BlockActivity(Struct, frozen=True, eq=False):
    """One block over the launch. Phase p is made of moments start[p] < m <= end[p] (none where equal)."""

    block: int  # linear number
    start: Ints  # (phases,), moments
    end: Ints  # (phases,), moments
    arrived: NDArray[np.bool_]  # (warps, phases), whether a warp reached the barrier that ends the phase
    barrier: Ints  # (phases,), the site of that barrier, -1 for none
    present: bool  # whether the trace holds accesses of the block

    @property
    def phases(self) -> int:
        """How many phases the block has."""
        return len(self.start)

    @property
    def span(self) -> tuple[int, int]:
        """The moments of the block, first and last; (0, 0) for a block that the trace doesn't hold."""
        return (int(self.start[0]) + 1, int(self.end[-1])) if self.present else (0, 0)

    def phase_at(self, moment: float) -> int:
        """Return the phase that the block is in, the first before it starts, the last when it is done."""
        return min(int(np.searchsorted(self.end, int(moment))), self.phases - 1)


MOST_KEPT = 64  # blocks of a session
_KEPT: WeakKeyDictionary[Session, OrderedDict[int, BlockActivity]] = WeakKeyDictionary()


class WarpActivity(Struct, frozen=True, eq=False):
    """One warp over the launch: its requests in the order of their moments."""

    warp: int  # number in its block
    requests: Ints  # (n,), numbers of its requests, ascending by moment
    moments: Ints  # (n,), when each is made


class WarpStatus(Struct, frozen=True):
    """What a warp does at a moment."""

    state: WarpState  # before its first request, at one, exchanging, waiting at a barrier, between two, after its last
    phase: int  # of the request, else of the block
    request: int = -1  # its request then, -1 for none
    site: int = -1  # the place in the source, -1 for none


def block_activity(session: Session, block: int) -> BlockActivity:
    """Return what a block (linear number) does; that of the blocks that were looked at last is kept."""
    kept = _KEPT.setdefault(session, OrderedDict())
    if block not in kept:
        kept[block] = _new_activity(session, block)
        while len(kept) > MOST_KEPT:
            kept.popitem(last=False)
    kept.move_to_end(block)
    return kept[block]


def _new_activity(session: Session, block: int) -> BlockActivity:
    trace, requests = session.trace, session.requests
    place = int(np.searchsorted(trace.blocks, block))
    if place >= len(trace.blocks) or trace.blocks[place] != block:
        none = np.zeros(1, np.int64)
        return BlockActivity(block, none, none, np.zeros((trace.warps, 1), bool), none - 1, False)
    arrived, barrier = _arrivals(trace, block, requests.span_end.shape[1])
    phases = len(barrier)
    end = np.maximum.accumulate(requests.span_end[place, :phases])
    start = np.where(requests.span_start[place, :phases] < end, requests.span_start[place, :phases], end)
    start[1:] = np.maximum(start[1:], end[:-1])
    return BlockActivity(block, start, end, arrived, barrier, bool(end[-1] > start[0]))


def _arrivals(trace: Trace, block: int, phases: int) -> tuple[NDArray[np.bool_], Ints]:
    """Return which warps (rows) reached the barrier at the end of each phase, and the barriers' sites."""
    barriers, here = trace.barriers, trace.barriers.block == block
    every = bool(here.all())  # as in a launch of one block: its columns need no copies
    columns = (barriers.thread, barriers.phase, barriers.site)
    thread, phase, made = (column if every else column[here] for column in columns)
    reached = int(phase.max()) + 2 if len(phase) else 1
    count = min(reached, phases)
    kept = slice(None) if reached == count else phase < count
    arrived, site = np.zeros((trace.warps, count), bool), np.full(count, -1, np.int64)
    arrived[thread[kept] // WARP, phase[kept]] = True
    site[phase[kept]] = made[kept]
    return arrived, site


def warp_activity(requests: Requests, block: int, warp: int) -> WarpActivity:
    """Return what a warp of a block does."""
    mine = np.flatnonzero((requests.block == block) & (requests.warp == warp))
    return WarpActivity(warp, mine, requests.moment[mine])


def warp_status(block: BlockActivity, warp: WarpActivity, requests: Requests, moment: float) -> WarpStatus:
    """Return what the warp does at a moment."""
    now, phase = int(moment), block.phase_at(moment)
    last = int(np.searchsorted(warp.moments, now, "right")) - 1
    if not block.present:
        return WarpStatus("absent", phase)
    if last >= 0 and warp.moments[last] == now:
        mine = int(warp.requests[last])
        return WarpStatus("request", int(requests.phase[mine]), mine, int(requests.site[mine]))
    exchange = requests.exchanges.of(block.block, warp.warp, now)
    if exchange >= 0:
        return WarpStatus("exchange", phase, site=int(requests.exchanges.site[exchange]))
    first, final = block.span
    if now < first:
        return WarpStatus("before", phase)
    done_phase = last + 1 == len(warp.moments) or requests.phase[warp.requests[last + 1]] > phase
    if now <= final and done_phase and block.arrived[warp.warp, phase]:
        return WarpStatus("waiting", phase, site=int(block.barrier[phase]))
    return WarpStatus("after" if last + 1 == len(warp.moments) else "idle", phase)


def accesses_of(requests: Requests, chosen: Ints) -> Ints:
    """Return the accesses (rows of the trace) of the chosen requests, request by request, lane by lane."""
    rows: Ints = requests.accesses.of(chosen)
    return rows


def thread_accesses(session: Session, warp: WarpActivity, thread: int) -> tuple[Ints, Ints]:
    """Return the accesses of a thread of that warp (rows of the trace) in order, and their moments."""
    requests = session.requests
    rows = accesses_of(requests, warp.requests)
    moment = np.repeat(requests.moment[warp.requests], requests.lanes[warp.requests])
    own = session.trace.thread[rows] == thread
    return rows[own], moment[own]
