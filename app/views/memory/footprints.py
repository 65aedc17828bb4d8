"""Which elements of each buffer a block touches, in all and phase by phase: outlines in cells. No Qt."""

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

MOST_EDGES = (
    1500  # lines of an outline: of more, a box around them all is drawn, which is all that can be seen
)
SPARSE = 16  # cells of a box for each access, from which on the box is left to speak for them


class Footprint(NamedTuple):
    """What is touched: the box around it and, unless that is full, its outline."""

    part: CellRect
    outline: outlines.CellPath | None = None


class Footprints(Struct, frozen=True):
    """What one block touches of each buffer: `whole` in all; `by_phase` as phases, ascending, and their footprints."""

    whole: Mapping[int, Footprint]
    by_phase: Mapping[int, tuple[list[int], list[Footprint]]]

    def at(self, buffer: int, phase: int) -> Footprint | None:
        """Return what the block touches in this phase or, if it does not touch the buffer then, touched last."""
        phases, found = self.by_phase.get(buffer, ((), ()))
        place = bisect_right(phases, phase)
        return found[place - 1] if place else None


def footprints_of(touched: Mapping[int, TouchedElements], sheets: Mapping[int, Sheet]) -> Footprints:
    """Return the footprints of what a block touches of some buffers, on their sheets."""
    whole, by_phase = {}, {}
    for number, sheet in sheets.items():
        if number not in touched:
            continue
        elements, phases, first = touched[number]
        cells = Cells(*sheet.cells(elements), first)
        found = cells.footprints()
        by_phase[number] = phases.tolist(), found
        whole[number] = found[0] if len(found) == 1 else cells.together().footprints()[0]
    return Footprints(whole, by_phase)


class Cells(Struct, frozen=True, eq=False):
    """Cells in groups that follow one another, each perhaps more than once in its group."""

    row: Ints
    col: Ints
    first: Ints  # where each group begins

    def together(self) -> Cells:
        """Return all of them as one group."""
        return Cells(self.row, self.col, self.first[:1])

    def footprints(self) -> list[Footprint]:
        """Return the footprint of each group: all at once, since a block may have hundreds of phases."""
        row0, col0 = (np.minimum.reduceat(axis, self.first) for axis in (self.row, self.col))
        row1, col1 = (np.maximum.reduceat(axis, self.first) + 1 for axis in (self.row, self.col))
        size = np.diff(np.append(self.first, len(self.row)))
        area, width = (row1 - row0) * (col1 - col0), col1 - col0
        dense = area <= SPARSE * size + MOST_EDGES
        start = np.append(0, np.cumsum(np.where(dense, area, 0)))
        there = np.repeat(dense, size)
        group = np.repeat(np.arange(len(size)), size)[there]
        mask = np.zeros(start[-1], bool)
        mask[
            start[group] + (self.row[there] - row0[group]) * width[group] + self.col[there] - col0[group]
        ] = True
        distinct = np.diff(np.append(0, np.cumsum(mask))[start])
        outlined = dense & (distinct < area) & (area <= SPARSE * distinct + MOST_EDGES)
        boxes = map(CellRect, row0.tolist(), col0.tolist(), row1.tolist(), col1.tolist())
        return [
            Footprint(part, _outline(mask[start[i] : start[i + 1]], part) if outlined[i] else None)
            for i, part in enumerate(boxes)
        ]


def _outline(mask: NDArray[np.bool_], part: CellRect) -> outlines.CellPath | None:
    """Return the outline of what is touched in a box, None where it has too many lines."""
    shape = part.row1 - part.row0, part.col1 - part.col0
    outline = outlines.outline_of(mask.reshape(shape), part.row0, part.col0)
    return outline if len(outline.x) <= 2 * MOST_EDGES else None


def footprint_of(row: Ints, col: Ints) -> Footprint:
    """Return the footprint of these cells, of which there is one at least, each perhaps more than once."""
    return Cells(row, col, np.zeros(1, np.int64)).footprints()[0]


def phase_at(requests: Requests, trace: Trace, block: int, moment: int) -> int:
    """Return the phase a block is in at a moment: -1 before its first access or if it did not run."""
    place = int(np.searchsorted(trace.blocks, block))
    if place >= len(trace.blocks) or trace.blocks[place] != block:
        return -1
    begun = (requests.span_start[place] < moment) & (requests.span_end[place] > requests.span_start[place])
    return int(np.flatnonzero(begun)[-1]) if begun.any() else -1
