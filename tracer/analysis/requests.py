"""Requests: what each warp asks of memory at once, and the moment at which it asks."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.array_types import AnyInts, Ints
from ..model.grouping import offsets, stable_order
from ..model.trace import WARP, Op, Trace
from .display_clock import phase_counts
from .request_accesses import MANY, RequestAccesses
from .request_cost import costs_of
from .request_order import OrderedRequests, ordered_requests
from .warp_exchanges import WarpExchanges, no_exchanges, timed

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
    moment, exchanges = timed(trace, ordered)
    by_moment = stable_order(moment)
    accesses = _accesses(ordered, by_moment)
    costs = _costs(trace, ordered, by_moment)
    moment = moment[by_moment]
    del ordered, by_moment  # of millions of requests these take as much memory as what is made of them
    return _filled(trace, moment, accesses, costs, exchanges)


def _accesses(ordered: OrderedRequests, by_moment: Ints) -> RequestAccesses:
    """Return the accesses of requests in another order."""
    dtype = ordered.rows.dtype
    first, apart = np.zeros(len(by_moment), dtype), np.ones(len(by_moment), dtype)
    listed = np.ones(len(by_moment), bool) if ordered.regular is None else ~ordered.regular
    if ordered.matrices is not None:
        matrix, column = ordered.matrices.requests()
        first[~listed], apart[~listed] = (
            ordered.matrices.begin[matrix] + column,
            ordered.matrices.length[matrix],
        )
    first[listed] = offsets(ordered.lanes[listed])[:-1]
    return RequestAccesses(
        first[by_moment], apart[by_moment], ordered.lanes[by_moment], listed[by_moment], ordered.rows
    )


def _costs(trace: Trace, ordered: OrderedRequests, by_moment: Ints) -> tuple[Ints, Ints]:
    """Return (sectors, wavefronts) of requests in another order."""
    if ordered.matrices is None or ordered.regular is None:
        found = costs_of(trace, ordered.rows, offsets(ordered.lanes))
    elif ordered.regular.all():
        found = ordered.matrices.costs(trace)
    else:
        irregular = ~ordered.regular
        both = np.empty((2, len(by_moment)), np.int64)
        both[:, ordered.regular] = ordered.matrices.costs(trace)
        both[:, irregular] = costs_of(trace, ordered.rows, offsets(ordered.lanes[irregular]))
        found = both[0], both[1]
    return found[0][by_moment], found[1][by_moment]


def _filled(
    trace: Trace, moment: Ints, accesses: RequestAccesses, costs: tuple[Ints, Ints], exchanges: WarpExchanges
) -> Requests:  # fmt: skip
    """Return the requests with every column, from their moments and accesses."""
    head = accesses.heads()
    columns = (trace.block, trace.thread, trace.phase, trace.site, trace.buffer)
    block, thread, phase, site, buffer = (c[head].astype(np.int64) for c in columns)
    op = trace.op[head]
    kind = _kinds(trace)[buffer, op]
    spans = _spans(trace, *_together(exchanges, block, phase, moment))
    end = max(int(moment[-1]), int(exchanges.moment[-1]) if len(exchanges) else 0)
    return Requests(
        block, thread // WARP, phase, site, buffer, op, kind, moment, accesses.lanes, *costs, accesses, *spans,
        end, exchanges,
    )  # fmt: skip


def _together(exchanges: WarpExchanges, block: Ints, phase: Ints, moment: Ints) -> tuple[Ints, Ints, Ints]:
    """Return block, phase and moment of requests and exchanges, ascending by moment."""
    if not len(exchanges):
        return block, phase, moment
    moments = np.concatenate([moment, exchanges.moment])
    order = stable_order(moments)
    pairs = ((block, exchanges.block), (phase, exchanges.phase))
    blocks, phases = (np.concatenate(pair)[order] for pair in pairs)
    return blocks, phases, moments[order]


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


def _spans(trace: Trace, block: Ints, phase: Ints, moment: Ints) -> tuple[Ints, Ints]:
    """Return (span_start, span_end); a block that made no access gets the start of the block before."""
    block_position = trace.block_positions(block)
    shape = (len(trace.blocks), int(phase_counts(trace, block_position, phase).max(initial=1)))
    end = np.zeros(shape, np.int64)
    begin = np.full(shape[0], -1)
    np.maximum.at(end, (block_position, phase), moment)
    begin[block_position[::-1]] = moment[::-1] - 1
    filled = np.maximum.accumulate(np.where(begin >= 0, np.arange(len(begin)), 0))
    begin = np.maximum(begin[filled], 0)
    end = np.maximum.accumulate(np.maximum(end, begin[:, None]), axis=1)
    return np.column_stack([begin, end[:, :-1]]), end


def _nothing(trace: Trace) -> Requests:
    """Return the requests of a trace without accesses."""
    none = np.empty(0, np.int64)
    kind, accesses = none.astype(np.uint8), RequestAccesses(none, none, none, none.astype(bool), none)
    return Requests(
        none, none, none, none, none, kind, kind, none, none, none, none, accesses,
        *_spans(trace, none, none, none), 0, no_exchanges(),
    )  # fmt: skip
