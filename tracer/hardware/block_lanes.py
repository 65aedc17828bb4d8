"""Concurrent blocks of a multiprocessor: how many there are, and the lane and the wave of each."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ..model.array_types import Ints
from .timeline import BlockSpans

NEVER = np.iinfo(np.int64).min


class BlockLanes(Struct, frozen=True, eq=False):
    """The lanes of blocks on their multiprocessors: columns of shape (blocks,)."""

    lane: Ints  # from 0 on, the lowest free one of the multiprocessor at the block's start
    wave: Ints  # the number of earlier blocks in that lane

    @property
    def concurrent_blocks(self) -> int:
        """The largest number of concurrent blocks on one multiprocessor."""
        return int(self.lane.max(initial=-1)) + 1

    @property
    def waves(self) -> int:
        """The largest number of consecutive blocks in a lane."""
        return int(self.wave.max(initial=-1)) + 1


def block_lanes(spans: BlockSpans, resolution: float = 0.0) -> BlockLanes:
    """Assign lanes to a launch's blocks.

    resolution: nanoseconds by which clocks may differ. A block that begins at most that long before another ends, and
    at most half a median block, counts as its successor. Each block takes the first free lane, in the order of their
    starts, so that there are only as many lanes as concurrent blocks (interval partitioning; Kleinberg and Tardos,
    Algorithm Design, 4.1). All multiprocessors take their next blocks together, so the loop has as many turns as the
    busiest multiprocessor has blocks.
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
        active = np.flatnonzero(counts > turn)
        block = order[first[active] + turn]
        is_free = free[active] <= (spans.start[block] + slack)[:, None]
        if not is_free.any(axis=1).all():
            free = np.pad(free, ((0, 0), (0, 1)), constant_values=NEVER)
            ran = np.pad(ran, ((0, 0), (0, 1)))
            is_free = np.pad(is_free, ((0, 0), (0, 1)), constant_values=True)
        chosen = is_free.argmax(axis=1)
        lane[block], wave[block] = chosen, ran[active, chosen]
        free[active, chosen] = spans.end[block]
        ran[active, chosen] += 1
    return BlockLanes(lane, wave)
