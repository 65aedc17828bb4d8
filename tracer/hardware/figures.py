"""What a timeline comes to: how many blocks were on a multiprocessor at once, and how much of their time is told."""

from __future__ import annotations

from typing import Final

import numpy as np

from .timeline import BlockSpans, Timeline

WARPS: Final = 64  # more than a block has


def blocks_at_once(spans: BlockSpans) -> int:
    """Return the most blocks that one multiprocessor ran at the same time (measured)."""
    count = len(spans.start)
    number = np.tile(spans.multiprocessor.astype(np.int64), 2)
    time = np.concatenate([spans.start, spans.end])
    change = np.repeat([1, -1], count)
    # At the same moment ends come first: a block takes the place of the one before.
    order = np.lexsort((change, time, number))
    return int(change[order].cumsum().max(initial=0))


def multiprocessors_used(spans: BlockSpans) -> int:
    """Return how many multiprocessors ran a block."""
    return len(np.unique(spans.multiprocessor))


def share_in_segments(timeline: Timeline) -> float:
    """Return what part of its block's span the segments of a warp add up to: the median of all warps that have any."""
    segments, spans = timeline.segments, timeline.spans
    if not len(segments):
        return 0.0
    warp, first = np.unique(segments.block.astype(np.int64) * WARPS + segments.warp, return_index=True)
    sums = np.add.reduceat(segments.end - segments.start, first)
    cycles = (spans.end - spans.start)[warp // WARPS] * timeline.head.mhz / 1000
    return float(np.median(sums / np.maximum(cycles, 1)))


def kernel_microseconds(timeline: Timeline) -> float:
    """Return what the recorded launch took between two events, less what a kernel takes that does nothing."""
    return max(0.0, timeline.head.launch_microseconds - timeline.head.empty_microseconds)
