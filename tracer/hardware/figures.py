"""Figures of a timeline: concurrent blocks, and the share of their time in segments."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..model.array_types import Ints
from .timeline import BlockSpans, Timeline

WARPS: Final = 64  # more than a block has


def blocks_at_once(spans: BlockSpans) -> int:
    """Count the most blocks that one multiprocessor ran at the same time (measured)."""
    return most_concurrent(spans.multiprocessor.astype(np.int64), spans.start, spans.end)


def most_concurrent(multiprocessor: Ints, start: Ints, end: Ints) -> int:
    """Count the most blocks, or warps, that one multiprocessor ran at the same time: columns of one length."""
    number, time = np.tile(multiprocessor, 2), np.concatenate([start, end])
    change = np.repeat([1, -1], len(start))
    # At equal times, ends come first: a block replaces the one before.
    order = np.lexsort((change, time, number))
    return int(change[order].cumsum().max(initial=0))


def multiprocessors_used(spans: BlockSpans) -> int:
    """Count the multiprocessors that ran a block."""
    return len(np.unique(spans.multiprocessor))


def covered_share(timeline: Timeline) -> float:
    """Return the share of a block's span that the segments of its longest warp cover: the median of recorded blocks.

    Other warps of a block may start later and end earlier.
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
    """Return the time of the recorded launch between two events, minus that of an empty kernel."""
    return max(0.0, timeline.head.launch_microseconds - timeline.head.empty_microseconds)
