"""How the moments of panes go together with that of the playhead: by moment, or by progress. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from .bookmark import Link


def pane_moments(position: float, ends: Sequence[int], mode: Link) -> tuple[float, ...]:
    """Return the moment of each pane, whose last moments are `ends`, when the playhead is at `position`.

    Linked by moment every pane shows that moment, or its end. Linked by progress each has made the same share of
    its ticks, where tick m takes from m to m + 1: so blocks of the same share begin together, at their first tick.
    """
    longest = max(ends, default=0)
    if mode == "moment" or longest == 0 or position < 1:
        return tuple(min(position, float(end)) for end in ends)
    return tuple(min(_without_rounding((position - 1) * end / longest + 1), float(end)) for end in ends)


def playhead_moment(moment: float, pane: int, ends: Sequence[int], mode: Link) -> float:
    """Return the playhead's first moment at which this pane is at this one, or at its end where that comes before."""
    moment = min(max(moment, 0.0), float(ends[pane]))
    if mode == "moment" or moment < 1:
        return moment
    return (moment - 1) * max(ends) / ends[pane] + 1


def _without_rounding(moment: float) -> float:
    """Undo rounding: a step to moment 3 must not show 2.9999999."""
    nearest = round(moment)
    return float(nearest) if abs(moment - nearest) < 1e-6 else moment
