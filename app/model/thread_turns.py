"""Who can go next in a launch: the threads, warps and blocks that an order can choose, and its parts in words."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ...tracer.model.array_types import Ints
from ...tracer.model.finding import access_element, count_noun, line_text, thread_text
from ...tracer.model.launch import Schedule
from ...tracer.model.order import Order, OrderTextError, Segment, parse_order
from ...tracer.model.trace import WARP, Op, Trace
from ...tracer.orders.search import LOCKSTEP_ORDER
from ...tracer.orders.shrink import joined_segments
from .session import Session

Unit = Literal["thread", "warp", "block"]
UNITS: tuple[Unit, ...] = get_args(Unit)
MOST_ACCESSES = 2_000_000  # of a launch whose next accesses are looked for while the window waits
MOST_CHOICES = 1024
_VERBS = {Op.LOAD: "reads", Op.STORE: "writes", Op.ATOMIC: "updates", Op.REDUCTION: "updates"}


class TurnChoice(Struct, frozen=True):
    """Threads that can go next."""

    segment: Segment  # one access of each
    words: str  # "thread 3: reads tile[0] in line 14"


def order_of(session: Session) -> Order:
    """Return the explicit order of a session's launch; one without segments for another schedule."""
    try:
        order = parse_order(session.launch.schedule.order_text)
    except OrderTextError:
        return Order(())
    return Order(()) if order == LOCKSTEP_ORDER else order


def schedule_of(order: Order) -> Schedule:
    """Return the schedule that runs an order; lockstep by accesses without segments."""
    return Schedule("order", order=str(order if order.segments else LOCKSTEP_ORDER))


def with_part(order: Order, segment: Segment, index: int | None = None) -> Order:
    """Insert a segment before the one at an index, by default at the end; adjacent turns of a thread are joined."""
    segments = list(order.segments)
    segments.insert(len(segments) if index is None else index, segment)
    return Order(joined_segments(segments))


def without_part(order: Order, index: int) -> Order:
    """Remove a segment."""
    return Order(joined_segments([s for i, s in enumerate(order.segments) if i != index]))


def with_moved_part(order: Order, index: int, to: int) -> Order:
    """Move a segment so that it comes before the one at another index; the number of segments is the end."""
    segments = list(order.segments)
    moved = segments.pop(index)
    segments.insert(to - (to > index), moved)
    return Order(joined_segments(segments))


def unlimited(segment: Segment) -> Segment:
    """Return a segment whose threads run until they wait or end."""
    return replace(segment, turns=0)


def chosen_moment(session: Session) -> float:
    """Return the moment after the last segment of the launch's order; 0 without segments."""
    steps = session.trace.step
    row = int(np.searchsorted(steps, max(session.trace.segment_ends, default=0))) - 1
    if row < 0 or row >= len(steps):
        return 0.0
    return float(session.requests.moment[session.requests.request[row]])


def choices_of(session: Session, unit: Unit, block: int) -> tuple[TurnChoice, ...]:
    """List who can go after the order's last segment: threads or warps of a block, or blocks.

    Threads that wait at a barrier, have ended, or are of blocks that have not begun can't.
    """
    trace = session.trace
    rows = _next_rows(trace)
    if unit == "block":
        blocks, counts = np.unique(trace.block[rows], return_counts=True)
        numbered = zip(blocks.tolist(), counts.tolist(), strict=True)
        return tuple(
            TurnChoice(Segment(number, 0, 0, 1), f"block {number}: {count_noun(count, 'thread')} can go")
            for number, count in list(numbered)[:MOST_CHOICES]
        )
    rows = rows[trace.block[rows] == block]
    if unit == "thread":
        return tuple(_thread_choice(session, int(row)) for row in rows[:MOST_CHOICES])
    warps = trace.thread[rows].astype(np.int64) // WARP
    return tuple(_warp_choice(session, block, int(warp), rows[warps == warp]) for warp in np.unique(warps))


def _thread_choice(session: Session, row: int) -> TurnChoice:
    trace = session.trace
    block, thread = int(trace.block[row]), int(trace.thread[row])
    return TurnChoice(Segment(block, thread, 1, 1), f"{thread_text(trace, row)}: {_access_text(trace, row)}")


def _warp_choice(session: Session, block: int, warp: int, rows: Ints) -> TurnChoice:
    lanes = count_noun(len(rows), "lane")
    words = f"warp {warp}: {lanes} can go, the first {_access_text(session.trace, int(rows[0]))}"
    return TurnChoice(Segment(block, warp * WARP, WARP, 1), words)


def _access_text(trace: Trace, row: int) -> str:
    verb = _VERBS[Op(int(trace.op[row]))]
    return f"{verb} {access_element(trace, row)} in {line_text(trace, int(trace.site[row]))}"


def _next_rows(trace: Trace) -> Ints:
    """Find the next access of each thread that can go, by block and thread."""
    if len(trace) > MOST_ACCESSES:
        return np.empty(0, np.int64)
    begin = int(np.searchsorted(trace.step, max(trace.segment_ends, default=0)))
    later = np.arange(begin, len(trace))
    numbers = trace.thread_of(later)
    first = later[np.unique(numbers, return_index=True)[1]]
    position = trace.block_positions(trace.block[first])
    phase = trace.phase[first].astype(np.int64)
    current = np.full(len(trace.blocks), np.iinfo(np.int64).max)
    np.minimum.at(current, position, phase)
    goes_on = np.bincount(position, minlength=len(trace.blocks)) > 0
    began = np.cumsum(goes_on) <= max(1, trace.resident)  # a block begins when one before it has ended
    chosen: Ints = first[(phase == current[position]) & began[position]]
    return chosen
