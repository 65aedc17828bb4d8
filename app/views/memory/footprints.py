"""The elements of each buffer that a block touches, in total and by phase: outlines in cells. No Qt."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ....tracer.analysis.buffer_contents import TouchedElements
from ....tracer.analysis.requests import Requests
from ....tracer.model.array_types import Ints
from ....tracer.model.trace import Trace
from . import outlines
from .layout.sheet import Sheet
from .outlines import CellRect

MOST_EDGES = 1500  # lines of an outline; a more complex outline is replaced by its box
SPARSE = 16  # cells of a box for each access; a sparser box gets no outline


class Footprint(NamedTuple):
    """The box around touched cells and, unless the box is full, their outline."""

    part: CellRect
    outline: outlines.CellPath | None = None


class Footprints(Struct, frozen=True):
    """The footprints of one block by buffer: in total, and as ascending phases with a footprint for each."""

    by_buffer: Mapping[int, Footprint]
    by_phase: Mapping[int, tuple[list[int], list[Footprint]]]

    def in_phase(self, buffer: int, phase: int) -> Footprint | None:
        """Find the footprint of a buffer in this phase or, if it has none, in the latest earlier phase."""
        phases, footprints = self.by_phase.get(buffer, ((), ()))
        position = bisect_right(phases, phase)
        return footprints[position - 1] if position else None


def footprints_of(touched: Mapping[int, TouchedElements], sheets: Mapping[int, Sheet]) -> Footprints:
    """Compute the footprints of a block's touched elements on the sheets of some buffers."""
    complete, by_phase = {}, {}
    for number, sheet in sheets.items():
        if number not in touched:
            continue
        elements, phases, first = touched[number]
        cells = Cells(*sheet.cells(elements), first)
        footprints = cells.footprints()
        by_phase[number] = phases.tolist(), footprints
        complete[number] = footprints[0] if len(footprints) == 1 else cells.together().footprints()[0]
    return Footprints(complete, by_phase)


class Cells(Struct, frozen=True, eq=False):
    """Cells in consecutive groups; a cell may occur several times in its group."""

    row: Ints
    col: Ints
    first: Ints  # the index of each group's first cell

    def together(self) -> Cells:
        """Merge all groups into one."""
        return Cells(self.row, self.col, self.first[:1])

    def footprints(self) -> list[Footprint]:
        """Compute the footprint of each group, vectorised because a block may have hundreds of phases."""
        row0, col0 = (np.minimum.reduceat(axis, self.first) for axis in (self.row, self.col))
        row1, col1 = (np.maximum.reduceat(axis, self.first) + 1 for axis in (self.row, self.col))
        size = np.diff(np.append(self.first, len(self.row)))
        area, width = (row1 - row0) * (col1 - col0), col1 - col0
        is_dense = area <= SPARSE * size + MOST_EDGES
        start = np.append(0, np.cumsum(np.where(is_dense, area, 0)))
        in_dense = np.repeat(is_dense, size)
        group = np.repeat(np.arange(len(size)), size)[in_dense]
        mask = np.zeros(start[-1], bool)
        mask[
            start[group]
            + (self.row[in_dense] - row0[group]) * width[group]
            + self.col[in_dense]
            - col0[group]
        ] = True
        distinct = np.diff(np.append(0, np.cumsum(mask))[start])
        has_outline = is_dense & (distinct < area) & (area <= SPARSE * distinct + MOST_EDGES)
        boxes = map(CellRect, row0.tolist(), col0.tolist(), row1.tolist(), col1.tolist())
        return [
            Footprint(box, _outline(mask[start[i] : start[i + 1]], box) if has_outline[i] else None)
            for i, box in enumerate(boxes)
        ]


def _outline(mask: NDArray[np.bool_], box: CellRect) -> outlines.CellPath | None:
    """Compute the outline of the touched cells in a box; None if it has too many lines."""
    shape = box.row1 - box.row0, box.col1 - box.col0
    outline = outlines.outline_of(mask.reshape(shape), box.row0, box.col0)
    return outline if len(outline.x) <= 2 * MOST_EDGES else None


def footprint_of(row: Ints, col: Ints) -> Footprint:
    """Compute the footprint of one or more cells, which may repeat."""
    return Cells(row, col, np.zeros(1, np.int64)).footprints()[0]


def phase_at(requests: Requests, trace: Trace, block: int, moment: int) -> int:
    """Find the phase of a block at a moment: -1 before its first access or if it did not run."""
    row = int(np.searchsorted(trace.blocks, block))
    if row >= len(trace.blocks) or trace.blocks[row] != block:
        return -1
    has_begun = (requests.span_start[row] < moment) & (requests.span_end[row] > requests.span_start[row])
    return int(np.flatnonzero(has_begun)[-1]) if has_begun.any() else -1
