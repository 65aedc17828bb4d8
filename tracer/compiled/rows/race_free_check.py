"""A quick look at whether threads keep to themselves: one compiled pass, which spares most launches a search.

It says so only where it is plain: every element of global memory that is written belongs to one thread, every such
element of shared memory to one thread in each phase. What it leaves open, `tracer.races` finds out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...analysis.overlap import overlapping_buffers
from ...model.trace import Trace
from ..cached import cached

LARGEST = 1 << 22  # elements in the table; of larger arrays a launch that is kept touches few, far apart
CHUNK = 1 << 16  # rows
OTHERS = 1  # in place of a thread: several have been there


def keep_apart(trace: Trace) -> bool:
    """Return True where no two threads touch an element in no order of which one writes it; False may be either.

    trace: recorded block by block and phase by phase, as compiled code does.
    """
    groups = overlapping_buffers(trace, ("global", "shared"))
    start = np.full(len(trace.buffers), -1, np.int64)
    sizes = trace.buffer_columns.size
    used = [group[0] for group in groups]
    start[used] = np.cumsum(sizes[used]) - sizes[used]
    phases, threads = int(trace.phase.max(initial=0)) + 1, trace.threads + 2
    scopes = (int(trace.block.max(initial=0)) + 2) * phases
    if any(len(group) > 1 for group in groups) or sizes[used].sum() > LARGEST or scopes * threads > 1 << 61:
        return False
    shared = trace.buffer_columns.space == "shared"
    seen, last = np.zeros(int(sizes[used].sum()), np.int64), np.zeros(1, np.int64)
    for low in range(0, len(trace), CHUNK):
        names = ("block", "thread", "phase", "op", "buffer", "index")
        rows = [getattr(trace, name)[low : low + CHUNK].astype(np.int64) for name in names]
        if not pass_over(*rows, start, sizes, shared, phases, threads, seen, last):
            return False
    return True


def _pass_over(
    block: Any, thread: Any, phase: Any, op: Any, buffer: Any, index: Any,
    start: Any, sizes: Any, shared: Any, phases: Any, threads: Any, seen: Any, last: Any,
) -> Any:  # fmt: skip
    """Enter rows into `seen`; return False at the first that may meet another, or is not in order.

    seen: per element who touched it, and whether they wrote. Of global memory who is a thread of the grid; of
    shared memory one of a block's in a phase, and those of other scopes are forgotten.
    """
    for row in range(len(block)):
        number = buffer[row]
        if start[number] < 0:
            continue
        scope = block[row] * phases + phase[row] + 1
        if scope < last[0] or index[row] < 0 or index[row] >= sizes[number]:
            return False
        last[0] = scope
        mine = (scope if shared[number] else block[row] + 1) * threads + thread[row] + 2
        place, writes = start[number] + index[row], op[row] != 0
        before, wrote = seen[place] >> 1, seen[place] & 1
        if before == 0 or before == mine or (shared[number] and before // threads != scope):
            kept = wrote if before == mine else 0
            seen[place] = mine << 1 | (kept | writes)
        elif writes or wrote:
            return False
        else:
            seen[place] = ((scope * threads if shared[number] else 0) + OTHERS) << 1
    return True


pass_over = cached(_pass_over)
