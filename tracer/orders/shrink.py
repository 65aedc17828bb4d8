"""Shrink an order to the fewest switches that still have its effect.

The algorithm is delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE
Transactions on Software Engineering 28, 2002) over the segments of an order; then each segment is tried with fewer
turns. A segment that is left out makes its threads run in lockstep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..model.order import Order, Segment

HasEffect = Callable[[Order], bool]  # False for an order that is impossible


def shrink(order: Order, has_effect: HasEffect, most_runs: int = 200) -> Order:
    """Return an order with few segments that has the effect of `order`, which has it; run at most so many orders."""
    runs = _Runs(has_effect, most_runs)
    segments = _fewest(list(order.segments), runs)
    for number, segment in enumerate(segments):
        segments[number] = _fewer_turns(segments, number, segment, runs)
    return Order(tuple(segments))


class _Runs:
    """Orders that were tried, with a limit of their number."""

    def __init__(self, has_effect: HasEffect, most: int) -> None:
        self._has_effect, self._left = has_effect, most
        self._results: dict[tuple[Segment, ...], bool] = {}

    def have_effect(self, segments: Sequence[Segment]) -> bool:
        joined = joined_segments(segments)
        if not joined:
            return False
        if joined not in self._results:
            if not self._left:
                return False
            self._left -= 1
            self._results[joined] = self._has_effect(Order(joined))
        return self._results[joined]


def _fewest(segments: list[Segment], runs: _Runs) -> list[Segment]:
    parts = 2
    while len(segments) > 1:
        size = -(-len(segments) // parts)
        chunks = [segments[low : low + size] for low in range(0, len(segments), size)]
        smaller = next(
            (rest for number in range(len(chunks)) if runs.have_effect(rest := _without(chunks, number))),
            None,
        )
        if smaller is not None:
            segments, parts = list(joined_segments(smaller)), max(parts - 1, 2)
        elif parts >= len(segments):
            break
        else:
            parts = min(2 * parts, len(segments))
    return segments


def _without(chunks: list[list[Segment]], number: int) -> list[Segment]:
    """Join the chunks except one."""
    return [segment for i, chunk in enumerate(chunks) if i != number for segment in chunk]


def _fewer_turns(segments: list[Segment], number: int, segment: Segment, runs: _Runs) -> Segment:
    """Find the smallest number of turns of a segment that keeps the effect, by trying 1, 2, 4 and so on."""
    turns = 1
    while segment.turns > turns:
        fewer = replace(segment, turns=turns)
        if runs.have_effect([*segments[:number], fewer, *segments[number + 1 :]]):
            return fewer
        turns *= 2
    return segment


def joined_segments(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Join adjacent segments of the same thread with numbers of turns."""
    joined: list[Segment] = []
    for segment in segments:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.turns
            and segment.turns
            and last.is_thread
            and replace(last, turns=1, line=0) == replace(segment, turns=1, line=0)
        ):
            joined[-1] = replace(segment, turns=last.turns + segment.turns)
        else:
            joined.append(segment)
    return tuple(joined)
