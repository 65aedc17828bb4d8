"""What a timeline's segments add up to: cycles by kind, and where each phase of a block began and ended."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from ..model.array_types import AnyInts, Ints
from .timeline import SEGMENT_KINDS, SegmentKind, Segments

ALL = slice(None)


def kind_cycles(segments: Segments, rows: slice | AnyInts = ALL) -> dict[SegmentKind, int]:
    """Return the cycles of each kind that there is, added up over some rows of segments, or all."""
    length = (segments.end[rows] - segments.start[rows]).astype(np.float64)
    sums = np.bincount(segments.kind[rows], length, len(SEGMENT_KINDS)).tolist()
    return {kind: int(total) for kind, total in zip(SEGMENT_KINDS, sums, strict=True) if total}


class PhaseSpans(Struct, frozen=True, eq=False):
    """When a block was in each of its phases: columns of shape (phases that a warp had,), by phase.

    A phase lasts from where the block's first warp begins it to where its last one has ended it, its wait at the
    barrier included. Cycles count from the start of the block's first warp.
    """

    phase: Ints
    start: Ints
    end: Ints


def phase_spans(segments: Segments, rows: slice | AnyInts) -> PhaseSpans:
    """Return the phases of a block, whose segments are these rows."""
    phase, place = np.unique(segments.phase[rows], return_inverse=True)
    start = np.full(len(phase), np.iinfo(np.int64).max)
    end = np.zeros(len(phase), np.int64)
    np.minimum.at(start, place, segments.start[rows])
    np.maximum.at(end, place, segments.end[rows])
    return PhaseSpans(phase.astype(np.int64), start, end)
