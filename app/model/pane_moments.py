"""Link the moments of panes to that of the playhead: by moment, or by progress. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from .bookmark import Link


def pane_moments(position: float, ends: Sequence[int], mode: Link) -> tuple[float, ...]:
    """Compute the moment of each pane, whose last moments are `ends`, for a playhead at `position`.

    When linked by moment, every pane shows that moment, or its end. When linked by progress, each pane has completed
    the same fraction of its ticks, where tick m spans m to m + 1. Blocks at equal fractions therefore start together.
    """
    longest = max(ends, default=0)
    if mode == "moment" or longest == 0 or position < 1:
        return tuple(min(position, float(end)) for end in ends)
    return tuple(min(_without_rounding((position - 1) * end / longest + 1), float(end)) for end in ends)


def playhead_moment(moment: float, pane: int, ends: Sequence[int], mode: Link) -> float:
    """Find the playhead's first moment at which a pane shows this moment, clamped to the pane's end."""
    moment = min(max(moment, 0.0), float(ends[pane]))
    if mode == "moment" or moment < 1:
        return moment
    return (moment - 1) * max(ends) / ends[pane] + 1


def _without_rounding(moment: float) -> float:
    """Undo rounding: a step to moment 3 must not show 2.9999999."""
    nearest = round(moment)
    return float(nearest) if abs(moment - nearest) < 1e-6 else moment
