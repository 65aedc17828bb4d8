"""What the memory view tells in words: pure functions of a session. No Qt."""

from __future__ import annotations

import numpy as np

from ....tracer.model.trace import WARP
from ...model.session import Selection, Session
from ..common import cell_colours
from ..common.descriptions import index_of
from ..common.heat import HEATS, element_heat
from ..common.wording import block_text, coordinates_text, count_text, element_text, plural, value_text
from .footprints import CellRect
from .layout.sheet import Sheet, is_image

MOST_TEXTS = 2000


def actor_text(session: Session, selection: Selection) -> str:
    """Return who acts together with the selected thread: its warp or, of a plain Python program, these threads."""
    warp = selection.thread // WARP
    if not session.is_python_program:
        return f"Warp {warp}"
    first, last = warp * WARP, min(warp * WARP + WARP, session.trace.threads) - 1
    return "Python" if last == 0 else f"Threads {first} to {last}"


def hover_text(
    session: Session, buffer: int, element: int, moment: int, selection: Selection, colour_by: str = "auto"
) -> str:
    """Return an element's name, value, times read, what it is coloured by, and last writer, a line each."""
    trace, memory, copy = session.trace, session.memory, (selection.block, selection.thread)
    row = memory.writer(buffer, element, moment, *copy)
    values = memory.values(buffer, moment, *copy).ravel()
    value = values[element]
    lines = [element_text(trace.buffers[buffer], index_of(trace.buffers[buffer], element))]
    if row is None and cell_colours.is_poison(np.atleast_1d(value))[0]:
        lines[0] += ": not written yet"
    elif trace.value is not None and value.dtype.kind != "V":
        lines[0] += f" = {value_text(value)}"
        if is_image(trace.buffers[buffer]):  # the colour of the pixel: its first element is under the pointer
            colour = ", ".join(
                value_text(v) for v in values[element : element + trace.buffers[buffer].shape[2]]
            )
            lines.append(f"pixel ({colour})")
    lines.append(f"read {plural(int(memory.reads(buffer, moment, *copy).ravel()[element]), 'time')} so far")
    if colour_by in HEATS:
        heat = int(element_heat(session, colour_by, buffer, moment, selection).ravel()[element])
        lines.append(f"{count_text(heat)} {HEATS[colour_by]} so far")
    return "\n".join(lines if row is None else [*lines, _writer_text(session, row)])


def _writer_text(session: Session, row: int) -> str:
    trace = session.trace
    thread, site = (
        coordinates_text(int(trace.thread[row]), trace.block_dim),
        trace.sites[int(trace.site[row])],
    )
    return f"last written by thread {thread} of {block_text(trace, int(trace.block[row]))}, line {site.line}"


def value_texts(
    session: Session,
    buffer: int,
    sheet: Sheet,
    part: CellRect,
    letters: int,
    moment: int,
    selection: Selection,
) -> list[tuple[int, int, str]]:
    """Return (row, column, value) of the known elements in a part of a sheet, the first MOST_TEXTS of them.

    Records are too long for a cell and give none. letters: how many of them a cell can show.
    """
    memory, copy = session.memory, (selection.block, selection.thread)
    values = memory.values(buffer, moment, *copy).ravel()
    if values.dtype.kind == "V":
        return []
    known = memory.written(buffer, moment, *copy).ravel() | ~cell_colours.is_poison(values)
    spots = [(r, c) for r in range(part.row0, part.row1) for c in range(part.col0, part.col1)][:MOST_TEXTS]
    found = [(r, c, sheet.element(r, c)) for r, c in spots]
    return [(r, c, short_text(values[e], letters)) for r, c, e in found if e is not None and known[e]]


def short_text(value: np.generic, letters: int) -> str:
    """Return a value as exactly as so many letters can tell it, at most four digits."""
    texts = [value_text(value), *(f"{float(np.real(value)):.{digits}g}" for digits in (3, 2, 1))]
    return next((text for text in texts if len(text) <= letters), "…")
