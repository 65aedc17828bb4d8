"""What orders two accesses that race, where it is no more than a barrier between them."""

from __future__ import annotations

import numpy as np

from .finding import line_text
from .meetings import Race
from .order_events import locations_of
from .trace import FENCE, FENCE_BLOCK, WARP, Op, Trace


def fence_remedy(trace: Trace, race: Race) -> str:
    """Return where a fence is missing between blocks that already meet at an atomic; "" where they don't.

    The first writes and its block then makes an atomic; the other's block made one on the same element, and uses
    what it got, before the second access.
    """
    first, second = race.first, race.second
    rows = np.flatnonzero(trace.op >= Op.ATOMIC)
    released = rows[(trace.block[rows] == trace.block[first]) & (rows > first)]
    taken = rows[(trace.block[rows] == trace.block[second]) & (rows < second) & (trace.op[rows] == Op.ATOMIC)]
    if race.scope != "grid" or not (trace.op[first] == Op.STORE and len(released) and len(taken)):
        return ""
    where = locations_of(trace, np.concatenate([released, taken]))
    both = np.isin(where[: len(released)], where[len(released) :])
    if not both.any():
        return ""
    atomic = int(released[both][0])
    line = line_text(trace, int(trace.site[atomic]))
    if not _fenced(trace, first, atomic):
        written = line_text(trace, int(trace.site[first]))
        return f"put cuda.threadfence() between {written} and the atomic on {line}"
    return f"put cuda.threadfence() after the atomic on {line}, before what was written is used"


def _fenced(trace: Trace, first: int, atomic: int) -> bool:
    """Return whether the block of an access made a fence for the grid after it and before its atomic."""
    events = trace.warp_barriers
    mine = (events.reach == FENCE) & (events.block == trace.block[first])
    return bool((mine & (events.step > trace.step[first]) & (events.step <= trace.step[atomic])).any())


def mask_remedy(trace: Trace, race: Race) -> str:
    """Return which syncwarp between two lanes leaves one of them out of its mask; "" where there is none."""
    events, (first, second) = trace.warp_barriers, (race.first, race.second)
    if race.scope != "warp":
        return ""
    between = (events.block == trace.block[first]) & (events.reach > 0) & (events.reach < FENCE_BLOCK)
    between &= (events.step > trace.step[first]) & (events.step <= trace.step[second])
    for one, other in ((first, second), (second, first)):
        lane = int(trace.thread[other]) % WARP
        left_out = (events.reach.astype(np.int64) >> lane & 1) == 0
        found = np.flatnonzero(between & left_out & (events.thread == trace.thread[one]))
        if len(found):
            line = line_text(trace, int(events.site[found[0]]))
            return f"name both lanes in the mask of cuda.syncwarp() on {line}"
    return ""
