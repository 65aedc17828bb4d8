"""Indices beyond an array: outside it, and below zero, from where they wrap to its end.

Outside a buffer is what compute-sanitizer's memcheck reports, and more exactly. An index from -n to -1 counts from
the end, on the GPU too, since Numba compiles Python's rule; below -n and from n up it is outside. A GPU checks nothing
and touches what lies there; here the access is not made.

To wrap is legal, and rarely meant. A trace holds the element that was touched. Where the source takes a number from
the last index (`a[i - 1]`), and of two neighbouring threads the first is at the end of a row and the second at its
beginning, the first one wrapped.
"""

from __future__ import annotations

import ast
from functools import lru_cache

import numpy as np

from ..analysis.kernel_structure import byte_column
from ..analysis.requests import Requests
from ..model.array_types import Ints
from ..model.finding import (
    Finding,
    access_element,
    block_text,
    coordinates_text,
    counted,
    element_text,
    line_text,
    thread_text,
)
from ..model.syntax_tree import syntax_tree
from ..model.trace import WARP, Buffer, Op, Site, Trace

VERBS = {Op.LOAD: ("read", "reads"), Op.STORE: ("write", "writes")}
REMEDY = "test the index against the array's shape before it is used"
REMEDY_BELOW = "let the first threads leave it out, as with `if i > 0`, unless that is meant"


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
    return Finding(
        "bounds", "error", message, REMEDY, count, (site,), np.empty(0, np.int64), (), ((block, thread),), moment
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


def wrapped_index_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """Return a note for each site at which threads below others wrap to the end of the array."""
    found = []
    for number, site in enumerate(trace.sites):
        taken = _taken(trace, site)
        rows = _wrapped(trace, requests, number, taken) if taken else np.empty(0, np.int64)
        if len(rows):
            found.append(_wrapped_finding(trace, requests, number, rows))
    return found


def _taken(trace: Trace, site: Site) -> int:
    """Return the whole number that a site's last index is lessened by; 0 where it is not."""
    source = trace.sources.get(site.file, "")
    return _lessened(source).get((site.line, byte_column(source, site)), 0)


@lru_cache(maxsize=16)
def _lessened(source: str) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for node in ast.walk(syntax_tree(source)):
        if isinstance(node, ast.Subscript) and not isinstance(node.value, ast.Subscript):
            last = (
                node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
            )
            if (
                isinstance(last, ast.BinOp)
                and isinstance(last.op, ast.Sub)
                and isinstance(last.right, ast.Constant)
            ):
                number = last.right.value
                found[node.lineno, node.col_offset] = number if isinstance(number, int) and number > 0 else 0
    return found


def _wrapped(trace: Trace, requests: Requests, site: int, taken: int) -> Ints:
    """Return the accesses of a site whose thread is at the end of a row, and the next in its warp at the beginning."""
    rows = np.flatnonzero(trace.site == site)
    if not len(rows) or not _is_plain(buffer := trace.buffers[int(trace.buffer[rows[0]])]):
        return np.empty(0, np.int64)
    rows = rows[trace.buffer[rows] == trace.buffer[rows[0]]]
    length, index = buffer.shape[-1], trace.index[rows].astype(np.int64)
    if not (index % length >= length - taken).any():
        return np.empty(0, np.int64)
    order = np.lexsort((trace.thread[rows], requests.request[rows]))
    rows, index = rows[order], index[order]
    thread, request = trace.thread[rows].astype(np.int64), requests.request[rows]
    beside = (
        (request[1:] == request[:-1])
        & (thread[1:] == thread[:-1] + 1)
        & (thread[1:] % trace.block_dim[0] > 0)
    )
    beside &= index[:-1] % length >= length - taken
    wrapped = np.append(beside & (index[1:] == index[:-1] + 1 - length), False)
    for _ in range(min(taken, WARP) - 1):  # those before one that wrapped did too
        wrapped[:-1] |= wrapped[1:] & beside & (index[1:] == index[:-1] + 1)
    found: Ints = np.sort(rows[wrapped])
    return found


def _is_plain(buffer: Buffer) -> bool:
    """Return whether the elements of a row of a buffer lie one behind the other, and rows too."""
    lengths = (*buffer.shape[1:], 1)
    steps = np.cumprod(lengths[::-1])[::-1] * buffer.unit
    return bool(buffer.shape) and tuple(steps.tolist()) == buffer.strides


def _wrapped_finding(trace: Trace, requests: Requests, site: int, rows: Ints) -> Finding:
    first, count = int(rows[0]), len(rows)
    name = trace.buffers[int(trace.buffer[first])].name
    deed = "read" if trace.op[first] == Op.LOAD else "write"
    message = (
        f"{counted(count, deed)} of {name} on {line_text(trace, site)} {'goes' if count == 1 else 'go'} below index 0 "
        f"and so {'wraps' if count == 1 else 'wrap'} to the other end, first {thread_text(trace, first, block=True)} "
        f"to {access_element(trace, first)}; {REMEDY_BELOW}."
    )
    thread = (int(trace.block[first]), int(trace.thread[first]))
    moment = int(requests.moment[requests.request[first]])
    return Finding("bounds", "note", message, REMEDY_BELOW, count, (site,), rows, (first,), (thread,), moment)
