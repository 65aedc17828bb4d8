"""What several views tell of a session in words, and whom a click means: pure functions. No Qt."""

from __future__ import annotations

import numpy as np

from ....tracer.analysis.requests import REQUEST_KINDS
from ....tracer.model.trace import WARP, Buffer, Op
from ...model.session import Selection, Session
from .outside import outside_of
from .wording import buffer_text, count_text, element_text, plural

VERBS = {"load": ("reads", "from"), "store": ("writes", "to"), "atomic": ("updates", "in")}


def warp_caption(session: Session, moment: int, selection: Selection) -> str:
    """Return what the selected thread's warp does at a moment."""
    return warp_captions(session, moment, selection)[0]


def warp_captions(session: Session, moment: int, selection: Selection) -> tuple[str, str]:
    """Return what the selected thread's warp does at a moment, and the same without the kind of memory."""
    requests, now = session.requests, session.memory.request_rows(moment)
    block, warp = requests.block[now.start : now.stop], requests.warp[now.start : now.stop]
    mine = ((block == selection.block) & (warp == selection.thread // WARP)).nonzero()[0]
    texts = [_request_texts(session, now.start + place) for place in mine.tolist()]
    exchange = requests.exchanges.of(selection.block, selection.thread // WARP, moment)
    if exchange >= 0:
        texts.append((exchange_text(session, exchange),) * 2)
    if outside := outside_lanes_text(session, moment, selection):
        texts.append((outside,) * 2)
    if not texts:
        return (_idle_text(session, moment, selection.block),) * 2
    full, brief = ("; ".join(some) for some in zip(*texts, strict=True))
    return full, brief


def outside_lanes_text(session: Session, moment: int, selection: Selection) -> str:
    """Return how many lanes of the selected warp access what is outside an array now, "" for none."""
    if not len(session.trace.outside.block):
        return ""
    lanes = outside_of(session).lanes(moment, selection)
    first = f": {lanes[0][1].text}" if lanes else ""
    return f"{plural(len(lanes), 'lane')} out of bounds{first}" if lanes else ""


def exchange_text(session: Session, exchange: int) -> str:
    """Return what lanes give to each other: shuffles, 16 lanes get the value of another lane, line 15."""
    exchanges = session.requests.exchanges
    lanes = len(exchanges.lanes(exchange)[0])
    where = f"line {session.trace.sites[int(exchanges.site[exchange])].line}"
    kind = exchanges.kind(exchange)
    if kind == "vote":
        yes = int((exchanges.votes(exchange) == 1).sum())
        return f"votes: {count_text(yes)} of {plural(lanes, 'lane')} say yes, {where}"
    if kind == "match":
        return f"compares the values of {plural(lanes, 'lane')}, {where}"
    givers = exchanges.givers(exchange)
    others = int(((givers >= 0) & (givers != np.arange(WARP))).sum())
    gets = "gets" if others == 1 else "get"
    return f"shuffles: {plural(others, 'lane')} of {lanes} {gets} another lane's value, {where}"


def _idle_text(session: Session, moment: int, block: int) -> str:
    place = int(np.searchsorted(session.trace.blocks, block))
    if block not in session.trace.blocks:
        return "its block is not in this trace"
    if moment <= session.requests.span_start[place].min(initial=session.end):
        return "its block has not begun"
    over = moment > session.requests.span_end[place].max(initial=0)
    return "its block is done" if over else "no access at this moment"


def _request_texts(session: Session, request: int) -> tuple[str, str]:
    """Return what a request does, with the kind of memory and without."""
    requests = session.requests
    rows = requests.accesses.of(slice(request, request + 1))
    buffer = session.trace.buffers[int(requests.buffer[request])]
    verb, where = VERBS[REQUEST_KINDS[int(requests.kind[request])].split()[-1]]
    elements = set(session.trace.index[rows].tolist())
    count = plural(len(elements), "element")
    if session.is_python_program:  # whose arrays are all in the computer's memory
        alone = len(elements) == 1
        what = element_text(buffer, min(elements)) if alone else f"{count} of {buffer_text(buffer)}"
        return (f"{verb} {what}",) * 2
    what = f"{verb} {count} of {buffer_text(buffer)}"
    return f"{what} {where} {buffer.space} memory", what


def selection_at(session: Session, buffer: int, element: int, selection: Selection) -> Selection | None:
    """Return who wrote an element first or, if nobody did, who read it first, preferably of the selected block."""
    trace = session.trace
    index = index_of(trace.buffers[buffer], element)
    rows = np.flatnonzero((trace.buffer == buffer) & (trace.index == index))
    if trace.buffers[buffer].space in ("shared", "local"):
        rows = rows[trace.block[rows] == selection.block]
    for wanted in (
        trace.op[rows] != Op.LOAD,
        trace.block[rows] == selection.block,
        np.ones(len(rows), bool),
    ):
        if wanted.any():
            row = rows[wanted][0]
            return Selection(int(trace.block[row]), int(trace.thread[row]))
    return None


def index_of(buffer: Buffer, element: int) -> int:
    """Return the access index of an element."""
    index = 0
    for length, stride in zip(reversed(buffer.shape), reversed(buffer.strides), strict=True):
        element, place = divmod(element, length)
        index += place * stride
    return index // buffer.unit


def source_line(session: Session, file: str, line: int) -> str:
    """Return a line of a source as it ran, without its indentation; "" where the trace has none."""
    lines = (session.trace.sources.get(file) or session.launch.source).splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
