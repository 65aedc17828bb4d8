"""`tilescope measure --accesses`: record each access on the GPU, and compare that with the simulator's trace."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from ...kernels.scenarios.scenario import Scenario
from ...tracer.hardware.accesses.client import GpuNotes, check_size, notes_per_thread
from ...tracer.hardware.accesses.comparison import Comparison, compare, differ_beyond_rounding
from ...tracer.hardware.accesses.measured_trace import MeasuredRun, measured_run
from ...tracer.hardware.accesses.notes import Notes, NotesError
from ...tracer.hardware.times.measurement import MeasurementError
from ...tracer.model.launch import Launch
from ...tracer.model.plan import launch_of, parse_spec
from ...tracer.run.worker_client import Worker, WorkerError
from ...tracer.storage.recorded_traces import file_name, own_folder, portable
from ...tracer.storage.trace_file import TraceFileError, save
from ..model.visible_text import escape_controls
from ..views.common.wording import compared_text, plural
from .common.arguments import UsageError
from .common.text_output import print_error, print_escaped

NotesOf = Callable[[Launch, int], Notes]
Progress = Callable[[str, int, int], None]
KINDS = {
    "accesses": "each thread makes the same accesses as in the simulator, in the same order",
    "values": "loads and stores have the same values as in the simulator",
    "counters": "all equal those of the simulator",
    "results": "the arrays equal those of the simulator",
}


def execute(
    chosen: Namespace, progress: Progress, clear: Callable[[], None], notes_of: NotesOf | None = None
) -> int:
    """Record the scenarios, print a report of each, and return the exit status: 1 if a scenario was not recorded.

    notes_of: a function that records a launch's accesses on a GPU, by default this computer's. Raises MeasurementError,
    CatalogueError and UsageError, with sentences for the user.
    """
    launches = [_launch(spec) for spec in _named(chosen.scenario)]
    folder = Path(chosen.output) if chosen.output else own_folder()
    _make(folder)
    missing = 0
    with closing(Worker()) as worker, GpuNotes() as on_gpu:
        for number, (spec, launch) in enumerate(launches):
            progress(f"the accesses of {spec}", number, len(launches))
            try:
                lines = record_accesses(worker, launch, folder, notes_of or on_gpu)
                clear()
                print_escaped("\n".join([escape_controls(spec), *lines, ""]))
            except (NotesError, WorkerError, TraceFileError) as error:
                clear()
                print_error(f"{spec}: {error}")
                missing += 1
    return 1 if missing else 0


def record_accesses(worker: Worker, launch: Launch, folder: Path, notes_of: NotesOf) -> list[str]:
    """Write the trace of a launch as the GPU runs it, and return the lines of its report.

    Raises NotesError, WorkerError and TraceFileError.
    """
    simulated = worker.run(launch)
    check_size(simulated)
    notes = notes_of(launch, notes_per_thread(simulated))
    run = measured_run(notes)
    path = folder / file_name(launch)
    save(portable(run.trace), path)
    return [*report(notes, run, compare(run.trace, run.results, simulated)), f"  saved as {path}"]


def _named(specs: Sequence[str]) -> Sequence[str]:
    if not specs:
        raise UsageError("--accesses needs a scenario, such as count-racing or matmul-tiled:m=16,k=16,n=16.")
    return specs


def _launch(spec: str) -> tuple[str, Launch]:
    scenario, values, options = parse_spec(spec)
    problem = _problem_of(scenario)
    if problem:
        raise UsageError(f"{spec}: {problem}.")
    return spec, launch_of(scenario, values, **options)


def _problem_of(scenario: Scenario) -> str:
    """Explain why a scenario has no Numba kernel for a GPU; "" if it has one."""
    if scenario.engine == "python":
        return "it is a Python program, which no GPU runs"
    return (
        "its kernel is in CUDA C, and only Numba kernels can record their accesses" if scenario.cuda_c else ""
    )


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MeasurementError(f"{folder} can't be created: {error.strerror or error}.") from error


def report(notes: Notes, run: MeasuredRun, comparison: Comparison) -> list[str]:
    """Format the measurements and the comparison, a line each, indented."""
    head, used = notes.head, plural(run.multiprocessors, "multiprocessor")
    rows = [
        ["device", f"{head.device.name}, {head.date[:10]}, {used} used, measured"],
        ["total", f"{comparison.accesses:,} accesses of {comparison.threads:,} threads"],
        ["order", _order(run)],
        ["time", f"{run.nanoseconds / 1000:,.2f} us from first to last access, with recording; {_latencies(run)}"],
        ["registers", f"{head.registers[0]} a thread, {head.registers[1]} with recording"],
        *([kind, _verdict(comparison, kind)] for kind in KINDS),
        ["original", _plain(notes)],
        ["NumPy", compared_text(run.trace.check) if run.trace.check else "not compared"],
        ["replayed", _replayed(comparison)],
        ["loads", _stale(comparison)],
    ]  # fmt: skip
    return [f"  {label:<10} {text}" for label, text in rows]


def _order(run: MeasuredRun) -> str:
    by_clocks = f"by the multiprocessors' clocks, synchronised to {run.resolution:g} ns"
    if not run.order.atomics:
        return by_clocks
    return f"{by_clocks}; {run.order.chained:,} of {run.order.atomics:,} atomics by the values that they read"


def _latencies(run: MeasuredRun) -> str:
    parts = [f"{space} {cycles:,.0f}" for space, cycles in run.latencies.items()]
    return f"cycles of a load, the median: {', '.join(parts)}" if parts else "no loads"


def _verdict(comparison: Comparison, kind: str) -> str:
    difference = comparison.differs(kind)
    return (
        f"equal: {KINDS[kind]}" if difference is None else f"differ: {escape_controls(difference.sentence)}"
    )


def _plain(notes: Notes) -> str:
    """Compare the results of the original kernel with those of the recording kernel, which is slower."""
    wrong = {
        n: np.flatnonzero(differ_beyond_rounding(notes.results[n], value)) for n, value in notes.plain.items()
    }
    name = next((n for n, rows in wrong.items() if len(rows)), "")
    if not name:
        return "without recording the results are equal"
    index, count = int(wrong[name][0]), sum(map(len, wrong.values()))
    values = (results[name].reshape(-1)[index] for results in (notes.plain, notes.results))
    without, noted = values
    elements = plural(count, "element")
    return f"without recording the results differ in {elements}: {name}[{index}] is {without}, with recording {noted}"


def _replayed(comparison: Comparison) -> str:
    if not comparison.replayed:
        return "the stores in this order give the GPU's results"
    return (
        f"the stores in this order give other results than the GPU in {comparison.replayed:,} elements: the clocks are "
        "too coarse there, so two stores are in the wrong order"
    )


def _stale(comparison: Comparison) -> str:
    if not comparison.loads:
        return "none"
    if not comparison.stale:
        return f"all {comparison.loads:,} read the latest store before them"
    return (
        f"{comparison.stale:,} of {comparison.loads:,} read another value than the latest store before them in this "
        "order: a store was not yet visible, or a cache held an older value"
    )
