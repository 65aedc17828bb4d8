"""Indices below zero that wrap to the end of an array, as Python's do and Numba's on a GPU: legal, rarely meant.

A trace holds the element that was touched. Where the source takes a number from the last index (`a[i - 1]`), and of
two neighbouring threads the first is at the end of a row and the second at its beginning, the first one wrapped.
"""

from __future__ import annotations

import ast
from functools import lru_cache

import numpy as np

from .array_types import Ints
from .finding import Finding, access_element, counted, line_text, thread_text
from .requests import Requests
from .structure import column_of, tree_of
from .trace import WARP, Buffer, Op, Site, Trace

REMEDY = "let the first threads leave it out, as with `if i > 0`, unless that is meant"


def wrapped_findings(trace: Trace, requests: Requests) -> list[Finding]:
    """Return a note for each site at which threads below others wrap to the end of the array."""
    found = []
    for number, site in enumerate(trace.sites):
        taken = _taken(trace, site)
        rows = _wrapped(trace, requests, number, taken) if taken else np.empty(0, np.int64)
        if len(rows):
            found.append(_finding(trace, requests, number, rows))
    return found


def _taken(trace: Trace, site: Site) -> int:
    """Return the whole number that a site's last index is lessened by; 0 where it is not."""
    source = trace.sources.get(site.file, "")
    return _lessened(source).get((site.line, column_of(source, site)), 0)


@lru_cache(maxsize=16)
def _lessened(source: str) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for node in ast.walk(tree_of(source)):
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


def _finding(trace: Trace, requests: Requests, site: int, rows: Ints) -> Finding:
    first, count = int(rows[0]), len(rows)
    name = trace.buffers[int(trace.buffer[first])].name
    deed = "read" if trace.op[first] == Op.LOAD else "write"
    message = (
        f"{counted(count, deed)} of {name} on {line_text(trace, site)} {'goes' if count == 1 else 'go'} below index 0 "
        f"and so {'wraps' if count == 1 else 'wrap'} to the other end, first {thread_text(trace, first, block=True)} "
        f"to {access_element(trace, first)}; {REMEDY}."
    )
    thread = (int(trace.block[first]), int(trace.thread[first]))
    moment = int(requests.moment[requests.request[first]])
    return Finding("bounds", "note", message, REMEDY, count, (site,), rows, (first,), (thread,), moment)
