"""Aligns panes side by side, so that they can be compared at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.session import Selection
from ..panels.pane import Pane
from ..views.memory.arrangement import PairedSpace

if TYPE_CHECKING:
    from ..timings.model.nearest_measured import MeasuredTime


def align_colour_scales(panes: Sequence[Pane], selections: Sequence[Selection]) -> None:
    """Use the same colour scale in every pane."""
    tops: dict[tuple[str, str], int] = {}
    for pane, selection in zip(panes, selections, strict=False):
        for scale, top in pane.memory.own_tops(selection).items():
            tops[scale] = max(top, tops.get(scale, 0))
    for pane in panes:
        pane.memory.tops = tuple(sorted(tops.items()))


def align_matrices(panes: Sequence[Pane]) -> None:
    """Draw matrices of the same shapes at the same position and size."""
    needs = [pane.memory.paired_space for pane in panes]
    present = [need for need in needs if need is not None]
    for pane, own in zip(panes, needs, strict=True):
        same_shape = [need for need in present if own is not None and need.shapes == own.shapes]
        pane.memory.reserve_paired_space(_together(same_shape) if len(same_shape) > 1 else None)


def align_counters(panes: Sequence[Pane]) -> None:
    """Count wavefronts in every pane if one has conflicts, and show differing counters first."""
    for pane in panes:
        pane.counters.count_wavefronts(any(other.conflicts for other in panes))
    ends = [set(pane.counters.ends.items()) for pane in panes]
    same = frozenset(label for label, _ in set.intersection(*ends)) if len(ends) > 1 else frozenset()
    for pane in panes:
        pane.counters.set_low_priority(same)


def align_headings(panes: Sequence[Pane]) -> None:
    """Shorten the headings of all panes to the level that the narrowest needs."""
    brevity = max((pane.heading.needed for pane in panes), default=0)
    for pane in panes:
        pane.heading.set_brevity(brevity)


def align_times(panes: Sequence[Pane], times: Sequence[MeasuredTime | None] | None) -> None:
    """Show each pane's measured time next to the other pane's; None while the times are not loaded.

    If one pane may show a time, both reserve the space.
    """
    catalogued = any(pane.session is not None and pane.session.scenario is not None for pane in panes)
    for i, pane in enumerate(panes):
        if times is not None:
            pane.heading.show_times(times[i], next((t for j, t in enumerate(times) if j != i), None))
        pane.heading.reserve_time(catalogued)


def _together(needs: Sequence[PairedSpace]) -> PairedSpace:
    """Combine the needs of panes with the same shapes into one that satisfies all."""
    left, right = max(need.left for need in needs), max(need.right for need in needs)
    return PairedSpace(
        needs[0].shapes, left, right, any(need.tiles for need in needs), any(need.strip for need in needs)
    )
