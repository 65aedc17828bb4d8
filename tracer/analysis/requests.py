"""Requests: the accesses that a warp makes at once, and the moment of each."""

from __future__ import annotations

from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.array_types import AnyInts, Ints
from ..model.grouping import offsets, stable_order
from ..model.trace import Op, Trace
from .background import in_background
from .display_clock import phase_counts
from .request_cost import costs_of
from .request_order import OrderedRequests, Runs, ordered_requests
from .warp_exchanges import WarpExchanges, no_exchanges, with_moments

MANY = 1 << 14  # requests processed at once in simple steps, so that other threads get the GIL
NEVER = np.iinfo(np.int64).max  # a moment
Kinds = NDArray[np.uint8]

# Kinds of requests, as drawn and counted: `Requests.kind` is an index of this tuple.
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
    """The accesses of requests, by request, then lane, as rows of the trace; computed where lanes did not diverge.

    Columns of shape (requests,): the first access, as a row of the trace or, of `listed` requests, as an index in
    `rows`; the distance from one lane to the next; and the number of lanes.
    """

    first: NDArray[Any]
    apart: NDArray[Any]
    lanes: Ints
    listed: NDArray[np.bool_]  # those whose accesses are in `rows`, consecutively
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

    def rows_of(self, chosen: slice | AnyInts) -> NDArray[Any]:
        """Return the accesses of the chosen requests, by request, then lane."""
        first, apart, lanes = self.first[chosen], self.apart[chosen], self.lanes[chosen]
        rows = _stepped(first, apart, lanes)
        if self._any_listed and (listed := self.listed[chosen]).any():
            positions = slice(None) if listed.all() else np.flatnonzero(np.repeat(listed, lanes))
            rows[positions] = self.rows[rows[positions]]
        return rows

    def all(self) -> NDArray[Any]:
        """Return the accesses of all requests, which may take as much memory as a column of the trace."""
        rows, count = np.empty(int(self.lanes.sum()), self.dtype), 0
        for low in range(0, len(self.first), MANY):
            part = self.rows_of(slice(low, low + MANY))
            rows[count : count + len(part)] = part
            count += len(part)
        return rows

    @cached_property
    def _any_listed(self) -> bool:
        return bool(self.listed.any())


class Requests(Struct, frozen=True, eq=False, dict=True):
    """The requests of a trace, ordered by (moment, block, warp).

    A request is one warp executing one site once: accesses of one (block, warp, phase, site, visit), where
    the k-th visit of a site by each lane in a phase belongs together. In an explicit order only adjacent turns of a
    segment do, so that each turn of a chosen thread is a request, and segments share no moment. Moments run from 1 to
    `end`; moment 0 is before the first. At each moment a running warp makes at most one request. State "at moment m"
    includes every request with moment <= m.

    Columns have shape (requests,) unless stated otherwise. A phase of a block lasts for the moments
    span_start < m <= span_end, which are equal if it made no access; both have shape (blocks in the order of
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
    sectors: NDArray[np.int64]  # of 32 bytes, 0 outside global memory; see `request_cost`
    wavefronts: NDArray[np.int64]  # 0 outside shared memory; see `request_cost`
    accesses: RequestAccesses  # those of each request
    span_start: NDArray[np.int64]  # the moment before the first of a phase
    span_end: NDArray[np.int64]  # the last moment of a phase
    end: int  # the last moment
    exchanges: WarpExchanges  # the shuffles and votes, each at a separate moment

    @cached_property
    def block_spans(self) -> tuple[Ints, Ints]:
        """Return the moment before the first of each block that ran, and its last one, shape (blocks,) each."""
        return self.span_start.min(1), self.span_end.max(1)

    def __len__(self) -> int:
        return len(self.moment)

    @cached_property
    def start(self) -> Ints:
        """The start of each request's accesses in `order`, and the end of the last, shape (requests + 1,)."""
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
            rows = self.accesses.rows_of(slice(low, high))
            request[rows] = np.repeat(np.arange(low, high, dtype=request.dtype), self.lanes[low:high])
        return request


def requests_of(trace: Trace) -> Requests:
    """Group the accesses of a trace into requests, a pure function of it.

    Accesses are grouped by (block, warp, phase, site, visit), and by buffer and op if one visit differs in
    these. A warp never shows a thread's later access before its earlier one. Moments follow the
    steps for a random schedule; for the others they are those of lockstep.
    """
    if not len(trace):
        return _no_requests(trace)
    ordered = ordered_requests(trace)
    costs = in_background(partial(_costs, trace, ordered), len(trace))
    moment, exchanges = with_moments(trace, ordered)
    spans = _spans(trace, *_merge_exchanges(trace, ordered.runs, moment, exchanges))
    by_moment = stable_order(moment)
    accesses, columns = _reorder(trace, ordered, by_moment)
    moment = moment[by_moment]  # replaced here, since each column of millions of requests takes much memory
    number, sectors, wavefronts = costs()
    number = number[by_moment]
    end = max(int(moment[-1]), int(exchanges.moment.max(initial=0)))
    return Requests(
        *columns, moment, accesses.lanes, sectors[number], wavefronts[number], accesses, *spans, end,
        exchanges,
    )  # fmt: skip


