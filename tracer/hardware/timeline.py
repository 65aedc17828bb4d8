"""A timeline: which multiprocessor ran each block of a launch and when, and what the warps of some blocks did."""

from __future__ import annotations

from typing import Final, Literal

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..measure.measurement import Device
from ..model.launch import Dim3

SegmentKind = Literal["load", "compute", "wait", "atomic", "store", "other"]
# What a warp does between two marks; a segment's `kind` is an index in it.
SEGMENT_KINDS: Final[tuple[SegmentKind, ...]] = ("load", "compute", "wait", "atomic", "store", "other")
# How many marks a kernel has: all; at barriers alone; each warp's first and last alone.
Detail = Literal["all", "barriers", "ends"]


class KernelCost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a kernel costs, as it is or with marks."""

    registers: int  # a thread
    local_bytes: int  # of local memory a thread, spilled registers among them
    microseconds: tuple[float, ...]  # kernel times, L2 cache warm, all samples
    blocks_at_once: int = 0  # on a multiprocessor, as the driver says; 0 if unknown


class TimelineHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a timeline is of, and how it was made."""

    scenario: str  # the catalogue's name of it
    values: dict[str, int | str]  # its parameters, all of them
    kernel: str  # `module:function`
    source: str  # text of the kernel's file, whose lines the segments name
    grid: Dim3  # blocks
    block: Dim3  # threads
    shared_bytes: int  # of static and dynamic shared memory, a block
    device: Device
    date: str  # ISO 8601, UTC
    revision: str  # of git, + where files differ from it, "" if unknown
    mhz: float  # rate of the multiprocessors' clocks while it ran
    resolution_ns: float  # of what clocks of different multiprocessors are compared by
    detail: Detail  # which marks the kernel had
    plain: KernelCost  # without marks
    marked: KernelCost  # with them
    launch_microseconds: float = (
        0.0  # of this launch between two events, less what two read with nothing between
    )
    empty_microseconds: float = 0.0  # of a kernel that does nothing, by the same events
    warps_at_once: int = 0  # the most that a multiprocessor ran at the same time (measured)
    notes: tuple[str, ...] = ()  # sentences: thinned marks, blocks with segments, more at once than fit

    @property
    def origin(self) -> str:
        """Where and when it was made: NVIDIA H200, 2026-11-20."""
        return f"{self.device.name}, {self.date[:10]}"


class BlockSpans(Struct, frozen=True, eq=False):
    """Where and when each block of the launch ran: columns of shape (blocks,), by linear number in the grid.

    Times are nanoseconds from the first start of any block.
    """

    multiprocessor: NDArray[np.uint16]
    start: NDArray[np.int64]  # of its first warp
    end: NDArray[np.int64]  # of its last warp


class Segments(Struct, frozen=True, eq=False):
    """What each warp of some blocks did from one mark to the next: columns of shape (segments,).

    Ordered by block, warp and start; a warp's segments follow one another without gaps. Cycles count from the
    start of the block's first warp.
    """

    block: NDArray[np.uint32]  # linear number in the grid
    warp: NDArray[np.uint8]  # number in the block
    kind: NDArray[np.uint8]  # index in SEGMENT_KINDS
    first_line: NDArray[np.uint16]  # of the kernel's file, from 1; 0 where it has no source
    last_line: NDArray[np.uint16]
    phase: NDArray[np.uint16]  # barriers of the block that the warp had passed
    start: NDArray[np.int64]  # cycles
    end: NDArray[np.int64]  # cycles

    def __len__(self) -> int:
        return len(self.block)


class Timeline(Struct, frozen=True, eq=False):
    """One launch on a GPU, read from its clocks: everything in it is measured."""

    head: TimelineHead
    spans: BlockSpans
    segments: Segments

    @property
    def blocks(self) -> int:
        """How many blocks the launch had."""
        return len(self.spans.start)

    @property
    def nanoseconds(self) -> int:
        """From the first start of a block to the last end of one."""
        return int(self.spans.end.max() - self.spans.start.min())

    def detailed_blocks(self) -> NDArray[np.uint32]:
        """Return the linear numbers of the blocks whose warps have segments."""
        return np.unique(self.segments.block)
