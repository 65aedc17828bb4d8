"""`tilescope measure --timeline`: record when the GPU did what, and report the cost of the marks."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from ...tracer.hardware.figures import (
    blocks_at_once,
    covered_share,
    kernel_microseconds,
    multiprocessors_used,
)
from ...tracer.hardware.marks.client import Outcome, record_timelines
from ...tracer.hardware.recorded_timelines import own_folder
from ...tracer.hardware.segment_sums import kind_cycles
from ...tracer.hardware.timeline import KernelCost, SegmentKind, Timeline
from ...tracer.hardware.timeline_file import load
from ...tracer.hardware.times.cases import Case, cases_of
from ...tracer.hardware.times.client import case_spec
from ...tracer.hardware.times.measurement import MeasurementError, median
from .common.arguments import UsageError
from .common.text_output import align_columns, print_error, print_escaped

HEADS = (
    "", "marks", "registers", "us", "spans, of us", "multiprocessors", "blocks at once", "in segments", "load",
    "compute", "wait",
)  # fmt: skip
LEGEND = (
    "registers of a thread, us: median kernel time; without -> with marks",
    "spans: from the first start of a block to the last end, of the launch's time without an empty kernel's",
    "blocks at once: the most that a multiprocessor ran at the same time, of the driver's limit",
    "in segments: share of a block's span, for its longest warp; load, compute, wait: shares of all warps' cycles",
)
KINDS: tuple[SegmentKind, ...] = ("load", "compute", "wait")
Progress = Callable[[str, int, int], None]


def execute(chosen: Namespace, progress: Progress, clear: Callable[[], None]) -> int:
    """Record the scenarios, print a table, and return the exit status: 1 if a scenario got no timeline.

    Raises MeasurementError, CatalogueError and UsageError, with sentences for the user.
    """
    cases = kernels_of(chosen.scenario)
    folder = Path(chosen.output) if chosen.output else own_folder()
    _make(folder)
    outcomes = record_timelines(cases, folder, progress)
    clear()
    timelines = [load(outcome.path) for outcome in outcomes if outcome.path]
    if timelines:
        print_escaped(table(timelines))
    for outcome in outcomes:
        _report(outcome)
    return 0 if all(outcome.path for outcome in outcomes) else 1


def kernels_of(specs: Sequence[str]) -> list[Case]:
    """Return the cases of specs without their baselines; raises UsageError if there are no specs."""
    if not specs:
        raise UsageError("--timeline needs a scenario, such as matmul-tiled:m=64,k=64,n=64.")
    return [case for case in cases_of(specs) if not case.baseline]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MeasurementError(f"{folder} can't be created: {error.strerror or error}.") from error


def _report(outcome: Outcome) -> None:
    if outcome.path:
        print_escaped(f"saved as {outcome.path}")
    else:
        print_error(f"{case_spec(outcome.case)}: {outcome.reason}")


def table(timelines: Sequence[Timeline]) -> str:
    """Format the measurements of each timeline, a line each, and explain the columns below."""
    rows = [list(HEADS), *(_row(timeline) for timeline in timelines)]
    head, *lines = align_columns(rows)
    first = timelines[0].head
    title = f"{first.origin}; measured, clocks compared to {first.resolution_ns:g} ns"
    texts = [
        "\n".join([line, *(f"  {note}" for note in t.head.notes)])
        for line, t in zip(lines, timelines, strict=True)
    ]
    return "\n".join([title, head, *texts, *LEGEND])


def _row(timeline: Timeline) -> list[str]:
    head, spans = timeline.head, timeline.spans
    values = " ".join(f"{name}={value}" for name, value in head.values.items() if value != "")
    cycles = kind_cycles(timeline.segments)
    total = max(1, sum(cycles.values()))
    return [
        f"{head.scenario} [{values}]" if head.scenario else head.kernel.rpartition(":")[2],
        head.detail,
        f"{head.plain.registers} -> {head.marked.registers}",
        f"{_median(head.plain)} -> {_median(head.marked)}",
        f"{timeline.nanoseconds / 1000:,.2f} of {kernel_microseconds(timeline):,.2f}",
        str(multiprocessors_used(spans)),
        f"{blocks_at_once(spans)}" + f" of {head.marked.blocks_at_once}" * bool(head.marked.blocks_at_once),
        f"{100 * covered_share(timeline):.0f} %",
        *(f"{100 * cycles.get(kind, 0) / total:.0f} %" for kind in KINDS),
    ]


def _median(cost: KernelCost) -> str:
    return f"{median(cost.microseconds):,.2f}"
