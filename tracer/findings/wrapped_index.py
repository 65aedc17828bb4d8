"""Indices below zero, from -n to -1, which wrap to the end of their array: legal, but rarely intended.

Numba compiles Python's rule for the GPU too. A trace holds the element that was touched. Two signs show that an index
wrapped to it. The source subtracts a number from the last index (`a[i - 1]`), and of two neighbouring threads the
first is at the end of a row and the second at its beginning: the first one wrapped. Or the index is computed from
an element that the thread has loaded (`hist[x[i] - low]`), so it can be computed again.
"""

from __future__ import annotations

import ast

import numpy as np

from ..analysis.requests import Requests
from ..model.array_types import Ints
from ..model.finding import (
    Finding,
    access_element,
    count_noun,
    first_sites_on_lines,
    line_text,
    thread_text,
)
from ..model.trace import WARP, Buffer, Op, Site, Trace
from .source.index_expressions import comes_from_data, index_at
from .source.index_values import index_values

VERBS = {Op.LOAD: "read", Op.STORE: "write"}
REMEDY_BELOW = "skip it in the first threads, as with `if i > 0`, unless it is intended"
REMEDY_OF_DATA = "test it before, as with `if 0 <= k < n`, unless it is intended"


def wrapped_index_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """List a note for each line on which threads go below index 0 and wrap to the end of an array."""
    line = first_sites_on_lines(trace)
    groups: dict[tuple[int, int, int, bool], list[Ints]] = {}
    for number, site in enumerate(trace.sites):
        if _goes_outside_too(trace, site):
            continue  # one test of the index mends both
        from_data = comes_from_data(trace, site)
        rows = (
            _wrapped_by_data(trace, number) if from_data else _wrapped_at_edge(trace, requests, number, site)
        )
        if len(rows):
            key = (int(line[number]), int(trace.buffer[rows[0]]), int(trace.op[rows[0]]), from_data)
            groups.setdefault(key, []).append(rows)
    return [
        _wrapped_finding(trace, requests, np.sort(np.concatenate(parts)), from_data=from_data)
        for (*_, from_data), parts in groups.items()
    ]


def _goes_outside_too(trace: Trace, site: Site) -> bool:
    """Check whether the line of a site also makes accesses outside an array."""
    outside = (trace.sites[number] for number in np.unique(trace.outside.site))
    return any((other.file, other.line) == (site.file, site.line) for other in outside)


def _wrapped_by_data(trace: Trace, number: int) -> Ints:
    """Find the accesses of a site whose index, computed again from loaded elements, is below zero."""
    rows = np.flatnonzero(trace.site == number)
    if not len(rows) or not _is_contiguous(buffer := trace.buffers[int(trace.buffer[rows[0]])]):
        return np.empty(0, np.int64)
    rows = rows[trace.buffer[rows] == trace.buffer[rows[0]]]
    if len(buffer.shape) != 1 or (value := index_values(trace, trace.sites[number], rows)) is None:
        return np.empty(0, np.int64)
    wrapped: Ints = rows[(value < 0) & (value + buffer.size == trace.index[rows])]
    return wrapped


def _wrapped_at_edge(trace: Trace, requests: Requests, number: int, site: Site) -> Ints:
    offset = _subtracted_number(trace, site)
    return _rows_wrapped_by(trace, requests, number, offset) if offset else np.empty(0, np.int64)


def _subtracted_number(trace: Trace, site: Site) -> int:
    """Return the positive integer that a site's last index subtracts; 0 if there is none."""
    last = next(reversed(index_at(trace, site)), None)
    if not (
        isinstance(last, ast.BinOp) and isinstance(last.op, ast.Sub) and isinstance(last.right, ast.Constant)
    ):
        return 0
    number = last.right.value
    return number if isinstance(number, int) and number > 0 else 0


def _rows_wrapped_by(trace: Trace, requests: Requests, site: int, offset: int) -> Ints:
    """Find the accesses of a site at the end of a row whose warp's next thread is at the beginning."""
    rows = np.flatnonzero(trace.site == site)
    if not len(rows) or not _is_contiguous(buffer := trace.buffers[int(trace.buffer[rows[0]])]):
        return np.empty(0, np.int64)
    rows = rows[trace.buffer[rows] == trace.buffer[rows[0]]]
    length, index = buffer.shape[-1], trace.index[rows].astype(np.int64)
    if not (index % length >= length - offset).any():
        return np.empty(0, np.int64)
    order = np.lexsort((trace.thread[rows], requests.request[rows]))
    rows, index = rows[order], index[order]
    thread, request = trace.thread[rows].astype(np.int64), requests.request[rows]
    is_neighbour = (
        (request[1:] == request[:-1])
        & (thread[1:] == thread[:-1] + 1)
        & (thread[1:] % trace.block_dim[0] > 0)
    )
    is_neighbour &= index[:-1] % length >= length - offset
    wrapped = np.append(is_neighbour & (index[1:] == index[:-1] + 1 - length), False)
    for _ in range(min(offset, WARP) - 1):  # threads before one that wrapped did too
        wrapped[:-1] |= wrapped[1:] & is_neighbour & (index[1:] == index[:-1] + 1)
    wrapped_rows: Ints = np.sort(rows[wrapped])
    return wrapped_rows


def _is_contiguous(buffer: Buffer) -> bool:
    """Check that a buffer is contiguous, in C order."""
    lengths = (*buffer.shape[1:], 1)
    steps = np.cumprod(lengths[::-1])[::-1] * buffer.unit
    return bool(buffer.shape) and tuple(steps.tolist()) == buffer.strides


def _wrapped_finding(trace: Trace, requests: Requests, rows: Ints, *, from_data: bool) -> Finding:
    first, count, site = int(rows[0]), len(rows), int(trace.site[rows[0]])
    sites = tuple(dict.fromkeys([site, *np.unique(trace.site[rows]).tolist()]))
    name, remedy = trace.buffers[int(trace.buffer[first])].name, REMEDY_OF_DATA if from_data else REMEDY_BELOW
    statement = (
        f"{count_noun(count, VERBS.get(Op(trace.op[first]), 'update'))} of {name} on {line_text(trace, site)} "
        f"{'goes' if count == 1 else 'go'} below index 0 and so {'wraps' if count == 1 else 'wrap'} to the other end, "
        f"first {thread_text(trace, first, block=True)} to {access_element(trace, first)}; {remedy}."
    )
    thread = (int(trace.block[first]), int(trace.thread[first]))
    moment = int(requests.moment[requests.request[first]])
    return Finding(
        "bounds", "note", statement, remedy, count, sites, rows, (first,), (thread,), moment, name=name, cause=remedy
    )  # fmt: skip
