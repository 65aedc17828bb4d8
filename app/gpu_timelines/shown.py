"""The part of a timeline that a chart shows: the level, the position, and the meaning of its rows."""

from __future__ import annotations

from msgspec import Struct

from ...tracer.hardware.timeline import SEGMENT_KINDS
from .image import kind_rows
from .model.data import GpuData
from .model.place import Level, PanePlace


class ChartView(Struct, frozen=True):
    """A position in a timeline, with all of its choices made."""

    data: GpuData
    level: Level
    machine: int  # multiprocessor
    block: int  # linear number in the grid
    warp: int  # number in the block

    @property
    def shows_blocks(self) -> bool:
        """The rows hold blocks; otherwise they hold the segments of warps."""
        return self.level in ("gpu", "multiprocessor")

    @property
    def has_details(self) -> bool:
        """The warps of the block were recorded."""
        rows = self.data.rows(self.block)
        return bool(rows.stop > rows.start)

    @property
    def origin(self) -> float:
        """The zero of the axis, in nanoseconds of the launch: the launch's own start, or the block's."""
        return 0.0 if self.shows_blocks else self.data.span(self.block)[0]

    @property
    def duration(self) -> float:
        """The length of the launch or the block, in nanoseconds."""
        return (
            max(1.0, float(self.data.timeline.nanoseconds))
            if self.shows_blocks
            else self.data.length(self.block)
        )

    @property
    def rows(self) -> int:
        """The number of rows."""
        if self.level == "gpu":
            return len(self.data.listed) + bool(self.data.unlisted_count)
        if self.level == "multiprocessor":
            return max(1, self.data.lanes.concurrent_blocks)
        if not self.has_details:
            return 1
        return self.data.warps(self.block) if self.level == "block" else len(kind_rows(self.data))

    @property
    def shows_kinds(self) -> bool:
        """The level can show the activity of warps."""
        return self.level != "gpu" or self.data.has_few_lanes

    def machine_at(self, row: int) -> int | None:
        """Return the multiprocessor of a row; None for the row of those without a block."""
        if self.level != "gpu":
            return self.machine
        return int(self.data.listed[row]) if row < len(self.data.listed) else None

    def name(self, row: int) -> str:
        """Return the name of a row; "" for lanes."""
        if self.level == "gpu":
            machine = self.machine_at(row)
            return "" if machine is None else str(machine)
        if self.shows_blocks or not self.has_details:
            return ""
        return f"warp {row}" if self.level == "block" else SEGMENT_KINDS[kind_rows(self.data)[row]]


def chart_view_at(data: GpuData, level: Level, place: PanePlace) -> ChartView:
    """Resolve a place in a timeline; choose what it leaves open and what does not exist."""
    machine, block = place.machine_in(data.machines), place.block
    if block is None or block >= data.timeline.blocks:
        block = data.chosen_block(machine)
    if level in ("block", "warp") or machine is None:
        machine = data.machine(block)
    warp = place.warp if place.warp is not None and place.warp < data.warps(block) else 0
    return ChartView(data, level, machine, block, warp)
