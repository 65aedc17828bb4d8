"""The cells of the memory view that a spotlight highlights: from highlighted things to cells of sheets. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from ....tracer.analysis.buffer_contents import NOWHERE
from ....tracer.model.array_types import AnyInts, Ints, Mask
from ....tracer.model.trace import WARP
from ...model.session import Selection
from ...model.spotlight import Highlight
from .footprints import Footprint, footprint_of
from .layout.buffer_position import BufferPosition
from .layout.sheet import Sheet
from .outlines import CellRect
from .view_data import AccessMark, LoadsInFlight, MemoryViewData, RaceMark


class HighlightedCells(NamedTuple):
    """The highlighted cells of one buffer."""

    shape: Footprint  # the frame around them
    elements: Ints | None = None  # ascending numbers of these elements; None for the complete buffer

    def has(self, elements: AnyInts) -> Mask:
        """Mark the highlighted ones of some elements, shape (n,)."""
        return np.ones(len(elements), bool) if self.elements is None else np.isin(elements, self.elements)

    def holds(self, sheet: Sheet, rows: Ints, cols: Ints) -> Mask:
        """Mark the highlighted ones of some cells of the buffer's sheet, shape (n,)."""
        if self.elements is None:
            return np.ones(len(rows), bool)
        own_rows, own_cols = sheet.cells(self.elements)
        return np.isin(rows * sheet.cols + cols, own_rows * sheet.cols + own_cols)


HighlightedBuffers = (
    Mapping[int, HighlightedCells] | None
)  # by number, for buffers with highlighted cells; None dims nothing


def find_highlighted_cells(
    data: MemoryViewData, highlight: Highlight, moment: int, selection: Selection, sheets: Mapping[int, Sheet]
) -> dict[int, HighlightedCells]:
    """Find the highlighted cells of each buffer that has any; sheets: of the visible buffers, by number."""
    complete = set(highlight.buffers)
    parts: dict[int, list[Ints]] = {}
    buffers = data.session.trace.buffers
    for number, ranges in highlight.elements:
        if number >= len(buffers) or len(ranges) != len(buffers[number].shape):
            continue  # it belongs to the previous session, until the new spotlight arrives
        parts.setdefault(number, []).append(_elements_in(data, number, ranges))
    for block in highlight.blocks:
        _add_block(data, block, selection, complete, parts)
    if highlight.threads or highlight.warps:
        rows = _rows_of_threads(data, highlight, moment, selection)
        _add_elements(parts, *_endpoints(data, rows, selection))
    complete &= sheets.keys()
    cells = {n: HighlightedCells(Footprint(CellRect(0, 0, sheets[n].rows, sheets[n].cols))) for n in complete}
    for number in parts.keys() & (sheets.keys() - complete):
        elements = np.unique(np.concatenate(parts[number]))
        if len(elements):
            cells[number] = HighlightedCells(footprint_of(*sheets[number].cells(elements)), elements)
    return cells


def _elements_in(data: MemoryViewData, number: int, ranges: tuple[tuple[int, int], ...]) -> Ints:
    """List the numbers of the elements in these ranges, (first, end) along each dimension."""
    shape = data.session.trace.buffers[number].shape
    inside = [np.arange(first, min(end, length)) for (first, end), length in zip(ranges, shape, strict=True)]
    return np.asarray(np.ravel_multi_index(np.ix_(*inside), shape)).ravel()


def _add_block(
    data: MemoryViewData, block: int, selection: Selection, complete: set[int], parts: dict[int, list[Ints]]
) -> None:
    """Add the global and constant memory that a block accesses and, if it is selected, its shared memory."""
    for number, touched in data.session.memory.touched(block).items():
        parts.setdefault(number, []).append(touched.elements)
    if block == selection.block:
        complete |= {n for n, b in enumerate(data.session.trace.buffers) if b.space == "shared"}


def _rows_of_threads(data: MemoryViewData, highlight: Highlight, moment: int, selection: Selection) -> Ints:
    """List the accesses of highlighted threads of the selected block at a moment, and all their global stores."""
    trace = data.session.trace
    threads = [np.arange(WARP * warp, WARP * (warp + 1)) for warp in highlight.warps]
    highlighted = np.concatenate([np.array(sorted(highlight.threads), np.int64), *threads])
    now = data.session.memory.accesses_at(moment)
    now = now[trace.block[now] == selection.block]
    rows = np.concatenate([data.shown(now, selection), data.session.memory.first_stores(selection.block)])
    own: Ints = rows[np.isin(trace.thread[rows], highlighted)]
    return own


def _endpoints(data: MemoryViewData, rows: Ints, selection: Selection) -> tuple[Ints, Ints]:
    """List buffer and element of the accesses, and of the destinations of their loaded values."""
    kind, target, index = data.session.memory.destinations(rows)
    going = (kind != NOWHERE) & data.is_drawn(target, rows, selection)
    trace = data.session.trace
    buffers = np.concatenate([trace.buffer[rows].astype(np.int64), target[going]])
    buffers, elements = data.numbers(
        buffers, np.concatenate([trace.index[rows].astype(np.int64), index[going]])
    )
    return buffers[elements >= 0], elements[elements >= 0]


def _add_elements(parts: dict[int, list[Ints]], buffers: Ints, elements: Ints) -> None:
    for number in np.unique(buffers).tolist():
        parts.setdefault(number, []).append(elements[buffers == number])


Cells = TypeVar("Cells", AccessMark, RaceMark)


def split_marks(
    marks: Iterable[Cells], places: Mapping[int, BufferPosition], highlighted: HighlightedBuffers, keep: float
) -> Iterator[tuple[Cells, float]]:
    """Split marks into highlighted and other cells; yield them with their opacity."""
    for mark in marks:
        cells = highlighted.get(mark.buffer) if highlighted is not None else None
        if highlighted is None or cells is None or cells.elements is None:
            yield mark, 1.0 if highlighted is None or cells is not None else keep
            continue
        is_highlighted = cells.holds(places[mark.buffer].sheet, mark.rows, mark.cols)
        for selected, opacity in ((~is_highlighted, keep), (is_highlighted, 1.0)):
            if selected.any():
                yield mark._replace(rows=mark.rows[selected], cols=mark.cols[selected]), opacity


def split_loads(
    loads: LoadsInFlight, highlighted: HighlightedBuffers, keep: float
) -> Iterator[tuple[LoadsInFlight, float]]:
    """Split loads into those from or to highlighted cells and the others; yield them with their opacity."""
    if highlighted is None:
        yield loads, 1.0
        return
    is_highlighted = np.zeros(len(loads.own), bool)
    for buffers, elements in (loads.start_at, loads.end_at):
        for number, cells in highlighted.items():
            is_highlighted |= (buffers == number) & cells.has(elements)
    yield loads.only(~is_highlighted), keep
    yield loads.only(is_highlighted), 1.0


def mark_highlighted_cells(
    sheet: Sheet, part: CellRect, highlighted: HighlightedBuffers, number: int
) -> Mask:
    """Mark the highlighted cells in a part of a buffer's sheet, shape (rows, columns) of the part."""
    shape = part.row1 - part.row0, part.col1 - part.col0
    if highlighted is None or number not in highlighted:
        return np.full(shape, highlighted is None)
    rows, cols = np.mgrid[part.row0 : part.row1, part.col0 : part.col1]
    return highlighted[number].holds(sheet, rows.ravel(), cols.ravel()).reshape(shape)
