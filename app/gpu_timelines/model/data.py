"""Values derived once from a timeline: blocks by multiprocessor and lane, and sums of segments."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import Struct, field

from ....kernels.scenarios.catalogue import CatalogueError, Scenario, find
from ....tracer.hardware.block_lanes import BlockLanes, block_lanes
from ....tracer.hardware.segment_sums import PhaseSpans, kind_cycles, phase_spans
from ....tracer.hardware.timeline import SegmentKind, Timeline
from ....tracer.model.array_types import Floats, Ints

FEW = 64  # lanes on all multiprocessors together, up to which they can show warps


class GpuData(Struct, frozen=True, eq=False, dict=True):
    """A timeline with the derived values that its chart needs."""

    timeline: Timeline
    size: str  # the text of its size
    lanes: BlockLanes
    order: Ints  # (blocks,), blocks by multiprocessor, lane and start
    first: Ints  # (multiprocessors + 1,), where the blocks of each begin in `order`
    _spans: dict[int, PhaseSpans] = field(default_factory=dict)  # cached, by block

    @property
    def machines(self) -> int:
        """The number of multiprocessors of the device, including those without a block."""
        return len(self.first) - 1

    @cached_property
    def used_machines(self) -> int:
        """The number of multiprocessors that had a block."""
        return int(np.count_nonzero(np.diff(self.first)))

    @cached_property
    def listed(self) -> Ints:
        """The multiprocessors that have a row: all, or only those with a block if they are less than half."""
        used = np.flatnonzero(np.diff(self.first))
        return used if 0 < 2 * len(used) < self.machines else np.arange(self.machines)

    @property
    def unlisted_count(self) -> int:
        """The number of multiprocessors without a row; none of them ran a block."""
        return self.machines - len(self.listed)

    @cached_property
    def row_of(self) -> Ints:
        """The row of each multiprocessor, (multiprocessors,); those left out share the row after the others."""
        rows = np.full(self.machines, len(self.listed))
        rows[self.listed] = np.arange(len(self.listed))
        return rows

    @property
    def has_few_lanes(self) -> bool:
        """The listed multiprocessors have few enough lanes to show warps."""
        return len(self.listed) * self.lanes.concurrent_blocks <= FEW

    @property
    def wave_count(self) -> float:
        """How many times the launch fills the GPU, with the measured number of concurrent blocks."""
        return self.timeline.blocks / max(1, self.machines * self.lanes.concurrent_blocks)

    @property
    def scenario(self) -> Scenario | None:
        """The catalogue's scenario; None if it no longer has one of this name."""
        try:
            return find(self.timeline.head.scenario)
        except CatalogueError:
            return None

    @cached_property
    def source(self) -> list[str]:
        """The lines of the kernel's file at the time of the recording."""
        return self.timeline.head.source.splitlines()

    @cached_property
    def detailed(self) -> Ints:
        """The blocks whose warps were recorded, by number."""
        return self.timeline.detailed_blocks().astype(np.int64)

    @cached_property
    def detailed_machines(self) -> Ints:
        """The multiprocessors that ran recorded blocks."""
        return np.unique(self.timeline.spans.multiprocessor[self.detailed]).astype(np.int64)

    @cached_property
    def phases(self) -> int:
        """The number of phases of the recorded blocks."""
        return int(self.timeline.segments.phase.max()) + 1 if len(self.timeline.segments) else 0

    @cached_property
    def kinds(self) -> dict[SegmentKind, int]:
        """The cycles of all recorded warps, by kind."""
        return kind_cycles(self.timeline.segments)

    def phase_spans(self, block: int) -> PhaseSpans:
        """Return the times of a block's phases; empty if its warps were not recorded."""
        if block not in self._spans:
            self._spans[block] = phase_spans(self.timeline.segments, self.rows(block))
        return self._spans[block]

    def blocks_on(self, machine: int) -> Ints:
        """List the blocks that a multiprocessor ran, by lane and start."""
        return self.order[self.first[machine] : self.first[machine + 1]]

    def machine(self, block: int) -> int:
        """Return the multiprocessor that ran a block."""
        return int(self.timeline.spans.multiprocessor[block])

    def span(self, block: int) -> tuple[float, float]:
        """Return the start and the end of a block, in nanoseconds from the launch's first start."""
        spans = self.timeline.spans
        return float(spans.start[block]), float(spans.end[block])

    def rows(self, block: int) -> slice:
        """Return the slice of a block's segments; empty if none were recorded."""
        column = self.timeline.segments.block
        # An array of the same type, so that NumPy does not copy the column.
        low, high = np.searchsorted(column, np.array((block, block + 1), column.dtype))
        return slice(int(low), int(high))

    def nanoseconds(self, cycles: Ints) -> Floats:
        """Convert cycles to nanoseconds."""
        return np.asarray(cycles * (1000.0 / self.timeline.head.mhz))

    def length(self, block: int) -> float:
        """Return a block's length in nanoseconds: from its first warp's start to the last one's end."""
        start, end = self.span(block)
        rows = self.rows(block)
        if rows.stop > rows.start:
            end = max(end, start + float(self.nanoseconds(self.timeline.segments.end[rows].max())))
        return max(1.0, end - start)

    def warps(self, block: int) -> int:
        """Count the recorded warps of a block."""
        rows = self.rows(block)
        return int(self.timeline.segments.warp[rows].max()) + 1 if rows.stop > rows.start else 0

    def chosen_block(self, machine: int | None = None) -> int:
        """Return the block to show first: a recorded one, on the multiprocessor if it has one."""
        detailed = self.detailed
        if machine is not None:
            own_detailed = np.intersect1d(detailed, self.blocks_on(machine))
            detailed = own_detailed if len(own_detailed) else self.blocks_on(machine)
        return int(detailed[0]) if len(detailed) else 0

    def next_detailed(self, block: int) -> int | None:
        """Return the next recorded block after one, with wrap-around, or None."""
        if not len(self.detailed):
            return None
        return int(self.detailed[np.searchsorted(self.detailed, block, "right") % len(self.detailed)])


def gpu_data(timeline: Timeline, size: str = "") -> GpuData:
    """Derive the values that a chart needs from a timeline."""
    spans = timeline.spans
    lanes = block_lanes(spans, timeline.head.resolution_ns)
    order = np.lexsort((spans.start, lanes.lane, spans.multiprocessor))
    machines = max(timeline.head.device.multiprocessors, int(spans.multiprocessor.max(initial=0)) + 1)
    counts = np.bincount(spans.multiprocessor, minlength=machines)
    first = np.concatenate([[0], np.cumsum(counts)])
    return GpuData(timeline, size, lanes, order, first)