def _costs(trace: Trace, ordered: OrderedRequests) -> tuple[NDArray[np.int32], Ints, Ints]:
    """Return the index of each request's cost in the arrays of sectors and wavefronts."""
    listed = costs_of(trace, ordered.rows, offsets(ordered.lanes[ordered.listed]))
    count = len(listed[0])
    if ordered.matrices is None:
        return np.arange(count, dtype=np.int32), *listed
    index, sectors, wavefronts = ordered.matrices.costs(trace)
    if not count:
        return index, sectors, wavefronts
    is_listed = np.repeat(ordered.listed, ordered.runs.length)
    number = np.empty(len(is_listed), np.int32)
    number[~is_listed], number[is_listed] = index, np.arange(count) + len(sectors)
    return number, np.concatenate([sectors, listed[0]]), np.concatenate([wavefronts, listed[1]])


def _reorder(
    trace: Trace, ordered: OrderedRequests, order: Ints
) -> tuple[RequestAccesses, tuple[Ints, Ints, Ints, Ints, Ints, Kinds, Kinds]]:
    """Return the accesses of requests in another order, and the columns of each request from block to kind."""
    runs, dtype = ordered.runs, ordered.rows.dtype
    run = ordered.each()[order]
    before_first = (
        ordered.first - offsets(runs.length)[:-1]
    )  # of the trace's first request, extrapolated from this run
    first, apart = (before_first[run] + order).astype(dtype), runs.length.astype(dtype)[run]
    accesses = RequestAccesses(first, apart, ordered.lanes[run], ordered.listed[run], ordered.rows)
    head = accesses.heads()
    block, warp, phase = trace.blocks[runs.block_position][run], runs.warp[run], runs.phase[run]
    site, buffer = (column[head].astype(np.int64) for column in (trace.site, trace.buffer))
    op = trace.op[head]
    return accesses, (block, warp, phase, site, buffer, op, _kinds(trace)[buffer, op])


def _merge_exchanges(
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
    """Return the kind of the request that each access belongs to: an index in REQUEST_KINDS."""
    kinds: NDArray[np.uint8] = _kinds(trace)[trace.buffer[rows], trace.op[rows]]
    return kinds


def _kinds(trace: Trace) -> NDArray[np.uint8]:
    return _kinds_in(tuple(b.space for b in trace.buffers))


@lru_cache(maxsize=64)
def _kinds_in(spaces: tuple[str, ...]) -> NDArray[np.uint8]:
    """Return the kind of each operation on buffers in these spaces; callers must not change the array."""
    kinds = [[_kind(space, op) for op in Op] for space in spaces]
    return np.array(kinds, np.uint8).reshape(len(kinds), len(Op))


def _kind(space: str, op: Op) -> int:
    """Return the index in REQUEST_KINDS of an operation on memory of this space."""
    if op >= Op.ATOMIC:
        return REQUEST_KINDS.index("atomic")
    return REQUEST_KINDS.index("constant load" if space == "constant" else f"{space} {op.name.lower()}")


def _spans(trace: Trace, block_position: Ints, phase: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Compute (span_start, span_end); a block that made no access gets the start of the block before."""
    shape = (len(trace.blocks), int(phase_counts(trace, block_position, phase).max(initial=1)))
    end, begin = np.zeros(shape, np.int64), np.full(shape[0], NEVER)
    np.maximum.at(end, (block_position, phase), last)
    np.minimum.at(begin, block_position, first - 1)
    filled = np.maximum.accumulate(np.where(begin < NEVER, np.arange(len(begin)), 0))
    begin = np.where(begin[filled] < NEVER, begin[filled], 0)
    end = np.maximum.accumulate(np.maximum(end, begin[:, None]), axis=1)
    return np.column_stack([begin, end[:, :-1]]), end


def _stepped(first: NDArray[Any], stride: NDArray[Any], lanes: Ints) -> NDArray[Any]:
    """Return `lanes` numbers for each entry: the first one, then steps of `stride`."""
    if len(lanes) and (lanes == lanes[0]).all():
        rows: NDArray[Any] = np.multiply.outer(stride, np.arange(lanes[0], dtype=first.dtype))
        rows += first[:, None]
        return rows.ravel()
    begin = offsets(lanes)
    lane: NDArray[Any] = np.arange(begin[-1], dtype=first.dtype) - np.repeat(
        begin[:-1].astype(first.dtype), lanes
    )
    lane *= np.repeat(stride, lanes)
    lane += np.repeat(first, lanes)
    return lane


def _no_requests(trace: Trace) -> Requests:
    """Return the requests of a trace without accesses."""
    none = np.empty(0, np.int64)
    kind, accesses = none.astype(np.uint8), RequestAccesses(none, none, none, none.astype(bool), none)
    return Requests(
        none, none, none, none, none, kind, kind, none, none, none, none, accesses,
        *_spans(trace, none, none, none, none), 0, no_exchanges(),
    )  # fmt: skip
