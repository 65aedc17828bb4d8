"""The segments of an explicit order as spans of a timeline: which threads of a block ran when. No Qt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....tracer.model.order import Segment
from ....tracer.model.trace import WARP
from ...model.session import Session
from ...model.thread_turns import order_of

MOST_SPANS = 2000  # in a block


class OrderSpan(NamedTuple):
    """The moments in which threads of a warp went before their turn."""

    warp: int  # number in the block
    first: int  # moment
    last: int
    name: str  # t3, w1, b2 or all


def order_spans(session: Session, block: int) -> list[OrderSpan]:
    """List the spans of an order's segments in a block, at most MOST_SPANS; none for other schedules."""
    trace, requests = session.trace, session.requests
    segments = order_of(session).segments if len(trace) else ()
    # The last segment has no end where the launch ends with it.
    is_open = len(trace.segment_ends) < len(segments)
    end = len(trace) if is_open else int(np.searchsorted(trace.step, max(trace.segment_ends, default=0)))
    rows = np.flatnonzero(trace.block[:end] == block) if segments else ()
    if not len(rows):
        return []
    rows = np.asarray(rows)
    number = trace.segments_of(trace.steps_of(rows))
    warp = trace.thread[rows].astype(np.int64) // WARP
    moment = requests.moment[requests.request[rows]]
    order = np.lexsort((moment, warp, number))
    number, warp, moment = number[order], warp[order], moment[order]
    starts = np.flatnonzero(np.diff(number, prepend=-1) | np.diff(warp, prepend=-1))
    ends = np.append(starts[1:], len(order)) - 1
    return [
        OrderSpan(int(warp[start]), int(moment[start]), int(moment[stop]), _name(segments[number[start]]))
        for start, stop in zip(starts[:MOST_SPANS].tolist(), ends[:MOST_SPANS].tolist(), strict=True)
        if number[start] < len(segments) and _is_choice(segments[number[start]])
    ]


def _is_choice(segment: Segment) -> bool:
    """Check whether a segment chooses threads; `b0/1` and `all/1` only wait for a barrier."""
    return bool(segment.count) or segment.barrier < 0


def _name(segment: Segment) -> str:
    """Name the threads of a segment within their block."""
    if not segment.count:
        return "all" if segment.block < 0 else f"b{segment.block}"
    return f"t{segment.first}" if segment.count == 1 else f"w{segment.first // WARP}"


def order_text(spans: list[OrderSpan], warp: int, moment: int) -> str:
    """Describe who goes before their turn in a warp at a moment; "" if no thread does."""
    names = [span.name for span in spans if span.warp == warp and span.first <= moment <= span.last]
    if not names:
        return ""
    kinds = {"t": "thread", "w": "warp", "b": "block"}
    name = names[0]
    return (
        f"; the order chose {kinds[name[0]]} {name[1:]}"
        if name[0] in kinds
        else "; the order chose all blocks"
    )
