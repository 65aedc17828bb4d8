"""Which elements of each buffer a block touches, in all and phase by phase: outlines in cells. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ....tracer.analysis.buffer_contents import BufferContents
from ....tracer.analysis.requests import Requests
from ....tracer.model.array_types import Ints
from ....tracer.model.grouping import group_starts
from ....tracer.model.trace import Trace
from . import outlines
from .layout.sheet import Sheet

MOST_EDGES = (
    1500  # lines of an outline: of more, a box around them all is drawn, which is all that can be seen
)
SPARSE = 16  # cells of a box for each access, from which on the box is left to speak for them


class CellRect(NamedTuple):
    """Cells row0 <= row < row1, col0 <= col < col1 of a sheet."""

    row0: int  # the first row
    col0: int  # the first column
    row1: int  # the row after the last
    col1: int  # the column after the last


class Footprint(NamedTuple):
    """What is touched: the box around it and, unless that is full, its outline."""

    part: CellRect
    outline: outlines.CellPath | None = None


@dataclass(frozen=True)
class Footprints:
    """What one block touches of each buffer: `whole` in all; `by_phase` as (phase, footprint), in order of phase."""

    whole: Mapping[int, Footprint]
    by_phase: Mapping[int, tuple[tuple[int, Footprint], ...]]

    def at(self, buffer: int, phase: int) -> Footprint | None:
        """Return what the block touches in this phase or, if it does not touch the buffer then, touched last."""
        found = [footprint for number, footprint in self.by_phase.get(buffer, ()) if number <= phase]
        return found[-1] if found else None


def footprints_of(
    trace: Trace, memory: BufferContents, rows: Ints, sheets: Mapping[int, Sheet]
) -> Footprints:
    """Return the footprints of a block on the sheets of some buffers; rows: its accesses."""
    buffers = trace.buffer[rows]
    whole, by_phase = {}, {}
    for number, sheet in sheets.items():
        mine = rows[np.flatnonzero(buffers == number)]
        elements = memory.element_numbers(number, trace.index[mine])
        if len(inside := np.flatnonzero(elements >= 0)):
            row, col = sheet.cells(elements[inside])
            by_phase[number] = _by_phase(trace.phase[mine[inside]].astype(np.int64), row, col)
            alone = len(by_phase[number]) == 1
            whole[number] = by_phase[number][0][1] if alone else footprint_of(row, col)
    return Footprints(whole, by_phase)


def _by_phase(phases: Ints, row: Ints, col: Ints) -> tuple[tuple[int, Footprint], ...]:
    """Return the footprint in each phase."""
    if (phases[1:] < phases[:-1]).any():
        order = np.argsort(phases, kind="stable")
        phases, row, col = phases[order], row[order], col[order]
    first = group_starts(phases)
    pieces = zip(np.split(row, first[1:]), np.split(col, first[1:]), strict=True)
    return tuple((n, footprint_of(*piece)) for n, piece in zip(phases[first].tolist(), pieces, strict=True))


def footprint_of(row: Ints, col: Ints) -> Footprint:
    """Return the footprint of these cells, of which there is one at least, each perhaps more than once."""
    part = CellRect(int(row.min()), int(col.min()), int(row.max()) + 1, int(col.max()) + 1)
    height, width = part.row1 - part.row0, part.col1 - part.col0
    if height * width > SPARSE * len(row) + MOST_EDGES:
        return Footprint(part)
    mask = np.zeros(height * width, bool)
    mask[(row - part.row0) * width + (col - part.col0)] = True
    if mask.all():
        return Footprint(part)
    outline = outlines.outline_of(mask.reshape(height, width), part.row0, part.col0)
    return Footprint(part, outline if len(outline.x) <= 2 * MOST_EDGES else None)


def phase_at(requests: Requests, trace: Trace, block: int, moment: int) -> int:
    """Return the phase a block is in at a moment: -1 before its first access or if it did not run."""
    place = int(np.searchsorted(trace.blocks, block))
    if place >= len(trace.blocks) or trace.blocks[place] != block:
        return -1
    begun = (requests.span_start[place] < moment) & (requests.span_end[place] > requests.span_start[place])
    return int(np.flatnonzero(begun)[-1]) if begun.any() else -1
