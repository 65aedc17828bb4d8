"""Which cells of the memory view a spotlight leaves as they are: from what stands out to cells of sheets. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from ....tracer.analysis.buffer_contents import NOWHERE
from ....tracer.model.array_types import AnyInts, Ints, Mask
from ....tracer.model.trace import WARP
from ...model.session import Selection
from ...model.spotlight import Lit
from .footprints import Footprint, footprint_of
from .layout.buffer_place import BufferPlace
from .layout.sheet import Sheet
from .outlines import CellRect
from .view_data import AccessMark, LoadsInFlight, MemoryViewData, RaceMark


class LitCells(NamedTuple):
    """The cells of one buffer that stand out."""

    shape: Footprint  # what is drawn around them
    elements: Ints | None = None  # ascending numbers of these elements; None for all of the buffer

    def has(self, elements: AnyInts) -> Mask:
        """Return which of some elements stand out, shape (n,)."""
        return np.ones(len(elements), bool) if self.elements is None else np.isin(elements, self.elements)

    def holds(self, sheet: Sheet, rows: Ints, cols: Ints) -> Mask:
        """Return which of some cells of the buffer's sheet stand out, shape (n,)."""
        if self.elements is None:
            return np.ones(len(rows), bool)
        lit_rows, lit_cols = sheet.cells(self.elements)
        return np.isin(rows * sheet.cols + cols, lit_rows * sheet.cols + lit_cols)


LitBuffers = (
    Mapping[int, LitCells] | None
)  # by number, of buffers that have some of it; None where nothing dims


def lit_cells(
    data: MemoryViewData, lit: Lit, moment: int, selection: Selection, sheets: Mapping[int, Sheet]
) -> dict[int, LitCells]:
    """Return what stands out of each buffer that has some of it; sheets: of the buffers that are drawn, by number."""
    whole = set(lit.buffers)
    parts: dict[int, list[Ints]] = {}
    known = data.session.trace.buffers
    for number, ranges in lit.elements:
        if number >= len(known) or len(ranges) != len(known[number].shape):
            continue  # it is of the session before, until its own spotlight comes
        parts.setdefault(number, []).append(_elements(data, number, ranges))
    for block in lit.blocks:
        _add_block(data, block, selection, whole, parts)
    if lit.threads or lit.warps:
        rows = _rows_of_threads(data, lit, moment, selection)
        _add(parts, *_ends(data, rows, selection))
    whole &= sheets.keys()
    found = {n: LitCells(Footprint(CellRect(0, 0, sheets[n].rows, sheets[n].cols))) for n in whole}
    for number in parts.keys() & (sheets.keys() - whole):
        elements = np.unique(np.concatenate(parts[number]))
        if len(elements):
            found[number] = LitCells(footprint_of(*sheets[number].cells(elements)), elements)
    return found


def _elements(data: MemoryViewData, number: int, ranges: tuple[tuple[int, int], ...]) -> Ints:
    """Return the numbers of the elements in these ranges, (first, end) along each dimension."""
    shape = data.session.trace.buffers[number].shape
    inside = [np.arange(first, min(end, length)) for (first, end), length in zip(ranges, shape, strict=True)]
    return np.asarray(np.ravel_multi_index(np.ix_(*inside), shape)).ravel()


def _add_block(
    data: MemoryViewData, block: int, selection: Selection, whole: set[int], parts: dict[int, list[Ints]]
) -> None:
    """Add what a block accesses of global and constant memory and, where it is looked at, its shared memory."""
    for number, touched in data.session.memory.touched(block).items():
        parts.setdefault(number, []).append(touched.elements)
    if block == selection.block:
        whole |= {n for n, b in enumerate(data.session.trace.buffers) if b.space == "shared"}


def _rows_of_threads(data: MemoryViewData, lit: Lit, moment: int, selection: Selection) -> Ints:
    """Return what threads of the selected block access at a moment, and what they ever write to global memory."""
    trace = data.session.trace
    threads = [np.arange(WARP * warp, WARP * (warp + 1)) for warp in lit.warps]
    wanted = np.concatenate([np.array(sorted(lit.threads), np.int64), *threads])
    now = data.session.memory.accesses_at(moment)
    now = now[trace.block[now] == selection.block]
    rows = np.concatenate([data.shown(now, selection), data.session.memory.first_stores(selection.block)])
    mine: Ints = rows[np.isin(trace.thread[rows], wanted)]
    return mine


def _ends(data: MemoryViewData, rows: Ints, selection: Selection) -> tuple[Ints, Ints]:
    """Return buffer and element of what accesses touch, and of where what they load goes."""
    kind, to, at = data.session.memory.destinations(rows)
    going = (kind != NOWHERE) & data.is_drawn(to, rows, selection)
    trace = data.session.trace
    buffers = np.concatenate([trace.buffer[rows].astype(np.int64), to[going]])
    buffers, elements = data.numbers(buffers, np.concatenate([trace.index[rows].astype(np.int64), at[going]]))
    return buffers[elements >= 0], elements[elements >= 0]


def _add(parts: dict[int, list[Ints]], buffers: Ints, elements: Ints) -> None:
    for number in np.unique(buffers).tolist():
        parts.setdefault(number, []).append(elements[buffers == number])


Cells = TypeVar("Cells", AccessMark, RaceMark)


def parted(
    marks: Iterable[Cells], places: Mapping[int, BufferPlace], lit: LitBuffers, keep: float
) -> Iterator[tuple[Cells, float]]:
    """Yield marks on cells, those on cells that stand out apart from the others, and how strongly they are drawn."""
    for mark in marks:
        cells = lit.get(mark.buffer) if lit is not None else None
        if lit is None or cells is None or cells.elements is None:
            yield mark, 1.0 if lit is None or cells is not None else keep
            continue
        chosen = cells.holds(places[mark.buffer].sheet, mark.rows, mark.cols)
        for wanted, strength in ((~chosen, keep), (chosen, 1.0)):
            if wanted.any():
                yield mark._replace(rows=mark.rows[wanted], cols=mark.cols[wanted]), strength


def parted_loads(loads: LoadsInFlight, lit: LitBuffers, keep: float) -> Iterator[tuple[LoadsInFlight, float]]:
    """Yield loads, those from or to cells that stand out apart from the others, and how strongly they are drawn."""
    if lit is None:
        yield loads, 1.0
        return
    chosen = np.zeros(len(loads.own), bool)
    for buffers, elements in (loads.start_at, loads.end_at):
        for number, cells in lit.items():
            chosen |= (buffers == number) & cells.has(elements)
    yield loads.only(~chosen), keep
    yield loads.only(chosen), 1.0


def standing_out(sheet: Sheet, part: CellRect, lit: LitBuffers, number: int) -> Mask:
    """Return which cells in a part of a buffer's sheet stand out, shape (rows, columns) of the part."""
    shape = part.row1 - part.row0, part.col1 - part.col0
    if lit is None or number not in lit:
        return np.full(shape, lit is None)
    rows, cols = np.mgrid[part.row0 : part.row1, part.col0 : part.col1]
    return lit[number].holds(sheet, rows.ravel(), cols.ravel()).reshape(shape)
