"""Tooltips of a timeline: the block of the strip, phase, warp or request under the pointer, in words."""

from __future__ import annotations

from typing import Literal

import numpy as np
from PySide6.QtCore import QPointF, QRectF

from ....tracer.analysis.requests import REQUEST_KINDS
from ....tracer.model.array_types import Ints
from ...model.session import Session
from ..common.activity import BlockActivity, block_activity, warp_activity, warp_status
from ..common.descriptions import exchange_text
from ..common.order_spans import order_spans, order_text
from ..common.wording import block_text, buffer_text, phase_text, plural
from .paint import TimelineViewData, cycles_text
from .timeline_layout import TimelineLayout

TimelinePart = Literal["strip", "bands", "rows", "axis", "names"]


def text_at(part: TimelinePart, data: TimelineViewData, layout: TimelineLayout, position: QPointF) -> str:
    """Describe the item at a position; "" if there is none."""
    session, moment = data.session, layout.moment(position.x())
    if part == "strip":
        block = block_at(session, data.lane, layout.strip, position)
        return block_moments_text(session, block_activity(session, block))
    if part == "bands" and data.block.present:
        return phase_moments_text(data, moment)
    if part == "names":
        return warp_name_text(data, layout, position.y())
    if part != "rows":
        return ""
    warp = warp_at(data, layout, position.y())
    spans = order_spans(session, data.block.block)
    return warp_text(data, moment, warp) + order_text(spans, warp, int(moment))


def block_at(session: Session, lane: Ints, strip: QRectF, position: QPointF) -> int:
    """Find the block (linear number) in the strip's lane under a position, the nearest in time."""
    requests = session.requests
    start, end = requests.block_spans
    moment = (position.x() - strip.left()) / strip.width() * max(1, requests.end)
    rows = int(lane.max(initial=0)) + 1
    row = min(max(int((position.y() - strip.top()) / strip.height() * rows), 0), rows - 1)
    distance = np.maximum(np.maximum(start - moment, moment - end), 0)
    return int(session.trace.blocks[np.lexsort((np.abs(lane - row), distance))[0]])


def phase_start(block: BlockActivity, moment: float) -> float:
    """Find the first moment of the phase that a moment belongs to."""
    return float(block.start[block.phase_at(moment)] + 1)


def warp_at(data: TimelineViewData, layout: TimelineLayout, y: float) -> int:
    """Find the warp whose row is at a height; outside the rows, the nearest warp."""
    warps = len(data.codes)
    return min(max(int((y - layout.rows.top()) / layout.rows.height() * warps), 0), warps - 1)


def warp_text(data: TimelineViewData, moment: float, warp: int) -> str:
    """Describe the activity of a warp at a moment."""
    session, block = data.session, data.block
    status = warp_status(block, warp_activity(session.requests, block.block, warp), session.requests, moment)
    prefix = f"warp {warp}, moment {int(moment):,}: "
    if status.state == "exchange":
        exchange = session.requests.exchanges.find(block.block, warp, int(moment))
        return f"{prefix}{exchange_text(session, exchange)}"
    if status.state != "request":
        return prefix + {"waiting": "waits at a barrier", "absent": "not in the trace", "before": "not started",
                       "after": "done", "idle": "between two accesses"}[status.state]  # fmt: skip
    requests, trace = session.requests, session.trace
    buffer = buffer_text(trace.buffers[int(requests.buffer[status.request])])
    lanes, line = int(requests.lanes[status.request]), trace.sites[status.site].line
    return (
        prefix
        + f"{REQUEST_KINDS[requests.kind[status.request]]} of {buffer} by {plural(lanes, 'lane')}, line {line}"
    )


def warp_name_text(data: TimelineViewData, layout: TimelineLayout, y: float) -> str:
    """Describe the warp whose row is at a height, and its selection; "" outside the rows."""
    if not layout.rows.top() <= y <= layout.rows.bottom():
        return ""
    warp = warp_at(data, layout, y)
    return (
        f"warp {warp}: selected, \u25b8 marks its row"
        if warp == data.warp
        else f"warp {warp}: click to select"
    )


def block_moments_text(session: Session, block: BlockActivity) -> str:
    """Describe a block: its name and moments."""
    first, last = block.span
    name = block_text(session.trace, block.block)
    return f"{name}, moments {first:,} to {last:,}: click to select"


def phase_moments_text(data: TimelineViewData, moment: float) -> str:
    """Describe a phase: its name, moments and measured cycles."""
    block, phase = data.block, data.block.phase_at(moment)
    label = phase_text(data.session.scenario, phase, block.phases).label
    ended = ", ended by a barrier" if block.arrived[:, phase].any() else ""
    measured = f"; {cycles_text(data.cycles[phase])} on {data.measured}" if phase in data.cycles else ""
    return (
        f"phase {phase}: {label}, moments {block.start[phase] + 1:,} to {block.end[phase]:,}{ended}{measured}"
    )
