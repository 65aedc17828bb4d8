"""Which blocks shared a multiprocessor: how many at once, and in which lane and wave each of them ran."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ..model.array_types import Ints
from .timeline import BlockSpans

NEVER = np.iinfo(np.int64).min


class BlockLanes(Struct, frozen=True, eq=False):
    """Where blocks stand beside each other on their multiprocessors: columns of shape (blocks,)."""

    lane: Ints  # from 0 on, the lowest of the multiprocessor that was free at the block's start
    wave: Ints  # how many blocks ran in that lane before it

    @property
    def at_once(self) -> int:
        """The most blocks that were on one multiprocessor at once."""
        return int(self.lane.max(initial=-1)) + 1

    @property
    def waves(self) -> int:
        """How many blocks ran one after the other in the lane that had most of them."""
        return int(self.wave.max(initial=-1)) + 1


def block_lanes(spans: BlockSpans, resolution: float = 0.0) -> BlockLanes:
    """Return the lanes of a launch's blocks.

    resolution: nanoseconds by which clocks may be off. A block that begins no more than that before another ends, and
    no more than half a usual block, is taken for the one that follows it. Each block takes the first lane that is
    free in the order of their starts, so that no more lanes are needed than blocks were at once (interval
    partitioning; Kleinberg and Tardos, Algorithm Design, 4.1). All multiprocessors take their next block together,
    which makes a loop over the blocks of one of them.
    """
    machine = spans.multiprocessor.astype(np.int64)
    order = np.lexsort((spans.end, spans.start, machine))
    machines = int(machine.max(initial=-1)) + 1
    counts = np.bincount(machine, minlength=machines)
    first = np.cumsum(counts) - counts  # of each multiprocessor's blocks in `order`
    lane, wave = np.zeros(len(machine), np.int64), np.zeros(len(machine), np.int64)
    slack = min(resolution, float(np.median(spans.end - spans.start)) / 2) if len(machine) else 0.0
    free = np.full((machines, 1), NEVER)  # when each lane's last block ended
    ran = np.zeros((machines, 1), np.int64)  # blocks in each lane
    for turn in range(int(counts.max(initial=0))):
        here = np.flatnonzero(counts > turn)
        block = order[first[here] + turn]
        is_free = free[here] <= (spans.start[block] + slack)[:, None]
        if not is_free.any(axis=1).all():
            free = np.pad(free, ((0, 0), (0, 1)), constant_values=NEVER)
            ran = np.pad(ran, ((0, 0), (0, 1)))
            is_free = np.pad(is_free, ((0, 0), (0, 1)), constant_values=True)
        taken = is_free.argmax(axis=1)
        lane[block], wave[block] = taken, ran[here, taken]
        free[here, taken] = spans.end[block]
        ran[here, taken] += 1
    return BlockLanes(lane, wave)
