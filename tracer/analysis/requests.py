"""Requests: what each warp asks of memory at once, and the moment at which it asks."""

from __future__ import annotations

from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.array_types import AnyInts, Ints
from ..model.grouping import offsets, stable_order
from ..model.trace import Op, Trace
from .beside import begun
from .display_clock import phase_counts
from .request_cost import costs_of
from .request_order import OrderedRequests, Runs, ordered_requests
from .warp_exchanges import WarpExchanges, no_exchanges, timed

MANY = 1 << 14  # requests handled at once where that is simple: others want the lock of Python's threads, too
NEVER = np.iinfo(np.int64).max  # a moment
Kinds = NDArray[np.uint8]

# What a request is, as drawn and counted everywhere: `Requests.kind` is an index of this tuple.
REQUEST_KINDS = (
    "global load",
    "global store",
    "shared load",
    "shared store",
    "atomic",
    "local load",
    "local store",
    "constant load",
)


class RequestAccesses(Struct, frozen=True, eq=False, dict=True):
    """The accesses of requests, by request, then lane, as rows of the trace: they take no memory where lanes did alike.

    Columns of shape (requests,): where the first access is, in the trace or, of requests that are `listed`, in `rows`,
    and how far from one lane to the next; lanes: how many there are.
    """

    first: NDArray[Any]
    apart: NDArray[Any]
    lanes: Ints
    listed: NDArray[np.bool_]  # those whose accesses stand in `rows`, one behind the other
    rows: NDArray[Any]  # of the trace

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the rows that are returned."""
        return self.rows.dtype

    def heads(self) -> NDArray[Any]:
        """Return the first access of each request."""
        heads = self.first.copy()
        heads[self.listed] = self.rows[heads[self.listed]]
        return heads

    def of(self, some: slice | AnyInts) -> NDArray[Any]:
        """Return the accesses of some requests, by request, then lane."""
        first, apart, lanes = self.first[some], self.apart[some], self.lanes[some]
        made = _stepped(first, apart, lanes)
        if self._some_listed and (listed := self.listed[some]).any():
            places = slice(None) if listed.all() else np.flatnonzero(np.repeat(listed, lanes))
            made[places] = self.rows[made[places]]
        return made

    def all(self) -> NDArray[Any]:
        """Return the accesses of all requests: of many that takes as much memory as a column of the trace."""
        every, done = np.empty(int(self.lanes.sum()), self.dtype), 0
        for low in range(0, len(self.first), MANY):
            part = self.of(slice(low, low + MANY))
            every[done : done + len(part)] = part
            done += len(part)
        return every

    @cached_property
    def _some_listed(self) -> bool:
        return bool(self.listed.any())


class Requests(Struct, frozen=True, eq=False, dict=True):
    """The requests of a trace, ordered by (moment, block, warp).

    A request is one warp executing one site once: accesses of one (block, warp, phase, site, visit), where
    the k-th visit of a site by each lane in a phase belongs together. Moments run from 1 to `end`; moment 0
    is before the first. At each moment a running warp makes at most one request. State "at moment m" includes
    every request with moment <= m.

    Columns have shape (requests,) where nothing else is said. That phase of that block is made of moments
    span_start < m <= span_end, which are equal where it made no access; both have shape (blocks in the order of
    trace.blocks, phases).
    """

    block: NDArray[np.int64]  # linear number in the grid
    warp: NDArray[np.int64]  # number in the block
    phase: NDArray[np.int64]  # barriers that its threads had passed
    site: NDArray[np.int64]  # index in the trace's `sites`
    buffer: NDArray[np.int64]  # index in the trace's `buffers`
    op: NDArray[np.uint8]  # an `Op`
    kind: NDArray[np.uint8]  # index in REQUEST_KINDS
    moment: NDArray[np.int64]  # ascending
    lanes: NDArray[np.int64]  # active ones, 1 to 32
    sectors: NDArray[np.int64]  # of 32 bytes that it takes, 0 outside global memory; see `request_cost`
    wavefronts: NDArray[np.int64]  # that it takes, 0 outside shared memory; see `request_cost`
    accesses: RequestAccesses  # those of each request
    span_start: NDArray[np.int64]  # the moment before the first of a phase
    span_end: NDArray[np.int64]  # the last moment of a phase
    end: int  # the last moment
    exchanges: WarpExchanges  # the shuffles and votes, each at a moment of its own

    @cached_property
    def block_spans(self) -> tuple[Ints, Ints]:
        """Return the moment before the first of each block that ran, and its last one, shape (blocks,) each."""
        return self.span_start.min(1), self.span_end.max(1)

    def __len__(self) -> int:
        return len(self.moment)

    @cached_property
    def start(self) -> Ints:
        """Where the accesses of each request begin in `order`, and the last ones end, shape (requests + 1,)."""
        return offsets(self.lanes)

    @cached_property
    def order(self) -> NDArray[Any]:
        """The accesses by request, then lane, shape (accesses,): as much memory as a column of the trace."""
        return self.accesses.all()

    @cached_property
    def request(self) -> NDArray[Any]:
        """The request of each access of the trace, shape (accesses,)."""
        request = np.empty(int(self.lanes.sum()), self.accesses.dtype)
        for low in range(0, len(self), MANY):
            high = min(low + MANY, len(self))
            mine = self.accesses.of(slice(low, high))
            request[mine] = np.repeat(np.arange(low, high, dtype=request.dtype), self.lanes[low:high])
        return request


def requests_of(trace: Trace) -> Requests:
    """Return the requests of a trace, a pure function of it.

    Accesses are grouped by (block, warp, phase, site, visit), and by buffer and op should one visit differ in
    these. A warp never shows a thread's later access before its earlier one. Moments follow the
    steps for a random schedule; for the others they are those of lockstep.
    """
    if not len(trace):
        return _nothing(trace)
    ordered = ordered_requests(trace)
    costs = begun(partial(_costs, trace, ordered), len(trace))
    moment, exchanges = timed(trace, ordered)
    spans = _spans(trace, *_together(trace, ordered.runs, moment, exchanges))
    by_moment = stable_order(moment)
    accesses, columns = _placed(trace, ordered, by_moment)
    moment = moment[by_moment]  # of millions of requests each column takes much memory
    number, sectors, wavefronts = costs()
    number = number[by_moment]
    end = max(int(moment[-1]), int(exchanges.moment.max(initial=0)))
    return Requests(
        *columns, moment, accesses.lanes, sectors[number], wavefronts[number], accesses, *spans, end,
        exchanges,
    )  # fmt: skip


def _costs(trace: Trace, ordered: OrderedRequests) -> tuple[NDArray[np.int32], Ints, Ints]:
    """Return where the costs of each request stand among these sectors and wavefronts."""
    listed = costs_of(trace, ordered.rows, offsets(ordered.lanes[ordered.listed]))
    count = len(listed[0])
    if ordered.matrices is None:
        return np.arange(count, dtype=np.int32), *listed
    place, sectors, wavefronts = ordered.matrices.costs(trace)
    if not count:
        return place, sectors, wavefronts
    is_listed = np.repeat(ordered.listed, ordered.runs.length)
    number = np.empty(len(is_listed), np.int32)
    number[~is_listed], number[is_listed] = place, np.arange(count) + len(sectors)
    return number, np.concatenate([sectors, listed[0]]), np.concatenate([wavefronts, listed[1]])


def _placed(
    trace: Trace, ordered: OrderedRequests, order: Ints
) -> tuple[RequestAccesses, tuple[Ints, Ints, Ints, Ints, Ints, Kinds, Kinds]]:
    """Return the accesses of requests in another order, and of each what it is: the columns from block to kind."""
    runs, dtype = ordered.runs, ordered.rows.dtype
    run = ordered.each()[order]
    before_first = (
        ordered.first - offsets(runs.length)[:-1]
    )  # where the first of all would be, were it of this run
    first, apart = (before_first[run] + order).astype(dtype), runs.length.astype(dtype)[run]
    accesses = RequestAccesses(first, apart, ordered.lanes[run], ordered.listed[run], ordered.rows)
    head = accesses.heads()
    block, warp, phase = trace.blocks[runs.block_position][run], runs.warp[run], runs.phase[run]
    site, buffer = (column[head].astype(np.int64) for column in (trace.site, trace.buffer))
    op = trace.op[head]
    return accesses, (block, warp, phase, site, buffer, op, _kinds(trace)[buffer, op])


def _together(
    trace: Trace, runs: Runs, moment: Ints, exchanges: WarpExchanges
) -> tuple[Ints, Ints, Ints, Ints]:
    """Return block (its position), phase, first and last moment of runs and exchanges.

    moment: of the requests, run after run.
    """
    end = offsets(runs.length)
    of_runs = runs.block_position, runs.phase, moment[end[:-1]], moment[end[1:] - 1]
    if not len(exchanges):
        return of_runs
    of_exchanges = trace.block_positions(exchanges.block), exchanges.phase, exchanges.moment, exchanges.moment
    position, phase, first, last = map(np.concatenate, zip(of_runs, of_exchanges, strict=True))
    return position, phase, first, last


def kinds_of(trace: Trace, rows: AnyInts) -> NDArray[np.uint8]:
    """Return the kind of each of some accesses, which is that of their requests: an index in REQUEST_KINDS."""
    found: NDArray[np.uint8] = _kinds(trace)[trace.buffer[rows], trace.op[rows]]
    return found


def _kinds(trace: Trace) -> NDArray[np.uint8]:
    return _kinds_in(tuple(b.space for b in trace.buffers))


@lru_cache(maxsize=64)
def _kinds_in(spaces: tuple[str, ...]) -> NDArray[np.uint8]:
    """Return the kind of each operation on buffers in these spaces; nobody may change it."""
    found = [[_kind(space, op) for op in Op] for space in spaces]
    return np.array(found, np.uint8).reshape(len(found), len(Op))


def _kind(space: str, op: Op) -> int:
    """Return the index in REQUEST_KINDS of what `op` does to memory of this space."""
    if op >= Op.ATOMIC:
        return REQUEST_KINDS.index("atomic")
    return REQUEST_KINDS.index("constant load" if space == "constant" else f"{space} {op.name.lower()}")


def _spans(trace: Trace, block_position: Ints, phase: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return (span_start, span_end); a block that made no access gets the start of the block before."""
    shape = (len(trace.blocks), int(phase_counts(trace, block_position, phase).max(initial=1)))
    end, begin = np.zeros(shape, np.int64), np.full(shape[0], NEVER)
    np.maximum.at(end, (block_position, phase), last)
    np.minimum.at(begin, block_position, first - 1)
    filled = np.maximum.accumulate(np.where(begin < NEVER, np.arange(len(begin)), 0))
    begin = np.where(begin[filled] < NEVER, begin[filled], 0)
    end = np.maximum.accumulate(np.maximum(end, begin[:, None]), axis=1)
    return np.column_stack([begin, end[:, :-1]]), end


def _stepped(first: NDArray[Any], apart: NDArray[Any], lanes: Ints) -> NDArray[Any]:
    """Return for each entry as many numbers as it has lanes: the first one, and each so far from that before."""
    if len(lanes) and (lanes == lanes[0]).all():
        made: NDArray[Any] = np.multiply.outer(apart, np.arange(lanes[0], dtype=first.dtype))
        made += first[:, None]
        return made.ravel()
    begin = offsets(lanes)
    lane: NDArray[Any] = np.arange(begin[-1], dtype=first.dtype) - np.repeat(
        begin[:-1].astype(first.dtype), lanes
    )
    lane *= np.repeat(apart, lanes)
    lane += np.repeat(first, lanes)
    return lane


def _nothing(trace: Trace) -> Requests:
    """Return the requests of a trace without accesses."""
    none = np.empty(0, np.int64)
    kind, accesses = none.astype(np.uint8), RequestAccesses(none, none, none, none.astype(bool), none)
    return Requests(
        none, none, none, none, none, kind, kind, none, none, none, none, accesses,
        *_spans(trace, none, none, none, none), 0, no_exchanges(),
    )  # fmt: skip
