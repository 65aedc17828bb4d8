"""Decodes the output of marked warps to the columns of a timeline: spans of all blocks, segments of some."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..figures import most_concurrent
from ..timeline import SEGMENT_KINDS, BlockSpans, Segments
from .calibration import Clocks
from .marking import Mark

# A row of `ends` (see `intrinsics.py`), written by each warp at its start and end; clocks have their lower halves only.
WRITTEN_ROW = np.dtype([("start", "<u4"), ("end", "<u4"), ("multiprocessor", "<u4"), ("at", "<u4")])
WARP_ROW = np.dtype([("start", "<i8"), ("end", "<i8"), ("multiprocessor", "<u4"), ("at", "<u4")])
NO_MARKS = 1 << 31  # an `at` from here on belongs to a warp without marks
CLOCK, NUMBER = 0, 1  # halves of a mark
WRAP = 1 << 32  # cycles after which the clock in a mark overflows


class DamagedMarksError(Exception):
    """Marks that the kernel can't have written; the text is one sentence."""


class Warps(Struct, frozen=True, eq=False):
    """The rows of all warps of a launch."""

    rows: NDArray[np.void]  # of dtype WARP_ROW, shape (blocks, warps of a block)

    @property
    def multiprocessor(self) -> NDArray[np.int64]:
        """The multiprocessor of each block."""
        return self.rows["multiprocessor"][:, 0].astype(np.int64)


def counts_of(rows: NDArray[np.void], slot: int) -> NDArray[np.int64]:
    """Count the marks of each warp, -1 for warps without marks; shaped as `rows`, of either dtype.

    Marks beyond a warp's slot are counted and dropped.
    """
    number = np.arange(rows.size).reshape(rows.shape)
    position = rows["at"].astype(np.int64)
    return np.where(position < NO_MARKS, position - number * slot, -1)


def with_complete_clocks(written: NDArray[np.void], clocks: Clocks) -> Warps:
    """Complete the clocks of rows; the launch must follow soon after the first readings of `clocks`."""
    rows = np.empty(written.shape, WARP_ROW)
    rows["multiprocessor"], rows["at"] = written["multiprocessor"], written["at"]
    number = np.minimum(written["multiprocessor"], len(clocks.first_cycle) - 1)
    first = clocks.first_cycle[number]
    rows["start"] = first + (written["start"] - first) % WRAP
    rows["end"] = rows["start"] + (written["end"].astype(np.int64) - written["start"]) % WRAP
    return Warps(rows)


def spans_of(warps: Warps, clocks: Clocks) -> BlockSpans:
    """Compute where and when each block ran; raises Damaged."""
    rows, number = warps.rows, warps.multiprocessor
    if (rows["multiprocessor"] != number[:, None]).any() or number.max(initial=0) >= len(clocks.rate):
        raise DamagedMarksError("Warps of one block report different multiprocessors.")
    start = clocks.times(number, rows["start"].min(axis=1))
    end = clocks.times(number, rows["end"].max(axis=1))
    if np.isnan(start).any():
        raise DamagedMarksError(
            "A block ran on a multiprocessor whose clock could not be compared with the others."
        )
    zero = start.min()
    return BlockSpans(
        number.astype(np.uint16), np.rint(start - zero).astype(np.int64), np.rint(end - zero).astype(np.int64)
    )


def warps_at_once(warps: Warps) -> int:
    """Count the most warps that one multiprocessor ran at the same time (measured)."""
    rows = warps.rows.ravel()
    return most_concurrent(rows["multiprocessor"].astype(np.int64), rows["start"], rows["end"])


def chosen_blocks(
    spans: BlockSpans, segments: NDArray[np.int64], multiprocessors: int, most: int
) -> NDArray[np.int64]:
    """Choose the blocks whose segments are kept: all, or the earliest blocks of the first multiprocessors.

    segments: of each block, 0 without any. At most `most` segments are kept, but at least one block.
    """
    if (segments > 0).all() and segments.sum() <= most:
        return np.arange(len(segments))
    used = np.unique(spans.multiprocessor[segments > 0])[:multiprocessors]
    candidates = np.flatnonzero(np.isin(spans.multiprocessor, used) & (segments > 0))
    ordered = candidates[np.argsort(spans.start[candidates], kind="stable")]
    fitting = int(np.searchsorted(segments[ordered].cumsum(), most, side="right"))
    return np.sort(ordered[: max(1, fitting)])


def segments_of(
    warps: Warps,
    blocks: NDArray[np.int64],
    marks: NDArray[np.uint32],
    counts: NDArray[np.int64],
    table: Sequence[Mark],
) -> Segments:
    """Decode the segments of the warps of some blocks.

    marks: clock and number, shape (warps of these blocks, at least as many as the longest, 2). counts: the number of
    valid marks of each warp. Raises Damaged.
    """
    rows = warps.rows[blocks]
    per_block = rows.shape[1]
    first = rows["start"].min(axis=1).repeat(per_block)
    start, end = rows["start"].ravel(), rows["end"].ravel()
    sizes = counts + 1  # with a segment before the first mark
    owner = np.arange(len(counts)).repeat(sizes)
    position = np.arange(sizes.sum()) - (sizes.cumsum() - sizes).repeat(sizes)
    number = np.zeros(len(owner), np.int64)
    begins = start[owner]
    written = position > 0
    number[written] = marks[owner[written], position[written] - 1, NUMBER]
    if number.max(initial=0) >= len(table):
        raise DamagedMarksError("A mark has a number that is not in the kernel.")
    _unwrap(begins, written, marks[owner[written], position[written] - 1, CLOCK].astype(np.int64))
    ends = np.append(begins[1:], 0)
    ends[sizes.cumsum() - 1] = end
    if (ends < begins).any():
        raise DamagedMarksError("A warp's clock went backwards.")
    column = _columns(table)
    return Segments(
        block=blocks.repeat(per_block)[owner].astype(np.uint32),
        warp=np.tile(np.arange(per_block), len(blocks))[owner].astype(np.uint8),
        kind=column["kind"][number].astype(np.uint8),
        first_line=column["first"][number].astype(np.uint16),
        last_line=column["last"][number].astype(np.uint16),
        phase=_phases(column["barrier"][number], sizes).astype(np.uint16),
        start=begins - first[owner],
        end=ends - first[owner],
    )


def _unwrap(begins: NDArray[np.int64], written: NDArray[np.bool_], low: NDArray[np.int64]) -> None:
    """Complete the clocks of marks, of which the lower half is known, from the complete clock at the warp's start."""
    before = begins % WRAP
    halves = before.copy()
    halves[written] = low
    steps = np.diff(halves, prepend=halves[:1])
    steps[~written] = 0
    steps %= WRAP
    since = steps.cumsum()
    # Relative to each warp's own start, the last position without a mark.
    origin = np.maximum.accumulate(np.where(written, 0, np.arange(len(begins))))
    begins += since - since[origin]


def _columns(table: Sequence[Mark]) -> dict[str, NDArray[np.int64]]:
    return {
        "kind": np.array([SEGMENT_KINDS.index(mark.kind) for mark in table]),
        "first": np.array([mark.first_line for mark in table]),
        "last": np.array([mark.last_line for mark in table]),
        "barrier": np.array([int(mark.barrier) for mark in table]),
    }


def _phases(barrier: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the barriers that each warp has passed before each of its segments."""
    before = barrier.cumsum() - barrier
    starts = sizes.cumsum() - sizes
    return before - before[starts].repeat(sizes)
