"""Requests: what each warp asks of memory at once, and the moment at which it asks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import AnyInts, Ints
from ..model.grouping import offsets, stable_order
from ..model.trace import WARP, Op, Trace
from .display_clock import phase_counts
from .request_cost import CHUNK, costs_of
from .request_order import OrderedRequests, ordered_requests
from .request_order_fast import AccessMatrices, index_dtype
from .warp_exchanges import WarpExchanges, no_exchanges, timed

MANY = 1 << 14  # requests handled at once where that is simple: others want the lock of Python's threads, too

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


@dataclass(frozen=True, eq=False)
class Requests:
    """The requests of a trace, ordered by (moment, block, warp).

    A request is one warp executing one site once: accesses of one (block, warp, phase, site, visit), where
    the k-th visit of a site by each lane in a phase belongs together. Moments run from 1 to `end`; moment 0
    is before the first. At each moment a running warp makes at most one request. State "at moment m" includes
    every request with moment <= m.

    Columns have shape (requests,) where nothing else is said. Those of shape (accesses,) are of 32 bits where these
    suffice. That phase of that block is made of moments span_start < m <= span_end, which are equal where it made
    no access; both have shape (blocks in the order of trace.blocks, phases).
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
    order: NDArray[Any]  # accesses by request, then lane; those of request r are order[start[r]:start[r + 1]]
    start: NDArray[np.int64]  # shape (requests + 1,)
    span_start: NDArray[np.int64]  # the moment before the first of a phase
    span_end: NDArray[np.int64]  # the last moment of a phase
    end: int  # the last moment
    exchanges: WarpExchanges  # the shuffles and votes, each at a moment of its own

    def __len__(self) -> int:
        return len(self.moment)

    @cached_property
    def request(self) -> NDArray[Any]:
        """The request of each access of the trace, shape (accesses,)."""
        request = np.empty_like(self.order)
        for low in range(0, len(self), MANY):
            high = min(low + MANY, len(self))
            mine = self.order[self.start[low] : self.start[high]]
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
    start = offsets(ordered.lanes[by_moment])
    if ordered.matrices is None:
        order = _gathered(ordered, by_moment, start)
        costs = costs_of(trace, order, start)
    else:
        order = _from_matrices(ordered.matrices, by_moment, start)
        sectors, wavefronts = ordered.matrices.costs(trace)
        costs = sectors[by_moment], wavefronts[by_moment]
        del sectors, wavefronts
    moment = moment[by_moment]
    del ordered, by_moment  # of millions of requests these take as much memory as what is made of them
    return _filled(trace, moment, order, start, costs, exchanges)


def _gathered(ordered: OrderedRequests, by_moment: Ints, start: Ints) -> NDArray[Any]:
    """Return the accesses of requests in another order, by request, then lane."""
    moved = offsets(ordered.lanes)[by_moment] - start[:-1]
    order = np.empty(len(ordered.rows), ordered.rows.dtype)
    for low in range(0, len(by_moment), CHUNK):
        high = min(low + CHUNK, len(by_moment))
        away = np.repeat(moved[low:high], np.diff(start[low : high + 1]))
        order[start[low] : start[high]] = ordered.rows[np.arange(start[low], start[high]) + away]
    return order


def _from_matrices(matrices: AccessMatrices, by_moment: Ints, start: Ints) -> NDArray[Any]:
    """Return the same of a regular trace: of the lanes of a request each is a row of its matrix behind the other."""
    matrix, column = (c[by_moment] for c in matrices.requests())
    dtype = index_dtype(int(start[-1]))
    first, length = (matrices.begin[matrix] + column).astype(dtype), matrices.length[matrix].astype(dtype)
    order = np.empty(int(start[-1]), dtype)
    for low in range(0, len(by_moment), MANY):
        part = slice(low, min(low + MANY, len(by_moment)))
        mine, lanes = order[start[part.start] : start[part.stop]], np.diff(start[part.start : part.stop + 1])
        if lanes.min() == lanes.max():
            lane = np.arange(lanes[0], dtype=dtype)
            np.multiply(length[part, None], lane, out=mine.reshape(-1, len(lane)))
            mine.reshape(-1, len(lane))[...] += first[part, None]
        else:
            lane = np.arange(len(mine), dtype=dtype) - np.repeat(offsets(lanes)[:-1].astype(dtype), lanes)
            mine[:] = np.repeat(first[part], lanes) + lane * np.repeat(length[part], lanes)
    return order


def _filled(
    trace: Trace, moment: Ints, order: NDArray[Any], start: Ints, costs: tuple[Ints, Ints], exchanges: WarpExchanges
) -> Requests:  # fmt: skip
    """Return the requests with every column, from their order, moments and accesses."""
    head = order[start[:-1]]
    columns = (trace.block, trace.thread, trace.phase, trace.site, trace.buffer)
    block, thread, phase, site, buffer = (c[head].astype(np.int64) for c in columns)
    op = trace.op[head]
    kind = _kinds(trace)[buffer, op]
    spans = _spans(trace, *_together(exchanges, block, phase, moment))
    end = max(int(moment[-1]), int(exchanges.moment[-1]) if len(exchanges) else 0)
    return Requests(
        block, thread // WARP, phase, site, buffer, op, kind, moment, np.diff(start), *costs, order, start, *spans,
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
    found = [[_kind(b.space, op) for op in Op] for b in trace.buffers]
    return np.array(found, np.uint8).reshape(len(found), len(Op))


def _kind(space: str, op: Op) -> int:
    """Return the index in REQUEST_KINDS of what `op` does to memory of this space."""
    if op >= Op.ATOMIC:
        return REQUEST_KINDS.index("atomic")
    return REQUEST_KINDS.index("constant load" if space == "constant" else f"{space} {op.name.lower()}")


def _spans(trace: Trace, block: Ints, phase: Ints, moment: Ints) -> tuple[Ints, Ints]:
    """Return (span_start, span_end); a block that made no access gets the start of the block before."""
    block_position = np.searchsorted(trace.blocks, block)
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
    kind, start = none.astype(np.uint8), np.zeros(1, np.int64)
    return Requests(
        none, none, none, none, none, kind, kind, none, none, none, none, none, start,
        *_spans(trace, none, none, none), 0, no_exchanges(),
    )  # fmt: skip
