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
from ..model.trace import Buffer, Op, Trace
from .source.index_expressions import comes_from_data

VERBS = {Op.LOAD: ("read", "reads"), Op.STORE: ("write", "writes")}
REMEDY = "test the index against the array's shape before it is used"


def out_of_bounds_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """Return an error for each buffer and site that goes outside the buffer."""
    outside = trace.outside
    code = outside.buffer.astype(np.int64) * len(trace.sites) + outside.site
    return [_outside_finding(trace, requests, np.flatnonzero(code == one)) for one in np.unique(code)]


def _outside_finding(trace: Trace, requests: Requests, places: Ints) -> Finding:
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
    rows = _nearby(trace, block, thread, int(outside.step[first]))
    moment = int(requests.moment[requests.request[rows[-1]]]) if len(rows) else 0
    # Whoever tests the indices that follow from a thread's number mends them all.
    of_data = comes_from_data(trace, trace.sites[site])
    return Finding(
        "bounds", "error", message, REMEDY, count, (site,), np.empty(0, np.int64), (), ((block, thread),), moment,
        name=buffer.name, cause=f"{buffer.space} {'data' if of_data else 'thread'}",
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


def _nearby(trace: Trace, block: int, thread: int, step: int) -> Ints:
    """Return the accesses that the thread made before this step, or else the block's first, if there is one."""
    own = trace.block == block
    mine = np.flatnonzero(own & (trace.thread == thread) & (trace.step < step))
    return mine if len(mine) else np.flatnonzero(own)[:1]
