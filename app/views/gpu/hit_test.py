"""What stands at a place in a chart: a row, and the block or the segment that is there."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from PySide6.QtCore import QPointF

from ....tracer.model.array_types import Ints
from .image import LANE, kind_rows
from .layout import GpuLayout
from .shown import Shown
from .text import NO_DETAILS, block_told, phase_told, row_told, segment_told

GpuPart = Literal["names", "curve", "bands", "rows", "nothing"]
NEAR = 2.0  # pixels by which a pointer may miss


class Hit(NamedTuple):
    """What stands at a place."""

    part: GpuPart
    row: int  # of the rows, the nearest
    item: int | None  # block, or row of the segments' columns; None where nothing is
    time: float  # nanoseconds from the origin


def hit_at(shown: Shown, at: GpuLayout, position: QPointF) -> Hit:
    """Return what stands at a position."""
    row, time = at.row(position.y()), at.time(position.x())
    part = _part(at, position)
    if part != "rows":
        return Hit(part, row, None, time)
    near = NEAR * (at.span[1] - at.span[0]) / at.rows.width()
    item = _block_at(shown, at, position, near) if shown.is_of_blocks else segment_at(shown, row, time, near)
    return Hit(part, row, item, time)


def _part(at: GpuLayout, position: QPointF) -> GpuPart:
    if at.rows.top() <= position.y() < at.rows.bottom():
        return "names" if position.x() < at.rows.left() else "rows"
    if position.x() < at.rows.left():
        return "nothing"
    if at.curve.contains(position):
        return "curve"
    return "bands" if at.bands.contains(position) else "nothing"


def _block_at(shown: Shown, at: GpuLayout, position: QPointF, near: float) -> int | None:
    """Return the block at a position: of its lane where lanes are rows, else the first of the multiprocessor's."""
    data, row, time = shown.data, at.row(position.y()), at.time(position.x())
    machine = shown.machine_at(row)
    if machine is None:
        return None
    blocks = data.on(machine)
    if shown.level == "multiprocessor":
        blocks = blocks[data.lanes.lane[blocks] == row]
    elif at.box(0).height() >= LANE * data.lanes.at_once:
        share = (position.y() - at.box(row).top()) / at.box(row).height()
        blocks = blocks[data.lanes.lane[blocks] == int(share * data.lanes.at_once)]
    spans = data.timeline.spans
    off = np.maximum(np.maximum(spans.start[blocks] - time, time - spans.end[blocks]), 0)
    return int(blocks[off.argmin()]) if len(blocks) and off.min() <= near else None


def segments_in(shown: Shown, row: int) -> Ints:
    """Return the segments, by their places in the columns, that a row of warps or of kinds holds."""
    segments, part = shown.data.timeline.segments, shown.data.rows(shown.block)
    mine = np.arange(part.start, part.stop)
    if not len(mine):
        return mine
    if shown.level == "block":
        return np.asarray(mine[segments.warp[mine] == row])
    kind = kind_rows(shown.data)[row]
    return np.asarray(mine[(segments.warp[mine] == shown.warp) & (segments.kind[mine] == kind)])


def segment_at(shown: Shown, row: int, time: float, near: float = 0.0) -> int | None:
    """Return the segment of a row at a time, by its place in the columns, the nearest that is as near."""
    mine = segments_in(shown, row)
    if not len(mine):
        return None
    data, segments = shown.data, shown.data.timeline.segments
    begin, end = data.nanoseconds(segments.start[mine]), data.nanoseconds(segments.end[mine])
    off = np.maximum(np.maximum(begin - time, time - end), 0)
    # Of two that touch at this time the later one, as it is drawn.
    nearest = int(len(mine) - 1 - off[::-1].argmin())
    return int(mine[nearest]) if off[nearest] <= near else None


def phase_at(shown: Shown, time: float) -> int | None:
    """Return the phase of the block at a time, None outside of all."""
    spans = shown.data.phase_spans(shown.block)
    begin, end = shown.data.nanoseconds(spans.start), shown.data.nanoseconds(spans.end)
    found = np.flatnonzero((begin <= time) & (time < end))
    return int(spans.phase[found[-1]]) if len(found) else None


def text_of(shown: Shown, hit: Hit) -> str:
    """Return what was hit, in words; "" where nothing was."""
    data = shown.data
    if hit.part in ("nothing", "curve"):
        return CURVE if hit.part == "curve" else ""
    if hit.part == "bands":
        phase = phase_at(shown, hit.time)
        return "" if phase is None else phase_told(data, shown.block, phase)
    if hit.item is None:
        return row_told(shown, hit.row) if hit.part == "names" or shown.level == "gpu" else _nothing(shown)
    return block_told(data, hit.item) if shown.is_of_blocks else segment_told(data, hit.item)


def _nothing(shown: Shown) -> str:
    return "" if shown.is_of_blocks or shown.has_details else NO_DETAILS


CURVE = "Blocks that ran at once, of all that are shown, over time · measured"
