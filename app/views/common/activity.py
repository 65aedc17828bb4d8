"""The activity of one block, one warp and one thread during a launch, for several views."""

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
    """One block during the launch. Phase p spans the moments start[p] < m <= end[p]; it is empty if they are equal."""

    block: int  # linear number
    start: Ints  # (phases,), moments
    end: Ints  # (phases,), moments
    arrived: NDArray[np.bool_]  # (warps, phases), whether a warp reached the barrier that ends the phase
    barrier: Ints  # (phases,), the site of that barrier, -1 for none
    present: bool  # whether the trace holds accesses of the block

    @property
    def phases(self) -> int:
        """The number of the block's phases."""
        return len(self.start)

    @property
    def span(self) -> tuple[int, int]:
        """The block's first and last moment; (0, 0) for a block that the trace does not hold."""
        return (int(self.start[0]) + 1, int(self.end[-1])) if self.present else (0, 0)

    def phase_at(self, moment: float) -> int:
        """Return the block's phase: the first before the block starts, the last after it ends."""
        return min(int(np.searchsorted(self.end, int(moment))), self.phases - 1)


MOST_KEPT = 64  # blocks of a session
_CACHE: WeakKeyDictionary[Session, OrderedDict[int, BlockActivity]] = WeakKeyDictionary()


class WarpActivity(Struct, frozen=True, eq=False):
    """One warp during the launch: its requests in the order of their moments."""

    warp: int  # number in its block
    requests: Ints  # (n,), numbers of its requests, ascending by moment
    moments: Ints  # (n,), when each is made


class WarpStatus(Struct, frozen=True):
    """The activity of a warp at a moment."""

    state: WarpState  # before its first request, at one, exchanging, waiting at a barrier, between two, after its last
    phase: int  # of the request, else of the block
    request: int = -1  # its request then, -1 for none
    site: int = -1  # the line in the source, -1 for none


def block_activity(session: Session, block: int) -> BlockActivity:
    """Compute the activity of a block (linear number); the most recently used blocks are cached."""
    kept = _CACHE.setdefault(session, OrderedDict())
    if block not in kept:
        kept[block] = _compute_activity(session, block)
        while len(kept) > MOST_KEPT:
            kept.popitem(last=False)
    kept.move_to_end(block)
    return kept[block]


def _compute_activity(session: Session, block: int) -> BlockActivity:
    trace, requests = session.trace, session.requests
    row = int(np.searchsorted(trace.blocks, block))
    if row >= len(trace.blocks) or trace.blocks[row] != block:
        zero = np.zeros(1, np.int64)
        return BlockActivity(block, zero, zero, np.zeros((trace.warps, 1), bool), zero - 1, False)
    arrived, barrier = _find_arrivals(trace, block, requests.span_end.shape[1])
    phases = len(barrier)
    end = np.maximum.accumulate(requests.span_end[row, :phases])
    start = np.where(requests.span_start[row, :phases] < end, requests.span_start[row, :phases], end)
    start[1:] = np.maximum(start[1:], end[:-1])
    return BlockActivity(block, start, end, arrived, barrier, bool(end[-1] > start[0]))


def _find_arrivals(trace: Trace, block: int, phases: int) -> tuple[NDArray[np.bool_], Ints]:
    """List the warps (rows) that reached the barrier at the end of each phase, and the barriers' sites."""
    barriers, in_block = trace.barriers, trace.barriers.block == block
    is_only_block = bool(in_block.all())  # the columns of a launch with one block need no copies
    columns = (barriers.thread, barriers.phase, barriers.site)
    thread, phase, barrier_site = (column if is_only_block else column[in_block] for column in columns)
    reached = int(phase.max()) + 2 if len(phase) else 1
    count = min(reached, phases)
    kept = slice(None) if reached == count else phase < count
    arrived, sites = np.zeros((trace.warps, count), bool), np.full(count, -1, np.int64)
    arrived[thread[kept] // WARP, phase[kept]] = True
    sites[phase[kept]] = barrier_site[kept]
    return arrived, sites


def warp_activity(requests: Requests, block: int, warp: int) -> WarpActivity:
    """Find the requests of a warp of a block."""
    own = np.flatnonzero((requests.block == block) & (requests.warp == warp))
    return WarpActivity(warp, own, requests.moment[own])


def warp_status(block: BlockActivity, warp: WarpActivity, requests: Requests, moment: float) -> WarpStatus:
    """Compute the activity of the warp at a moment."""
    now, phase = int(moment), block.phase_at(moment)
    last = int(np.searchsorted(warp.moments, now, "right")) - 1
    if not block.present:
        return WarpStatus("absent", phase)
    if last >= 0 and warp.moments[last] == now:
        request = int(warp.requests[last])
        return WarpStatus("request", int(requests.phase[request]), request, int(requests.site[request]))
    exchange = requests.exchanges.find(block.block, warp.warp, now)
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
    rows: Ints = requests.accesses.rows_of(chosen)
    return rows


def thread_accesses(session: Session, warp: WarpActivity, thread: int) -> tuple[Ints, Ints]:
    """Return the accesses of a thread of that warp (rows of the trace) in order, and their moments."""
    requests = session.requests
    rows = accesses_of(requests, warp.requests)
    moment = np.repeat(requests.moment[warp.requests], requests.lanes[warp.requests])
    own = session.trace.thread[rows] == thread
    return rows[own], moment[own]
