"""Find the phases and blocks of a session, and choose the block to look at. Pure functions of NumPy arrays."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...tracer.analysis.requests import REQUEST_KINDS
from .session import Selection, Session


def row_of(session: Session, block: int) -> int:
    """Find the row of `requests.span_start` for a block; the first row for a block that did not run."""
    blocks = session.trace.blocks
    row = int(np.searchsorted(blocks, block))
    return row if row < len(blocks) and int(blocks[row]) == block else 0


def block_span(session: Session, block: int) -> tuple[int, int]:
    """Return (start, end) of a block: it runs in the moments start < m <= end."""
    requests, row = session.requests, row_of(session, block)
    if requests.span_start.size == 0:
        return 0, session.end
    return int(requests.span_start[row].min()), int(requests.span_end[row].max())


def phase_at(session: Session, block: int, moment: float) -> int:
    """Find the phase of a block at a moment: the first before its start, the last after its end."""
    requests, row = session.requests, row_of(session, block)
    if requests.span_start.size == 0:
        return 0
    begun = np.flatnonzero(
        (requests.span_start[row] < math.floor(moment)) & (requests.span_start[row] < requests.span_end[row])
    )
    return int(begun[-1]) if len(begun) else 0


def phase_span(session: Session, block: int, phase: int) -> tuple[int, int]:
    """Return (start, end) of a phase of a block: it consists of the moments start < m <= end.

    A phase beyond the last is the end of the block.
    """
    requests, row = session.requests, row_of(session, block)
    if requests.span_start.size == 0:
        return 0, session.end
    if phase >= requests.span_start.shape[1]:
        return session.end, session.end
    return int(requests.span_start[row, phase]), int(requests.span_end[row, phase])


def next_phase(session: Session, block: int, moment: float, direction: int) -> int:
    """Find the first moment of the next phase (1), or of the current or previous phase (-1).

    Phases of the block come first, then those of the other blocks, then the start or the end of the launch.
    """
    requests = session.requests
    real = requests.span_start < requests.span_end
    row = row_of(session, block)
    for chosen in (slice(row, row + 1), slice(None)):
        nearest = _beyond(requests.span_start[chosen][real[chosen]] + 1, moment, direction)
        if nearest is not None:
            return nearest
    return session.end if direction > 0 else 0


def _beyond(moments: NDArray[np.int64], moment: float, direction: int) -> int | None:
    """Find the nearest of these moments after (1) or before (-1) `moment`, or None."""
    here = math.floor(moment) if direction > 0 else math.ceil(moment)
    left = moments[moments > here] if direction > 0 else moments[moments < here]
    if len(left) == 0:
        return None
    return int(left.min()) if direction > 0 else int(left.max())


def next_block(session: Session, block: int, direction: int) -> int:
    """Find the block that ran after (1) or before (-1) this one, or this one at either end."""
    blocks = session.trace.blocks
    row = min(max(row_of(session, block) + direction, 0), len(blocks) - 1)
    return int(blocks[row]) if len(blocks) else block


def clamp_selection(session: Session, selection: Selection) -> Selection:
    """Clamp the selection to the blocks and threads of the launch."""
    last = math.prod(session.trace.grid) - 1, session.trace.threads - 1
    block, thread = (
        max(0, min(*pair)) for pair in zip((selection.block, selection.thread), last, strict=True)
    )
    return Selection(block, thread)


def follow_running_block(session: Session, selection: Selection, moment: float) -> Selection:
    """Move the selection to a block that runs at this moment unless its own does, and clamp it."""
    selection = clamp_selection(session, selection)
    blocks, requests, thread = session.trace.blocks, session.requests, selection.thread
    if len(blocks) == 0 or requests.span_start.size == 0:
        return selection
    now = min(
        max(math.floor(moment), 1), max(session.end, 1)
    )  # nothing runs at 0, so the first block is shown
    start, end = requests.block_spans
    running = (start < now) & (now <= end)
    row = row_of(session, selection.block)
    is_own_block = int(blocks[row]) == selection.block
    if is_own_block and (running[row] or not running.any()):
        return Selection(selection.block, thread)
    return Selection(int(blocks[int(np.argmax(running))]), thread)


def first_load(session: Session) -> int:
    """Find the moment of the first load from global memory, or 1: a picture that is not empty."""
    loads = session.requests.moment[session.requests.kind == REQUEST_KINDS.index("global load")]
    return int(loads[0]) if len(loads) else min(1, session.end)
