"""Descriptions of a session in words, and the thread that a click selects: pure functions. No Qt."""

from __future__ import annotations

import numpy as np

from ....tracer.analysis.requests import REQUEST_KINDS
from ....tracer.model.trace import WARP, Buffer, Op
from ...model.session import Selection, Session
from .outside import outside_of
from .wording import buffer_text, count_text, element_text, plural

VERBS = {"load": ("reads", "from"), "store": ("writes", "to"), "atomic": ("updates", "in")}


def warp_caption(session: Session, moment: int, selection: Selection) -> str:
    """Describe the activity of the selected thread's warp at a moment."""
    return warp_captions(session, moment, selection)[0]


def warp_captions(session: Session, moment: int, selection: Selection) -> tuple[str, str]:
    """Describe the activity of the selected thread's warp at a moment, with and without the kind of memory."""
    requests, rows = session.requests, session.memory.request_rows(moment)
    block, warp = requests.block[rows.start : rows.stop], requests.warp[rows.start : rows.stop]
    own = ((block == selection.block) & (warp == selection.thread // WARP)).nonzero()[0]
    texts = [_request_texts(session, rows.start + offset) for offset in own.tolist()]
    exchange = requests.exchanges.find(selection.block, selection.thread // WARP, moment)
    if exchange >= 0:
        texts.append((exchange_text(session, exchange),) * 2)
    if outside := outside_lanes_text(session, moment, selection):
        texts.append((outside,) * 2)
    if not texts:
        return (_idle_text(session, moment, selection.block),) * 2
    full, brief = ("; ".join(some) for some in zip(*texts, strict=True))
    return full, brief


def outside_lanes_text(session: Session, moment: int, selection: Selection) -> str:
    """Count the lanes of the selected warp that access memory outside an array now, in words; "" for none."""
    if not len(session.trace.outside.block):
        return ""
    lanes = outside_of(session).lanes(moment, selection)
    first = f": {lanes[0][1].text}" if lanes else ""
    return f"{plural(len(lanes), 'lane')} out of bounds{first}" if lanes else ""


def exchange_text(session: Session, exchange: int) -> str:
    """Describe a warp operation: shuffles: 16 lanes of 32 get another lane's value, line 15."""
    exchanges = session.requests.exchanges
    lanes = len(exchanges.lanes(exchange)[0])
    line = f"line {session.trace.sites[int(exchanges.site[exchange])].line}"
    kind = exchanges.kind(exchange)
    if kind == "vote":
        yes = int((exchanges.votes(exchange) == 1).sum())
        return f"votes: {count_text(yes)} of {plural(lanes, 'lane')} vote yes, {line}"
    if kind == "match":
        return f"compares the values of {plural(lanes, 'lane')}, {line}"
    givers = exchanges.givers(exchange)
    others = int(((givers >= 0) & (givers != np.arange(WARP))).sum())
    gets = "gets" if others == 1 else "get"
    return f"shuffles: {plural(others, 'lane')} of {lanes} {gets} another lane's value, {line}"


def _idle_text(session: Session, moment: int, block: int) -> str:
    row = int(np.searchsorted(session.trace.blocks, block))
    if block not in session.trace.blocks:
        return "its block is not in this trace"
    if moment <= session.requests.span_start[row].min(initial=session.end):
        return "its block has not begun"
    is_done = moment > session.requests.span_end[row].max(initial=0)
    return "its block is done" if is_done else "no access at this moment"


def _request_texts(session: Session, request: int) -> tuple[str, str]:
    """Describe a request, with and without the kind of memory."""
    requests = session.requests
    rows = requests.accesses.rows_of(slice(request, request + 1))
    buffer = session.trace.buffers[int(requests.buffer[request])]
    verb, preposition = VERBS[REQUEST_KINDS[int(requests.kind[request])].split()[-1]]
    elements = set(session.trace.index[rows].tolist())
    count = plural(len(elements), "element")
    if session.is_python_program:  # all its arrays are in the computer's memory
        is_single = len(elements) == 1
        target = element_text(buffer, min(elements)) if is_single else f"{count} of {buffer_text(buffer)}"
        return (f"{verb} {target}",) * 2
    target = f"{verb} {count} of {buffer_text(buffer)}"
    return f"{target} {preposition} {buffer.space} memory", target


def selection_at(session: Session, buffer: int, element: int, selection: Selection) -> Selection | None:
    """Find the first thread that wrote an element, else the first that read it; the selected block is preferred."""
    trace = session.trace
    index = index_of(trace.buffers[buffer], element)
    rows = np.flatnonzero((trace.buffer == buffer) & (trace.index == index))
    if trace.buffers[buffer].space in ("shared", "local"):
        rows = rows[trace.block[rows] == selection.block]
    for preferred in (
        trace.op[rows] != Op.LOAD,
        trace.block[rows] == selection.block,
        np.ones(len(rows), bool),
    ):
        if preferred.any():
            row = rows[preferred][0]
            return Selection(int(trace.block[row]), int(trace.thread[row]))
    return None


def index_of(buffer: Buffer, element: int) -> int:
    """Compute the access index of an element."""
    index = 0
    for length, stride in zip(reversed(buffer.shape), reversed(buffer.strides), strict=True):
        element, coordinate = divmod(element, length)
        index += coordinate * stride
    return index // buffer.unit


def source_line(session: Session, file: str, line: int) -> str:
    """Return a line of the traced source without its indentation; "" if the trace does not have it."""
    lines = (session.trace.sources.get(file) or session.launch.source).splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
