"""What has to hold of any timeline of a GPU: its parts agree with one another, and with what else was measured."""

from __future__ import annotations

import math

import numpy as np

from tilescope.tracer.hardware.figures import blocks_at_once, covered_share, kernel_microseconds
from tilescope.tracer.hardware.timeline import Timeline

NEAR = 0.05  # by how much sums and spans may differ
LONG = 30.0  # microseconds of launches whose beginning and end weigh little


def check_order(timeline: Timeline) -> None:
    """Assert that each warp's segments follow one another without gaps, within its block's span."""
    segments = timeline.segments
    assert (segments.end >= segments.start).all()
    same = np.diff(segments.block.astype(np.int64) * 64 + segments.warp) == 0
    assert (segments.start[1:][same] == segments.end[:-1][same]).all()
    lengths = _cycles_of_spans(timeline)[segments.block]
    assert (segments.end <= lengths + _doubt(timeline)).all()
    assert (timeline.spans.end >= timeline.spans.start).all()


def check_sums(timeline: Timeline) -> None:
    """Assert that the segments of a block's longest warp add up to the block's span, or of most blocks nearly."""
    segments = timeline.segments
    key, first = np.unique(segments.block.astype(np.int64) * 64 + segments.warp, return_index=True)
    sums = np.add.reduceat(segments.end - segments.start, first)
    spans = _cycles_of_spans(timeline)[key // 64]
    ratio = sums / np.maximum(spans, 1)
    assert ratio.max() <= 1 + NEAR + _doubt(timeline) / spans.min()
    assert covered_share(timeline) >= 1 - NEAR


def check_blocks_at_once(timeline: Timeline) -> None:
    """Assert that a multiprocessor never ran more warps than those of the blocks that the driver says fit on it.

    A block may begin before others have ended, in the place of warps of theirs that have.
    """
    head, most = timeline.head, blocks_at_once(timeline.spans)
    per_block = -(-math.prod(head.block) // 32)
    assert 1 <= head.warps_at_once <= head.marked.blocks_at_once * per_block
    if most > head.marked.blocks_at_once:
        assert any(note.startswith(f"Up to {most} blocks ran on a multiprocessor") for note in head.notes)


def check_span(timeline: Timeline) -> None:
    """Assert that from the first start to the last end is what the launch took, less what an empty kernel takes."""
    head = timeline.head
    if head.launch_microseconds >= LONG:
        assert (
            abs(timeline.nanoseconds / 1000 - kernel_microseconds(timeline))
            <= NEAR * head.launch_microseconds
        )


def _cycles_of_spans(timeline: Timeline) -> np.ndarray:  # type: ignore[type-arg]
    spans = timeline.spans
    return (spans.end - spans.start) * timeline.head.mhz / 1000


def _doubt(timeline: Timeline) -> float:
    """Return the cycles by which spans may be wrong, in cycles of the usual rate.

    Nanoseconds come by the rate of the block's multiprocessor, and cycles by the median of all: each rate is known to
    a reading of the timer before the launch and one after it.
    """
    return 4 * timeline.head.resolution_ns * timeline.head.mhz / 1000
