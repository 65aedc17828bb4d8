"""Which part of each buffer a block touches, in all and phase by phase: bounding boxes in cells. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...tracer.memory import Memory
from ...tracer.requests import Requests
from ...tracer.runs import run_starts
from ...tracer.trace import Trace
from .sheet import Ints, Sheet


class Part(NamedTuple):
    """Cells row0 <= row < row1, col0 <= col < col1 of a sheet."""

    row0: int
    col0: int
    row1: int
    col1: int


@dataclass(frozen=True)
class Frames:
    """What one block touches of each buffer: `whole` in all; `phased` as (phase, part), in order of phase."""

    whole: Mapping[int, Part]
    phased: Mapping[int, tuple[tuple[int, Part], ...]]

    def at(self, buffer: int, phase: int) -> Part | None:
        """Return what the block touches in this phase or, if it does not touch the buffer then, touched last."""
        parts = [part for number, part in self.phased.get(buffer, ()) if number <= phase]
        return parts[-1] if parts else None


def frames_of(trace: Trace, memory: Memory, rows: Ints, sheets: Mapping[int, Sheet]) -> Frames:
    """Return the frames of a block on the sheets of some buffers; rows: its accesses."""
    buffers = trace.buffer[rows]
    whole, phased = {}, {}
    for number, sheet in sheets.items():
        mine = rows[np.flatnonzero(buffers == number)]
        elements = memory.places(number, trace.index[mine])
        if len(inside := np.flatnonzero(elements >= 0)):
            parts = _parts(trace.phase[mine[inside]].astype(np.int64), *sheet.cells(elements[inside]))
            whole[number] = _around([part for _, part in parts])
            phased[number] = parts
    return Frames(whole, phased)


def _parts(phases: Ints, row: Ints, col: Ints) -> tuple[tuple[int, Part], ...]:
    """Return the bounding box of the cells of each phase."""
    if (phases[1:] < phases[:-1]).any():
        order = np.argsort(phases, kind="stable")
        phases, row, col = phases[order], row[order], col[order]
    first = run_starts(phases)
    numbers = phases[first].tolist()
    low = [np.minimum.reduceat(a, first) for a in (row, col)]
    high = [np.maximum.reduceat(a, first) + 1 for a in (row, col)]
    corners = np.stack([*low, *high], axis=1).tolist()
    return tuple((n, Part(*c)) for n, c in zip(numbers, corners, strict=True))


def _around(parts: list[Part]) -> Part:
    row0, col0, row1, col1 = zip(*parts, strict=True)
    return Part(min(row0), min(col0), max(row1), max(col1))


def phase_at(requests: Requests, trace: Trace, block: int, moment: int) -> int:
    """Return the phase a block is in at a moment: -1 before its first access or if it did not run."""
    place = int(np.searchsorted(trace.blocks, block))
    if place >= len(trace.blocks) or trace.blocks[place] != block:
        return -1
    begun = (requests.span_start[place] < moment) & (requests.span_end[place] > requests.span_start[place])
    return int(np.flatnonzero(begun)[-1]) if begun.any() else -1
