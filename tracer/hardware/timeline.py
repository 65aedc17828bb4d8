"""Timelines: where and when the blocks of a launch ran, and the segments of some blocks' warps."""

from __future__ import annotations

from typing import Final, Literal

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ..model.launch import Dim3
from .times.measurement import Device

SegmentKind = Literal["load", "compute", "wait", "atomic", "store", "other"]
# The activity of a warp between two marks; a segment's `kind` is an index into this.
SEGMENT_KINDS: Final[tuple[SegmentKind, ...]] = ("load", "compute", "wait", "atomic", "store", "other")
# The marks of a kernel: all of them, only those at barriers, or only each warp's first and last.
Detail = Literal["all", "barriers", "ends"]


class KernelCost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The cost of a kernel, with or without marks."""

    registers: int  # per thread
    local_bytes: int  # of local memory per thread, including spilled registers
    microseconds: tuple[float, ...]  # kernel times with a warm L2 cache, all samples
    blocks_at_once: int = 0  # per multiprocessor, from the driver; 0 if unknown


class TimelineHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The launch of a timeline, and how it was recorded."""

    scenario: str  # the name in the catalogue
    values: dict[str, int | str]  # all of its parameters
    kernel: str  # `module:function`
    source: str  # text of the kernel's file, to which the lines of segments refer
    grid: Dim3  # in blocks
    block: Dim3  # in threads
    shared_bytes: int  # static and dynamic shared memory, per block
    device: Device
    date: str  # ISO 8601, UTC
    revision: str  # of git, with + if files differ from it, "" if unknown
    mhz: float  # rate of the multiprocessors' clocks during the launch
    resolution_ns: float  # of the comparison of different multiprocessors' clocks
    detail: Detail  # the kernel's marks
    plain: KernelCost  # without marks
    marked: KernelCost  # with them
    # Of this launch between two events, minus the time that they measure around nothing.
    launch_microseconds: float = 0.0
    empty_microseconds: float = 0.0  # of an empty kernel, by the same events
    warps_at_once: int = 0  # the most on one multiprocessor (measured)
    notes: tuple[
        str, ...
    ] = ()  # sentences: thinned marks, recorded blocks, more concurrent blocks than modelled

    @property
    def origin(self) -> str:
        """The device and the date: NVIDIA H200, 2026-11-20."""
        return f"{self.device.name}, {self.date[:10]}"


class BlockSpans(Struct, frozen=True, eq=False):
    """Where and when the blocks of a launch ran: columns of shape (blocks,), by linear number in the grid.

    Times are nanoseconds from the first start of any block.
    """

    multiprocessor: NDArray[np.uint16]
    start: NDArray[np.int64]  # of its first warp
    end: NDArray[np.int64]  # of its last warp


class Segments(Struct, frozen=True, eq=False):
    """The activity of some blocks' warps between marks: columns of shape (segments,).

    Ordered by block, warp and start; a warp's segments follow one another without gaps. Cycles count from the
    start of the block's first warp.
    """

    block: NDArray[np.uint32]  # linear number in the grid
    warp: NDArray[np.uint8]  # number in the block
    kind: NDArray[np.uint8]  # index in SEGMENT_KINDS
    first_line: NDArray[np.uint16]  # of the kernel's file, from 1; 0 without source
    last_line: NDArray[np.uint16]
    phase: NDArray[np.uint16]  # barriers of the block that the warp has passed
    start: NDArray[np.int64]  # cycles
    end: NDArray[np.int64]  # cycles

    def __len__(self) -> int:
        return len(self.block)


class Timeline(Struct, frozen=True, eq=False):
    """One launch on a GPU, by the GPU's clocks: everything in it is measured."""

    head: TimelineHead
    spans: BlockSpans
    segments: Segments

    @property
    def blocks(self) -> int:
        """The number of blocks of the launch."""
        return len(self.spans.start)

    @property
    def nanoseconds(self) -> int:
        """The time from the first start of a block to the last end."""
        return int(self.spans.end.max() - self.spans.start.min())

    def detailed_blocks(self) -> NDArray[np.uint32]:
        """List the linear numbers of the blocks with segments."""
        return np.unique(self.segments.block)
