"""The times of a block's moments on a GPU: moments of a trace mapped to measured segments."""

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

LEAST = 1e-6  # the least cycles of a moment, so that each cycle belongs to only one moment
Cycles = NDArray[np.floating[Any]]


class MomentClock(Struct, frozen=True, eq=False):
    """The cycles of a block's moments and of its warps' waits, from the start of its first warp."""

    block: int  # linear number in the grid
    first: int  # the block's first moment
    edges: Cycles  # (moments + 1,), ascending: the start of moment `first + i`; the last is the block's end
    waits: tuple[tuple[int, int, int], ...]  # at barriers: warp, first and last cycle

    def cycles(self, moment: float | Cycles) -> Cycles:
        """Convert a moment to a cycle, with the block's mean pace outside of it."""
        offset = np.asarray(moment, np.float64) - self.first
        return np.interp(offset, np.arange(len(self.edges)), self.edges) + self._outside(offset)

    def moment(self, cycle: float | Cycles) -> Cycles:
        """Convert a cycle to a moment."""
        position, pace = np.asarray(cycle, np.float64), self._pace
        inside = np.interp(position, self.edges, np.arange(len(self.edges), dtype=np.float64))
        before, after = np.minimum(position - self.edges[0], 0), np.maximum(position - self.edges[-1], 0)
        return np.asarray(self.first + inside + (before + after) / pace)

    @property
    def _pace(self) -> float:
        return float(self.edges[-1] - self.edges[0]) / (len(self.edges) - 1)

    def _outside(self, offset: Cycles) -> Cycles:
        return np.asarray(
            (np.minimum(offset, 0) + np.maximum(offset - (len(self.edges) - 1), 0)) * self._pace
        )


def moment_clock(
    timeline: Timeline, trace: Trace, requests: Requests, block: int, span: tuple[int, int]
) -> MomentClock | None:
    """Compute the times of a block's moments; return None if its warps were not recorded.

    span: the block's first and last moment. A request belongs to the segment of its warp and phase with its line. The
    requests of a segment share its time evenly, and a moment begins at the median of its warps' requests.
    """
    own_segments = segments_of(timeline.segments, block)
    if not len(own_segments) or span[1] < span[0]:
        return None
    chosen = np.flatnonzero(requests.block == block)
    starts = _request_starts(own_segments, trace, requests, chosen)
    first, last = span
    moments, median = _medians(requests.moment[chosen] - first, starts)
    edges = np.interp(
        np.arange(last - first + 2), [*moments, last - first + 1], [*median, float(own_segments.end.max())]
    )
    edges = np.maximum.accumulate(edges) + np.arange(len(edges)) * LEAST
    ends = requests.span_end[int(trace.block_positions(np.array([block]))[0])]
    return MomentClock(
        block,
        first,
        edges,
        _waits(own_segments, edges[np.clip(ends + 1 - first, 0, len(edges) - 1)]),
    )


def segments_of(segments: Segments, block: int) -> Segments:
    """Return the segments of one block; empty if its warps were not recorded."""
    low, high = np.searchsorted(segments.block, (block, block + 1))
    columns = (getattr(segments, name)[low:high] for name in Segments.__struct_fields__)
    return Segments(*columns)


def phase_cycles(timeline: Timeline, block: int) -> dict[int, int]:
    """Count the cycles of each phase of a block: from its first warp's start to its last one's end.

    A phase includes the wait at the barrier that ends it. Empty if the block's warps were not recorded.
    """
    spans = phase_spans(segments_of(timeline.segments, block), ALL)
    return dict(zip(spans.phase.tolist(), (spans.end - spans.start).tolist(), strict=True))


def _request_starts(segments: Segments, trace: Trace, requests: Requests, chosen: Ints) -> Cycles:
    """Return the cycle at which each of the chosen requests begins."""
    line = np.array([site.line for site in trace.sites])[requests.site[chosen]]
    group = requests.warp[chosen].astype(np.int64) << 32 | requests.phase[chosen].astype(np.int64)
    order = np.lexsort((requests.moment[chosen], group))
    segment = _segment_of_each(segments, group[order], line[order])
    starts = np.flatnonzero(np.r_[True, segment[1:] != segment[:-1]])
    length = np.diff(np.r_[starts, len(segment)])
    number = np.arange(len(segment)) - np.repeat(starts, length)
    share = number / np.repeat(length, length)
    request_start = np.empty(len(chosen))
    request_start[order] = segments.start[segment] + share * (segments.end[segment] - segments.start[segment])
    return request_start


def _medians(key: Ints, value: Cycles) -> tuple[Ints, Cycles]:
    """Return the distinct keys, ascending, and the median of the values of each."""
    order = np.lexsort((value, key))
    keys, start, count = np.unique(key[order], return_index=True, return_counts=True)
    low, high = value[order[start + (count - 1) // 2]], value[order[start + count // 2]]
    return keys, (low + high) / 2


def _segment_of_each(segments: Segments, group: Ints, line: Ints) -> Ints:
    """Return the segment of each request, from its warp and phase; runs of a line are looked up once."""
    working = np.flatnonzero(segments.kind != SEGMENT_KINDS.index("wait"))
    segment_group = segments.warp[working].astype(np.int64) << 32 | segments.phase[working].astype(np.int64)
    first, last = segments.first_line[working].tolist(), segments.last_line[working].tolist()
    starts = np.flatnonzero(np.r_[True, (group[1:] != group[:-1]) | (line[1:] != line[:-1])])
    low, high = (np.searchsorted(segment_group, group[starts], side).tolist() for side in ("left", "right"))
    segment = np.empty(len(starts), np.int64)
    position = 0
    for i, number in enumerate(line[starts].tolist()):
        position = max(position, low[i]) if i and low[i] == low[i - 1] else low[i]
        # A line without a segment, e.g. of a device function, belongs to the previous segment.
        position = next(
            (k for k in range(position, high[i]) if first[k] <= number <= last[k]),
            min(position, len(working) - 1),
        )
        segment[i] = working[position]
    return np.repeat(segment, np.diff(np.r_[starts, len(line)]))


def _waits(segments: Segments, ends: Cycles) -> tuple[tuple[int, int, int], ...]:
    """Return the waits of a `MomentClock`; each lasts until its phase ends for the block, see `ends`."""
    waits = np.flatnonzero(segments.kind == SEGMENT_KINDS.index("wait"))
    phase_end = ends[np.minimum(segments.phase[waits], len(ends) - 1)]
    stop = np.maximum(segments.end[waits], np.ceil(phase_end).astype(np.int64))
    return tuple(
        zip(segments.warp[waits].tolist(), segments.start[waits].tolist(), stop.tolist(), strict=True)
    )
