"""The facts below the chart of a timeline, each with the mark of its source."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ....tracer.hardware.segment_sums import kind_cycles
from ....tracer.hardware.timeline import KernelCost, SegmentKind
from .data import GpuData

FactMark = Literal["measured", "exact"]
THINNED = {
    "barriers": "only barriers are marked: with all marks the kernel took more than 25 % longer",
    "ends": "only each warp's start and end are marked: with more marks the kernel took more than 25 % longer",
}
ENDS = "only each warp's start and end are marked"  # of programs in CUDA C++


class Fact(NamedTuple):
    """A fact, the mark of its source, and a tooltip."""

    mark: FactMark
    text: str
    tip: str


def facts_of(data: GpuData) -> list[Fact]:
    """List the facts of a launch, the most important first."""
    head = data.timeline.head
    shape = f"{data.timeline.blocks:,} blocks of {threads_text(head.block)}"
    facts = [
        Fact("exact", shape, "The shape of the launch."),
        Fact("measured", head.origin, _origin_tip(data)),
        Fact(
            "measured",
            f"{micros_text(data.timeline.nanoseconds)} from first start to last end",
            _span_tip(data),
        ),
        Fact("measured", _at_once_text(data), _AT_ONCE),
        Fact("measured", f"{_short_number(data.wave_count)} waves", _WAVES),
    ]
    if data.kinds:
        blocks = _counted(len(data.detailed), "block")
        facts.append(Fact("measured", f"warps of {blocks}: {kinds_text(data.kinds)}", _KINDS))
    facts.append(Fact("measured", _cost_text(head.plain, head.marked), _COST))
    if head.detail != "all":
        facts.append(Fact("measured", THINNED[head.detail] if head.scenario else ENDS, " ".join(head.notes)))
    return facts


_KINDS = "Clock cycles of all recorded warps, summed by kind."
_AT_ONCE = "The largest number of blocks on one multiprocessor at the same time, from their starts and ends."
_WAVES = "Blocks divided by multiprocessors and by blocks at once: how often the launch fills the GPU."
_COST = (
    "Registers per thread, local memory if there is any, and the median time, of the kernel with marks that read the "
    "clock and without them."
)


def _origin_tip(data: GpuData) -> str:
    head = data.timeline.head
    revision = f", revision {head.revision[:7]}{'+' * head.revision.endswith('+')}" if head.revision else ""
    return (
        f"Recorded on {head.origin}{revision}; {head.mhz:,.0f} MHz; clocks of different multiprocessors agree to "
        f"{head.resolution_ns:,.0f} ns. {' '.join(head.notes)}"
    ).strip()


def _span_tip(data: GpuData) -> str:
    """Explain the time of a launch, and compare it with the time between two events."""
    head = data.timeline.head
    text = (
        "From the first start of a block to the last end, by the GPU's clock, with the marks in the kernel."
    )
    if not head.launch_microseconds:
        return text
    events = f"Two events around the launch measure {_time(head.launch_microseconds)}"
    empty = (
        f", and {_time(head.empty_microseconds)} around an empty kernel" if head.empty_microseconds else ""
    )
    return f"{text} {events}{empty}."


def _at_once_text(data: GpuData) -> str:
    used, at_once = data.used_machines, data.lanes.concurrent_blocks
    machines = f"{used:,}" if used == data.machines else f"{used:,} of {data.machines:,}"
    most = data.timeline.head.marked.blocks_at_once
    limit = f" (the driver allows {most})" if most else ""
    return f"up to {_counted(at_once, 'block')} at once on a multiprocessor{limit}, {machines} in use"


def _cost_text(plain: KernelCost, marked: KernelCost) -> str:
    """Return the cost of the marks: with marks 34 registers, not 30; 44.0 µs, not 40.1 µs (+10 %)."""
    parts = [f"{marked.registers} registers, not {plain.registers}"]
    if marked.registers == plain.registers:
        parts = [f"{marked.registers} registers, as without marks"]
    if marked.blocks_at_once != plain.blocks_at_once:
        parts.append(f"{marked.blocks_at_once} blocks at once, not {plain.blocks_at_once}")
    if marked.local_bytes != plain.local_bytes:
        parts.append(f"{marked.local_bytes} bytes of local memory, not {plain.local_bytes}")
    if marked.microseconds and plain.microseconds:
        times = [float(np.median(cost.microseconds)) for cost in (marked, plain)]
        increase = round(100 * (times[0] / times[1] - 1))
        parts.append(f"{_time(times[0])}, not {_time(times[1])} ({increase:+d} %)")
    return f"with marks {'; '.join(parts)}"


def kinds_text(cycles: dict[SegmentKind, int]) -> str:
    """Return the shares of kinds, the largest first: load 61 %, compute 22 %."""
    total = sum(cycles.values()) or 1
    ordered = sorted(cycles.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{kind} {share_text(count / total)}" for kind, count in ordered)


def share_text(share: float) -> str:
    """Return a share in percent; tiny shares are < 1 %."""
    return f"{100 * share:.0f} %" if share >= 0.005 or share == 0 else "< 1 %"


def kinds_of(data: GpuData, block: int, warp: int | None = None) -> dict[SegmentKind, int]:
    """Return the cycles of a block's warps, or of one warp, by kind; {} if none were recorded."""
    segments, rows = data.timeline.segments, data.rows(block)
    if warp is None:
        return kind_cycles(segments, rows)
    return kind_cycles(segments, rows.start + np.flatnonzero(segments.warp[rows] == warp))


def micros_text(nanoseconds: float) -> str:
    """Return nanoseconds as text, in µs or, from a millisecond on, in ms: 4.27 µs."""
    return _time(nanoseconds / 1000)


def _time(microseconds: float) -> str:
    unit, size = ("ms", 1e3) if microseconds >= 1e3 else ("µs", 1.0)
    value = microseconds / size
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:,.{digits}f} {unit}"


def threads_text(block: tuple[int, int, int]) -> str:
    """Return a block's shape: 16 × 16 threads."""
    sides = block[: max((i + 1 for i, side in enumerate(block) if side > 1), default=1)]
    return " × ".join(f"{side:,}" for side in sides) + " threads"


def _short_number(number: float) -> str:
    """Return a number with one decimal, or below 1 with two digits: 3.9, 0.12."""
    return f"{number:,.1f}" if number >= 1 else f"{number:.2g}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
