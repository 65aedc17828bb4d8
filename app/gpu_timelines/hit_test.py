"""Finding the row, the block or the segment at a position in a chart."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from PySide6.QtCore import QPointF

from ...tracer.model.array_types import Ints
from .image import LANE, kind_rows
from .layout import GpuLayout
from .shown import ChartView
from .text import NO_DETAILS, describe_block, describe_phase, describe_row, describe_segment

GpuPart = Literal["names", "curve", "bands", "rows", "nothing"]
NEAR = 2.0  # pixels by which the pointer may miss


class Hit(NamedTuple):
    """The result of a hit test."""

    part: GpuPart
    row: int  # the nearest row
    item: int | None  # a block, or an index into the segments' columns
    time: float  # nanoseconds from the origin


def hit_at(shown: ChartView, layout: GpuLayout, position: QPointF) -> Hit:
    """Find the part, row, item and time at a position."""
    row, time = layout.row(position.y()), layout.time(position.x())
    part = _part(layout, position)
    if part != "rows":
        return Hit(part, row, None, time)
    tolerance = NEAR * (layout.span[1] - layout.span[0]) / layout.rows.width()
    item = (
        _block_at(shown, layout, position, tolerance)
        if shown.shows_blocks
        else segment_at(shown, row, time, tolerance)
    )
    return Hit(part, row, item, time)


def _part(layout: GpuLayout, position: QPointF) -> GpuPart:
    if layout.rows.top() <= position.y() < layout.rows.bottom():
        return "names" if position.x() < layout.rows.left() else "rows"
    if position.x() < layout.rows.left():
        return "nothing"
    if layout.curve.contains(position):
        return "curve"
    return "bands" if layout.bands.contains(position) else "nothing"


def _block_at(shown: ChartView, layout: GpuLayout, position: QPointF, tolerance: float) -> int | None:
    """Find the block at a position: the one in its lane if lanes are rows, else any of the multiprocessor."""
    data, row, time = shown.data, layout.row(position.y()), layout.time(position.x())
    machine = shown.machine_at(row)
    if machine is None:
        return None
    blocks = data.blocks_on(machine)
    if shown.level == "multiprocessor":
        blocks = blocks[data.lanes.lane[blocks] == row]
    elif layout.box(0).height() >= LANE * data.lanes.concurrent_blocks:
        share = (position.y() - layout.box(row).top()) / layout.box(row).height()
        blocks = blocks[data.lanes.lane[blocks] == int(share * data.lanes.concurrent_blocks)]
    spans = data.timeline.spans
    distance = np.maximum(np.maximum(spans.start[blocks] - time, time - spans.end[blocks]), 0)
    return int(blocks[distance.argmin()]) if len(blocks) and distance.min() <= tolerance else None


def segments_in(shown: ChartView, row: int) -> Ints:
    """List the segments in a row of warps or of kinds, as indices into the columns."""
    segments, part = shown.data.timeline.segments, shown.data.rows(shown.block)
    segment_rows = np.arange(part.start, part.stop)
    if not len(segment_rows):
        return segment_rows
    if shown.level == "block":
        return np.asarray(segment_rows[segments.warp[segment_rows] == row])
    kind = kind_rows(shown.data)[row]
    return np.asarray(
        segment_rows[(segments.warp[segment_rows] == shown.warp) & (segments.kind[segment_rows] == kind)]
    )


def segment_at(shown: ChartView, row: int, time: float, near: float = 0.0) -> int | None:
    """Find the segment of a row at a time, at most `near` away, as an index into the columns."""
    segment_rows = segments_in(shown, row)
    if not len(segment_rows):
        return None
    data, segments = shown.data, shown.data.timeline.segments
    begin, end = data.nanoseconds(segments.start[segment_rows]), data.nanoseconds(segments.end[segment_rows])
    distance = np.maximum(np.maximum(begin - time, time - end), 0)
    # If two segments touch at this time, take the later one, which is drawn on top.
    nearest = int(len(segment_rows) - 1 - distance[::-1].argmin())
    return int(segment_rows[nearest]) if distance[nearest] <= near else None


def phase_at(shown: ChartView, time: float) -> int | None:
    """Find the block's phase at a time."""
    spans = shown.data.phase_spans(shown.block)
    begin, end = shown.data.nanoseconds(spans.start), shown.data.nanoseconds(spans.end)
    matching = np.flatnonzero((begin <= time) & (time < end))
    return int(spans.phase[matching[-1]]) if len(matching) else None


def describe_hit(shown: ChartView, hit: Hit) -> str:
    """Describe a hit; "" if there is nothing."""
    data = shown.data
    if hit.part in ("nothing", "curve"):
        return CURVE if hit.part == "curve" else ""
    if hit.part == "bands":
        phase = phase_at(shown, hit.time)
        return "" if phase is None else describe_phase(data, shown.block, phase)
    if hit.item is None:
        return (
            describe_row(shown, hit.row) if hit.part == "names" or shown.level == "gpu" else _nothing(shown)
        )
    return describe_block(data, hit.item) if shown.shows_blocks else describe_segment(data, hit.item)


def _nothing(shown: ChartView) -> str:
    return "" if shown.shows_blocks or shown.has_details else NO_DETAILS


CURVE = "Blocks that ran at once, of all that are shown, over time · measured"
