"""What the memory view tells in words, and whom a click means: pure functions of a session. No Qt."""

from __future__ import annotations

import numpy as np

from ...tracer.requests import KINDS
from ...tracer.trace import WARP, Op
from ..session import Selection, Session
from . import cells
from .frames import Part
from .heat import HEATS, element_heat
from .sheet import Sheet, index_of
from .wording import buffer_text, count_text, element_text, place_text, plural, value_text

MOST_TEXTS = 2000
VERBS = {"load": ("reads", "from"), "store": ("writes", "to"), "atomic": ("updates", "in")}


def who(session: Session, selection: Selection) -> str:
    """Return who acts together with the selected thread: its warp or, of a plain Python program, these threads."""
    warp = selection.thread // WARP
    if not session.is_program:
        return f"Warp {warp}"
    first, last = warp * WARP, min(warp * WARP + WARP, session.trace.threads) - 1
    return "Python" if last == 0 else f"Threads {first} to {last}"


def caption(session: Session, moment: int, selection: Selection, *, brief: bool = False) -> str:
    """Return what the selected thread's warp does at a moment; brief, without the kind of memory."""
    requests, now = session.requests, session.memory.request_rows(moment)
    block, warp = requests.block[now.start : now.stop], requests.warp[now.start : now.stop]
    mine = np.flatnonzero((block == selection.block) & (warp == selection.thread // WARP)) + now.start
    texts = [_request_text(session, r, brief) for r in mine.tolist()]
    return "; ".join(texts) if texts else _idle_text(session, moment, selection.block)


def _idle_text(session: Session, moment: int, block: int) -> str:
    place = int(np.searchsorted(session.trace.blocks, block))
    if block not in session.trace.blocks:
        return "its block is not in this trace"
    if moment <= session.requests.span_start[place].min(initial=session.end):
        return "its block has not begun"
    over = moment > session.requests.span_end[place].max(initial=0)
    return "its block is done" if over else "no access at this moment"


def _request_text(session: Session, request: int, brief: bool) -> str:
    requests = session.requests
    rows = requests.order[requests.start[request] : requests.start[request + 1]]
    buffer = session.trace.buffers[int(requests.buffer[request])]
    verb, where = VERBS[KINDS[int(requests.kind[request])].split()[-1]]
    elements = np.unique(session.trace.index[rows])
    count = plural(len(elements), "element")
    if session.is_program:  # whose arrays are all in the computer's memory
        alone = len(elements) == 1
        return f"{verb} {element_text(buffer, int(elements[0])) if alone else f'{count} of {buffer_text(buffer)}'}"
    what = f"{verb} {count} of {buffer_text(buffer)}"
    return what if brief else f"{what} {where} {buffer.space} memory"


def block_text(session: Session, block: int) -> str:
    """Return how a block is called: block (1, 2)."""
    return f"block {place_text(block, session.trace.grid)}"


def hover_text(
    session: Session, buffer: int, element: int, moment: int, selection: Selection, colour_by: str = "auto"
) -> str:
    """Return an element's name, value, times read, what it is coloured by, and last writer, a line each."""
    trace, memory, copy = session.trace, session.memory, (selection.block, selection.thread)
    row = memory.writer(buffer, element, moment, *copy)
    value = memory.values(buffer, moment, *copy).ravel()[element]
    lines = [element_text(trace.buffers[buffer], index_of(trace.buffers[buffer], element))]
    if row is None and cells.is_poison(np.atleast_1d(value))[0]:
        lines[0] += ": not written yet"
    elif trace.value is not None and value.dtype.kind != "V":
        lines[0] += f" = {value_text(value)}"
    lines.append(f"read {plural(int(memory.reads(buffer, moment, *copy).ravel()[element]), 'time')} so far")
    if colour_by in HEATS:
        heat = int(element_heat(session, colour_by, buffer, moment, selection).ravel()[element])
        lines.append(f"{count_text(heat)} {HEATS[colour_by]} so far")
    return "\n".join(lines if row is None else [*lines, _writer_text(session, row)])


def _writer_text(session: Session, row: int) -> str:
    trace = session.trace
    thread, site = place_text(int(trace.thread[row]), trace.block_dim), trace.sites[int(trace.site[row])]
    return (
        f"last written by thread {thread} of {block_text(session, int(trace.block[row]))}, line {site.line}"
    )


def value_texts(
    session: Session, buffer: int, sheet: Sheet, part: Part, letters: int, moment: int, selection: Selection
) -> list[tuple[int, int, str]]:
    """Return (row, column, value) of the known elements in a part of a sheet, the first MOST_TEXTS of them.

    Records are too long for a cell and give none. letters: how many of them a cell can show.
    """
    memory, copy = session.memory, (selection.block, selection.thread)
    values = memory.values(buffer, moment, *copy).ravel()
    if values.dtype.kind == "V":
        return []
    known = memory.written(buffer, moment, *copy).ravel() | ~cells.is_poison(values)
    spots = [(r, c) for r in range(part.row0, part.row1) for c in range(part.col0, part.col1)][:MOST_TEXTS]
    found = [(r, c, sheet.element(r, c)) for r, c in spots]
    return [(r, c, short_text(values[e], letters)) for r, c, e in found if e is not None and known[e]]


def short_text(value: np.generic, letters: int) -> str:
    """Return a value as exactly as so many letters can tell it, at most four digits."""
    texts = [value_text(value), *(f"{float(np.real(value)):.{digits}g}" for digits in (3, 2, 1))]
    return next((text for text in texts if len(text) <= letters), "…")


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
