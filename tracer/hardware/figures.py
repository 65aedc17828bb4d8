"""What a timeline comes to: how many blocks were on a multiprocessor at once, and how much of their time is told."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..model.array_types import Ints
from .timeline import BlockSpans, Timeline

WARPS: Final = 64  # more than a block has


def blocks_at_once(spans: BlockSpans) -> int:
    """Return the most blocks that one multiprocessor ran at the same time (measured)."""
    return at_once(spans.multiprocessor.astype(np.int64), spans.start, spans.end)


def at_once(multiprocessor: Ints, start: Ints, end: Ints) -> int:
    """Return the most blocks, or warps, that one multiprocessor ran at the same time: columns of one length."""
    number, time = np.tile(multiprocessor, 2), np.concatenate([start, end])
    change = np.repeat([1, -1], len(start))
    # At the same moment ends come first: a block takes the place of the one before.
    order = np.lexsort((change, time, number))
    return int(change[order].cumsum().max(initial=0))


def multiprocessors_used(spans: BlockSpans) -> int:
    """Return how many multiprocessors ran a block."""
    return len(np.unique(spans.multiprocessor))


def share_in_segments(timeline: Timeline) -> float:
    """Return what part of a block's span the segments of its longest warp add up to: the median of all blocks with any.

    Other warps of a block may start later and end before it does.
    """
    segments, spans = timeline.segments, timeline.spans
    if not len(segments):
        return 0.0
    warp, first = np.unique(segments.block.astype(np.int64) * WARPS + segments.warp, return_index=True)
    sums = np.add.reduceat(segments.end - segments.start, first)
    block, first = np.unique(warp // WARPS, return_index=True)
    cycles = (spans.end - spans.start)[block] * timeline.head.mhz / 1000
    return float(np.median(np.maximum.reduceat(sums, first) / np.maximum(cycles, 1)))


def kernel_microseconds(timeline: Timeline) -> float:
    """Return what the recorded launch took between two events, less what a kernel takes that does nothing."""
    return max(0.0, timeline.head.launch_microseconds - timeline.head.empty_microseconds)
