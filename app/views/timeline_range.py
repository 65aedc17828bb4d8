"""Which moments a timeline shows: a block from its start to its end, or what the user zoomed to. No Qt."""

from __future__ import annotations

from .tracks import BlockTrack

Range = tuple[float, float]
LEAST = 4.0  # moments


def whole_range(block: BlockTrack, end: int) -> Range:
    """Return the moments at the edges when a whole block is shown; of one that is not in the trace, the launch."""
    first, last = block.span if block.present else (1, max(1, end))
    margin = 0.004 * (last + 1 - first)
    return first - max(1.1, margin), last + 1 + max(0.25, margin)


def fitted(first: float, last: float, whole: Range, end: int) -> Range:
    """Return a range moved and cut so that it has its least length and is empty beside the whole block alone.

    end: of the launch, which a range longer than the block stays within.
    """
    begin, finish = whole
    longest = max(1.04 * (end + 1), finish - begin)
    span = min(max(last - first, LEAST), longest)
    low, high = begin, finish - span
    if low > high:  # it is longer than the block
        low, high = max(high, min(begin, -0.02 * (end + 1))), min(low, max(finish, 1.02 * (end + 1)) - span)
    first = min(max(first + (last - first - span) / 2, low), high)
    return first, first + span
