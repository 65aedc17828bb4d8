"""Sums of a timeline's segments: cycles by kind, and the spans of a block's phases."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ..model.array_types import AnyInts, Ints
from .timeline import SEGMENT_KINDS, SegmentKind, Segments

ALL = slice(None)


def kind_cycles(segments: Segments, rows: slice | AnyInts = ALL) -> dict[SegmentKind, int]:
    """Sum the cycles of each kind over some rows of segments, or over all."""
    length = (segments.end[rows] - segments.start[rows]).astype(np.float64)
    sums = np.bincount(segments.kind[rows], length, len(SEGMENT_KINDS)).tolist()
    return {kind: int(total) for kind, total in zip(SEGMENT_KINDS, sums, strict=True) if total}


class PhaseSpans(Struct, frozen=True, eq=False):
    """The times of a block's phases: columns of shape (phases of a warp,), by phase.

    A phase lasts from its start in the first warp to its end in the last one, including the wait at the barrier.
    Cycles count from the start of the block's first warp.
    """

    phase: Ints
    start: Ints
    end: Ints


def phase_spans(segments: Segments, rows: slice | AnyInts) -> PhaseSpans:
    """Compute the phases of a block from its rows of segments."""
    phase, group = np.unique(segments.phase[rows], return_inverse=True)
    start = np.full(len(phase), np.iinfo(np.int64).max)
    end = np.zeros(len(phase), np.int64)
    np.minimum.at(start, group, segments.start[rows])
    np.maximum.at(end, group, segments.end[rows])
    return PhaseSpans(phase.astype(np.int64), start, end)
