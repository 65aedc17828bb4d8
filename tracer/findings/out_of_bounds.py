"""Accesses outside an array, as compute-sanitizer's memcheck reports them, and more exactly.

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
    counted,
    element_text,
    line_text,
)
from ..model.trace import WARP, Buffer, Op, Trace
from .source.index_expressions import comes_from_data

VERBS = {Op.LOAD: ("read", "reads"), Op.STORE: ("write", "writes")}
REMEDY = "test the index against the array's shape before it is used"


def out_of_bounds_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """Return an error for each buffer and site that goes outside the buffer."""
    outside = trace.outside
    code = outside.buffer.astype(np.int64) * len(trace.sites) + outside.site
    moments = outside_moments(trace, requests)
    return [_outside_finding(trace, moments, np.flatnonzero(code == one)) for one in np.unique(code)]


def outside_moments(trace: Trace, requests: Requests) -> Ints:
    """Return the moment of each access outside its array, shape (accesses of trace.outside,).

    It is that of the request that the other lanes of its warp make there. Without one it is the moment after the
    warp's last request before, or the first one of its block.
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
        mine = order[starts[number] : ends[number]]
        moments[number] = _moment_of(trace, requests, mine, step, number)
    return np.minimum(moments, requests.end)


def _moment_of(trace: Trace, requests: Requests, mine: Ints, step: Ints, number: int) -> int:
    """Return the moment of an access outside its array; mine: the requests of its warp, by step."""
    outside = trace.outside
    at = int(outside.step[number])
    alike = (requests.site[mine] == outside.site[number]) & (requests.phase[mine] == outside.phase[number])
    same = mine[alike & (requests.buffer[mine] == outside.buffer[number])]
    if len(same):
        return int(requests.moment[same[np.abs(step[same] - at).argmin()]])
    before = mine[step[mine] < at]
    if len(before):
        return int(requests.moment[before[-1]]) + 1
    row = int(np.searchsorted(trace.blocks, outside.block[number]))
    return int(requests.span_start[row].min()) + 1


def _outside_finding(trace: Trace, moments: Ints, places: Ints) -> Finding:
    outside, first = trace.outside, int(places[0])
    block, thread, site = (int(c[first]) for c in (outside.block, outside.thread, outside.site))
    buffer, count = trace.buffers[int(outside.buffer[first])], len(places)
    touch = VERBS.get(Op(outside.op[first]), ("update", "updates"))
    who = f"thread {coordinates_text(thread, trace.block_dim)} of {block_text(trace, block)}"
    message = (
        f"{counted(count, 'access')} to {buffer.name} on {line_text(trace, site)} "
        f"{'is' if count == 1 else 'are'} outside it, first {who}, which {touch[1]} {outside.text[first]} where a "
        f"GPU would {touch[0]} {_reached(trace, buffer, int(outside.cell[first]))}; {REMEDY}."
    )
    # Whoever tests the indices that follow from a thread's number mends them all.
    of_data = comes_from_data(trace, trace.sites[site])
    return Finding(
        "bounds", "error", message, REMEDY, count, (site,), np.empty(0, np.int64), (), ((block, thread),),
        int(moments[first]), name=buffer.name, cause=f"{buffer.space} {'data' if of_data else 'thread'}",
    )  # fmt: skip


def _reached(trace: Trace, buffer: Buffer, cell: int) -> str:
    """Return what lies at an index that may be outside its buffer."""
    start, end = buffer.address + cell * buffer.unit, buffer.address + buffer.size * buffer.unit
    if buffer.address <= start < end:
        return f"{element_text(buffer, cell)} instead"
    other = _other(trace, buffer, start)
    if other is not None and buffer.space == "shared":
        return f"{element_text(other, (start - other.address) // other.unit)} instead"
    if start >= end:
        return (
            f"{counted(start - end, 'byte')} past its end" if start > end else "the bytes right after its end"
        )
    return f"{counted(buffer.address - start, 'byte')} before its start"


def _other(trace: Trace, buffer: Buffer, address: int) -> Buffer | None:
    """Return the buffer in which an address of the same space lies."""
    for other in trace.buffers:
        if other.space == buffer.space and other.address <= address < other.address + other.size * other.unit:
            return other
    return None
