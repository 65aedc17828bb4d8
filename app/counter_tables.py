"""Counters of one launch by line, buffer or block, and beside what was read on a GPU, as tables of text."""

from __future__ import annotations

import numpy as np

from ..tracer.array_types import Ints
from ..tracer.coalescing import SECTOR
from ..tracer.counters import NAMES, totals_by
from ..tracer.finding import block_text, line_text
from ..tracer.hardware import read_of, readings
from .session import Session
from .views.wording import count_text, mark_of

BY = ("line", "buffer", "block")


def parts_of(session: Session, by: str) -> tuple[list[str], Ints]:
    """Return the names of the lines, buffers or blocks of a launch, and of each request which of them it is of."""
    trace, requests = session.trace, session.requests
    if by == "buffer":
        return [f"{b.name} ({b.space})" for b in trace.buffers], requests.buffer
    if by == "block":
        blocks = [block_text(trace, block) for block in trace.blocks.tolist()]
        return blocks, np.searchsorted(trace.blocks, requests.block)
    texts = [line_text(trace, site) for site in range(len(trace.sites))]
    lines = sorted(set(texts), key=texts.index)
    number = np.array([lines.index(text) for text in texts], np.int64)
    return lines, number[requests.site]


def table_by(session: Session, by: str) -> str:
    """Return the counters of each line, buffer or block that are not 0, one a line, under the title and the mark."""
    names, part = parts_of(session, by)
    found = totals_by(session.trace, session.requests, part, len(names))
    told = [[(c, int(found[c][number])) for c in NAMES if found[c][number]] for number in range(len(names))]
    if by == "buffer":
        told = [[*rows, *_elements(session, number)] for number, rows in enumerate(told)]
    width = max(map(len, names), default=0)
    lines = [
        f"{name if not row else '':<{width}}  {counter.replace('_', ' '):<27}{count_text(amount):>14}"
        for name, rows in zip(names, told, strict=True)
        for row, (counter, amount) in enumerate(rows)
    ]
    return "\n".join([f"{session.title}, by {by} ({mark_of(session.trace)})", *lines])


def _elements(session: Session, buffer: int) -> list[tuple[str, int]]:
    """Return how many elements of a buffer were touched and, in global memory, bytes asked for and moved."""
    trace, requests = session.trace, session.requests
    distinct = len(np.unique(trace.index[trace.buffer == buffer]))
    if trace.buffers[buffer].space != "global":
        return [("distinct elements", distinct)]
    found = totals_by(trace, requests, np.where(requests.buffer == buffer, 0, 1), 2)
    asked, sectors = (
        sum(int(n[0]) for name, n in found.items() if name.startswith("global") and name.endswith(measure))
        for measure in ("bytes", "sectors")
    )
    return [("distinct elements", distinct), ("bytes asked for", asked), ("bytes moved", SECTOR * sectors)]


def readings_text(session: Session) -> list[str]:
    """Return a line for each counter that a GPU's differs from, with the reason, and one where all are equal."""
    read = read_of(session.launch)
    if read is None or session.trace.error is not None:
        return []
    known, device = session.counters.total, readings().device
    lines = [
        f"{session.title}: {count_text(read.counters[name])} {name.replace('_', ' ')} measured on an {device}, "
        f"{count_text(known[name])} exact: {read.reason}."
        for name in NAMES
        if name in read.counters and read.counters[name] != known[name]
    ]
    return lines or [f"{session.title}: every counter above but bytes is what was measured on an {device}."]
