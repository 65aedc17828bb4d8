"""When each moment of a block was on a GPU: the moments of a trace beside the segments that were measured."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..analysis.requests import Requests
from ..model.array_types import Ints
from ..model.trace import Trace
from .segment_sums import ALL, phase_spans
from .timeline import SEGMENT_KINDS, Segments, Timeline

LEAST = 1e-6  # cycles that a moment lasts at least, so that each cycle belongs to one moment
Cycles = NDArray[np.floating[Any]]


class MomentClock(Struct, frozen=True, eq=False):
    """The cycles, from the start of a block's first warp, at which its moments and its warps' waits began."""

    block: int  # linear number in the grid
    first: int  # the block's first moment
    edges: Cycles  # (moments + 1,), where moment `first + i` began; ascending; the last is the block's end
    waits: tuple[tuple[int, int, int], ...]  # of waits at barriers: warp, first and last cycle

    def cycles(self, moment: float | Cycles) -> Cycles:
        """Return the cycle at which a moment stands; outside the block as fast as inside, on the average."""
        at = np.asarray(moment, np.float64) - self.first
        return np.interp(at, np.arange(len(self.edges)), self.edges) + self._outside(at)

    def moment(self, cycle: float | Cycles) -> Cycles:
        """Return the moment that stands at a cycle."""
        at, pace = np.asarray(cycle, np.float64), self._pace
        inside = np.interp(at, self.edges, np.arange(len(self.edges), dtype=np.float64))
        before, after = np.minimum(at - self.edges[0], 0), np.maximum(at - self.edges[-1], 0)
        return np.asarray(self.first + inside + (before + after) / pace)

    @property
    def _pace(self) -> float:
        return float(self.edges[-1] - self.edges[0]) / (len(self.edges) - 1)

    def _outside(self, at: Cycles) -> Cycles:
        return np.asarray((np.minimum(at, 0) + np.maximum(at - (len(self.edges) - 1), 0)) * self._pace)


def moment_clock(
    timeline: Timeline, trace: Trace, requests: Requests, block: int, span: tuple[int, int]
) -> MomentClock | None:
    """Return when the moments of a block were, None where its warps were not recorded.

    span: the block's first and last moment. A request lies in the segment of its warp and phase that has its line;
    a segment's requests share its time evenly, and a moment begins at the median of its warps' requests.
    """
    mine = segments_of(timeline.segments, block)
    if not len(mine) or span[1] < span[0]:
        return None
    chosen = np.flatnonzero(requests.block == block)
    begun = _begun(mine, trace, requests, chosen)
    first, last = span
    known, median = _medians(requests.moment[chosen] - first, begun)
    edges = np.interp(
        np.arange(last - first + 2), [*known, last - first + 1], [*median, float(mine.end.max())]
    )
    edges = np.maximum.accumulate(edges) + np.arange(len(edges)) * LEAST
    ends = requests.span_end[int(trace.block_positions(np.array([block]))[0])]
    return MomentClock(
        block,
        first,
        edges,
        _waits(mine, edges[np.clip(ends + 1 - first, 0, len(edges) - 1)]),
    )


def segments_of(segments: Segments, block: int) -> Segments:
    """Return the segments of one block; none where its warps were not recorded."""
    low, high = np.searchsorted(segments.block, (block, block + 1))
    columns = (getattr(segments, name)[low:high] for name in Segments.__struct_fields__)
    return Segments(*columns)


def phase_cycles(timeline: Timeline, block: int) -> dict[int, int]:
    """Return how many cycles each phase of a block took: from its first warp's start to its last one's end.

    The wait at the barrier that ends a phase belongs to it. Empty where the block's warps were not recorded.
    """
    spans = phase_spans(segments_of(timeline.segments, block), ALL)
    return dict(zip(spans.phase.tolist(), (spans.end - spans.start).tolist(), strict=True))


def _begun(mine: Segments, trace: Trace, requests: Requests, chosen: Ints) -> Cycles:
    """Return the cycle at which each of the chosen requests began."""
    line = np.array([site.line for site in trace.sites])[requests.site[chosen]]
    group = requests.warp[chosen].astype(np.int64) << 32 | requests.phase[chosen].astype(np.int64)
    order = np.lexsort((requests.moment[chosen], group))
    place = _segment_of_each(mine, group[order], line[order])
    starts = np.flatnonzero(np.r_[True, place[1:] != place[:-1]])
    length = np.diff(np.r_[starts, len(place)])
    number = np.arange(len(place)) - np.repeat(starts, length)
    share = number / np.repeat(length, length)
    begun = np.empty(len(chosen))
    begun[order] = mine.start[place] + share * (mine.end[place] - mine.start[place])
    return begun


def _medians(key: Ints, value: Cycles) -> tuple[Ints, Cycles]:
    """Return the keys, ascending, and the median of the values of each."""
    order = np.lexsort((value, key))
    known, start, count = np.unique(key[order], return_index=True, return_counts=True)
    low, high = value[order[start + (count - 1) // 2]], value[order[start + count // 2]]
    return known, (low + high) / 2


def _segment_of_each(mine: Segments, group: Ints, line: Ints) -> Ints:
    """Return the segment of each request, given by warp and phase and in order; runs of a line are looked up once."""
    works = np.flatnonzero(mine.kind != SEGMENT_KINDS.index("wait"))
    theirs = mine.warp[works].astype(np.int64) << 32 | mine.phase[works].astype(np.int64)
    first, last = mine.first_line[works].tolist(), mine.last_line[works].tolist()
    starts = np.flatnonzero(np.r_[True, (group[1:] != group[:-1]) | (line[1:] != line[:-1])])
    low, high = (np.searchsorted(theirs, group[starts], side).tolist() for side in ("left", "right"))
    found = np.empty(len(starts), np.int64)
    at = 0
    for i, number in enumerate(line[starts].tolist()):
        at = max(at, low[i]) if i and low[i] == low[i - 1] else low[i]
        # A line that no segment has, as of a device function, is in the segment before.
        at = next((k for k in range(at, high[i]) if first[k] <= number <= last[k]), min(at, len(works) - 1))
        found[i] = works[at]
    return np.repeat(found, np.diff(np.r_[starts, len(line)]))


def _waits(mine: Segments, ends: Cycles) -> tuple[tuple[int, int, int], ...]:
    """Return the waits as `MomentClock` has them; each lasts until its phase ends for the block, see `ends`."""
    waits = np.flatnonzero(mine.kind == SEGMENT_KINDS.index("wait"))
    over = ends[np.minimum(mine.phase[waits], len(ends) - 1)]
    stop = np.maximum(mine.end[waits], np.ceil(over).astype(np.int64))
    return tuple(zip(mine.warp[waits].tolist(), mine.start[waits].tolist(), stop.tolist(), strict=True))
