"""Accesses outside an array, as compute-sanitizer's memcheck reports them, with the exact element.

A negative index from -n to -1 counts from the end (see `wrapped_index`); below -n and from n up it is outside. A GPU
checks nothing and touches what lies there; here the access is not made.
"""

from __future__ import annotations

import numpy as np

from ..analysis.requests import Requests
from ..model.array_types import Ints
from ..model.finding import (
    Finding,
    block_text,
    coordinates_text,
    count_noun,
    element_text,
    first_sites_on_lines,
    line_text,
)
from ..model.trace import WARP, Buffer, Op, Trace
from .source.index_expressions import comes_from_data

VERBS = {Op.LOAD: ("read", "reads"), Op.STORE: ("write", "writes")}
REMEDY = "test the index against the array's shape before it is used"


def out_of_bounds_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """List an error for each line that goes outside a buffer, one for all indices that one test mends."""
    outside = trace.outside
    if not len(outside.site):
        return []
    moments, line = outside_moments(trace, requests), first_sites_on_lines(trace)
    # One test of the indices that follow from a thread's number mends them all.
    of_data = np.array([comes_from_data(trace, site) for site in trace.sites], bool)
    code = (outside.buffer.astype(np.int64) * len(trace.sites) + line[outside.site]) * 2 + of_data[
        outside.site
    ]
    return [
        _outside_finding(trace, moments, np.flatnonzero(code == value), of_data=bool(value % 2))
        for value in np.unique(code)
    ]


def outside_moments(trace: Trace, requests: Requests) -> Ints:
    """Compute the moment of each access outside its array, shape (accesses of trace.outside,).

    It is the moment of the request that the other lanes of its warp make there. If there is none, it is the moment
    after the warp's previous request, or the first moment of its block.
    """
    outside = trace.outside
    count = len(outside.block)
    moments = np.zeros(count, np.int64)
    if not count or not len(requests):
        return moments
    step = trace.steps_of(requests.accesses.heads())
    warp = outside.thread.astype(np.int64) // WARP
    block = outside.block.astype(np.int64)
    of_warp = requests.block * trace.warps + requests.warp
    order = np.lexsort((step, of_warp))
    starts, ends = (
        np.searchsorted(of_warp[order], block * trace.warps + warp, side) for side in ("left", "right")
    )
    for number in range(count):
        warp_requests = order[starts[number] : ends[number]]
        moments[number] = _moment_of(trace, requests, warp_requests, step, number)
    return np.minimum(moments, requests.end)


def _moment_of(trace: Trace, requests: Requests, warp_requests: Ints, step: Ints, number: int) -> int:
    """Compute the moment of an access outside its array; warp_requests: the requests of its warp, by step."""
    outside = trace.outside
    access_step = int(outside.step[number])
    alike = (requests.site[warp_requests] == outside.site[number]) & (
        requests.phase[warp_requests] == outside.phase[number]
    )
    same = warp_requests[alike & (requests.buffer[warp_requests] == outside.buffer[number])]
    if len(same):
        return int(requests.moment[same[np.abs(step[same] - access_step).argmin()]])
    before = warp_requests[step[warp_requests] < access_step]
    if len(before):
        return int(requests.moment[before[-1]]) + 1
    row = int(np.searchsorted(trace.blocks, outside.block[number]))
    return int(requests.span_start[row].min()) + 1


def _outside_finding(trace: Trace, moments: Ints, entries: Ints, *, of_data: bool) -> Finding:
    outside, first = trace.outside, int(entries[0])
    block, thread, site = (int(c[first]) for c in (outside.block, outside.thread, outside.site))
    buffer, count = trace.buffers[int(outside.buffer[first])], len(entries)
    touch = VERBS.get(Op(outside.op[first]), ("update", "updates"))
    thread_name = f"thread {coordinates_text(thread, trace.block_dim)} of {block_text(trace, block)}"
    message = (
        f"{count_noun(count, 'access')} to {buffer.name} on {line_text(trace, site)} "
        f"{'is' if count == 1 else 'are'} outside it, first {thread_name}, which {touch[1]} {outside.text[first]} "
        f"where a GPU would {touch[0]} {_reached_text(trace, buffer, int(outside.cell[first]))}; {REMEDY}."
    )
    sites = tuple(dict.fromkeys([site, *np.unique(outside.site[entries]).tolist()]))
    return Finding(
        "bounds", "error", message, REMEDY, count, sites, np.empty(0, np.int64), (), ((block, thread),),
        int(moments[first]), name=buffer.name, cause=f"{buffer.space} {'data' if of_data else 'thread'}",
    )  # fmt: skip


def _reached_text(trace: Trace, buffer: Buffer, cell: int) -> str:
    """Name the memory at an index that may be outside its buffer."""
    start, end = buffer.address + cell * buffer.unit, buffer.address + buffer.size * buffer.unit
    if buffer.address <= start < end:
        return f"{element_text(buffer, cell)} instead"
    other = _buffer_at(trace, buffer, start)
    if other is not None and buffer.space == "shared":
        return f"{element_text(other, (start - other.address) // other.unit)} instead"
    if start >= end:
        return (
            f"{count_noun(start - end, 'byte')} past its end"
            if start > end
            else "the bytes right after its end"
        )
    return f"{count_noun(buffer.address - start, 'byte')} before its start"


def _buffer_at(trace: Trace, buffer: Buffer, address: int) -> Buffer | None:
    """Find the buffer in which an address of the same space lies."""
    for other in trace.buffers:
        if other.space == buffer.space and other.address <= address < other.address + other.size * other.unit:
            return other
    return None
