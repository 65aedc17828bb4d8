"""Describes blocks, segments and phases of a timeline, with their measurements."""

from __future__ import annotations

import numpy as np

from ...tracer.hardware.timeline import SEGMENT_KINDS
from ...tracer.model.finding import coordinates_text
from ..model.visible_text import escape_controls
from ..views.common.wording import phase_text, plural
from .model.data import GpuData
from .model.facts import kinds_of, kinds_text, micros_text
from .shown import ChartView

MEASURED = "measured"
LONGEST = 90  # characters of a line of source
NO_DETAILS = (
    "No warp of this block was recorded, only the block's times. Press D for a block with recorded warps."
)


def block_name(data: GpuData, block: int) -> str:
    """Return the name of a block: block (3, 1)."""
    return f"block {coordinates_text(block, data.timeline.head.grid)}"


def describe_block(data: GpuData, block: int) -> str:
    """Describe where and when a block ran."""
    start, end = data.span(block)
    wave, lane = int(data.lanes.wave[block]), int(data.lanes.lane[block])
    text = (
        f"{block_name(data, block)} on multiprocessor {data.machine(block)}: {start / 1000:,.2f} to {end / 1000:,.2f} "
        f"µs, {micros_text(end - start)}; {ordinal(wave + 1)} block in its slot ({lane + 1} of "
        f"{data.lanes.concurrent_blocks}) · {MEASURED}"
    )
    kinds = kinds_of(data, block)
    return f"{text}. Its warps: {kinds_text(kinds)}" if kinds else text


def describe_machine(data: GpuData, machine: int) -> str:
    """Describe the blocks of a multiprocessor."""
    blocks = data.blocks_on(machine)
    if not len(blocks):
        return f"multiprocessor {machine}: no block ran on it · {MEASURED}"
    spans = data.timeline.spans
    first, last = int(spans.start[blocks].min()), int(spans.end[blocks].max())
    at_once = int(data.lanes.lane[blocks].max()) + 1
    return (
        f"multiprocessor {machine}: {plural(len(blocks), 'block')}, up to {at_once} at once, "
        f"{first / 1000:,.2f} to {last / 1000:,.2f} µs · {MEASURED}"
    )


def rest_text(data: GpuData) -> str:
    """Describe the multiprocessors without a row: 116 other multiprocessors ran no block."""
    return f"{plural(data.unlisted_count, 'other multiprocessor')} ran no block"


def describe_segment(data: GpuData, segment: int) -> str:
    """Describe a warp's segment: phase, kind, cycles, and the lines of the source."""
    segments = data.timeline.segments
    kind, warp = SEGMENT_KINDS[int(segments.kind[segment])], int(segments.warp[segment])
    cycles = int(segments.end[segment] - segments.start[segment])
    time = micros_text(cycles * 1000 / data.timeline.head.mhz)
    phase = phase_label(data, int(segments.phase[segment]))
    label = phase if kind in phase.split() else f"{phase}, {kind}"
    text = f"{label}: {cycles_text(cycles)} · {MEASURED}, {time}; warp {warp}"
    return f"{text}; {describe_lines(data, segment)}".removesuffix("; ")


def describe_lines(data: GpuData, segment: int) -> str:
    """Return the lines of a segment and the text of the first; "" without lines."""
    name, first = line_numbers(data, segment), int(data.timeline.segments.first_line[segment])
    if not name:
        return ""
    line = escape_controls(data.source[first - 1].strip()) if first <= len(data.source) else ""
    line = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
    return f"{name}: {line}" if line else name


def line_numbers(data: GpuData, segment: int) -> str:
    """Return the line numbers of a segment as text; "" without lines."""
    segments = data.timeline.segments
    first, last = (int(column[segment]) for column in (segments.first_line, segments.last_line))
    return "" if not first else f"line {first}" if last <= first else f"lines {first} to {last}"


def phase_label(data: GpuData, phase: int) -> str:
    """Return the name of a phase: load tile 1."""
    return phase_text(data.scenario, phase, data.phases).label


def describe_phase(data: GpuData, block: int, phase: int) -> str:
    """Return a phase of a block with its cycles: load tile 1: 980 cycles · measured."""
    spans = data.phase_spans(block)
    index = int(np.searchsorted(spans.phase, phase))
    cycles = int(spans.end[index] - spans.start[index])
    return f"{phase_label(data, phase)}: {cycles_text(cycles)} · {MEASURED}"


def describe_row(shown: ChartView, row: int) -> str:
    """Describe a row."""
    data = shown.data
    if shown.level == "gpu":
        machine = shown.machine_at(row)
        return f"{rest_text(data)} · {MEASURED}" if machine is None else describe_machine(data, machine)
    if shown.level == "multiprocessor":
        return describe_machine(data, shown.machine)
    if not shown.has_details:
        return f"{describe_block(data, shown.block)}. {NO_DETAILS}"
    if shown.level == "block":
        return f"warp {row}: {kinds_text(kinds_of(data, shown.block, row))} · {MEASURED}"
    kinds = kinds_of(data, shown.block, shown.warp)
    kind = shown.name(row)
    cycles = next((count for name, count in kinds.items() if name == kind), 0)
    return f"warp {shown.warp}, {kind}: {cycles_text(cycles)} in all · {MEASURED}"


def cycles_text(cycles: int) -> str:
    """Return a number of clock cycles: 980 cycles."""
    return plural(cycles, "cycle")


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number:,}{ending}"
