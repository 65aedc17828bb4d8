"""`tilescope export`: write the accesses of a launch as CSV or Parquet, or the launch as a Perfetto trace."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ...tracer.exports.write import SUFFIXES, check_export, write_export
from ...tracer.model.plan import launch_of, parse_spec
from ...tracer.model.trace import Trace
from ...tracer.run.kept_traces import trace_cache
from ...tracer.run.worker_client import Worker
from ...tracer.storage.temp_folders import large_files_folder
from ...tracer.storage.trace_file import load
from ..model.named_file import is_file
from ..model.session import with_visible_names
from ..views.common.wording import part_text
from .common.arguments import Parser, check_scenarios
from .common.text_output import is_stderr_a_terminal, print_escaped, show_progress

PATIENCE = 600.0  # seconds that a launch may take


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Write the accesses of a launch, one a row, for pandas, DuckDB or a spreadsheet, or the launch as a trace for "
        "ui.perfetto.dev. There a moment is drawn as a microsecond: it shows an order, not a measured time."
    )
    parser.epilog = "Measured times are exported by tilescope export timings."
    parser.add_argument(
        "scenario",
        metavar="FILE.npz",
        help="a trace, or a scenario such as matmul-tiled:m=64 (tilescope list names them)",
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help=", ".join(SUFFIXES))


def execute(chosen: Namespace) -> int:
    """Write the file and print its name; report on standard error which parts of the launch it lacks."""
    check_scenarios([chosen.scenario])
    path = Path(chosen.output)
    check_export(path)
    with _trace(chosen.scenario) as stored:
        trace = with_visible_names(stored)
        ended = f"The kernel raised {trace.error.type}: {trace.error.message}" if trace.error else ""
        part = " ".join(filter(None, (part_text(trace), ended)))
        write_export(trace, path, part, _progress("written: {:,} of {:,} accesses"))
    if part:
        print_escaped(f"{path.name} holds a part of the launch. {part}", sys.stderr)
    print_escaped(path)
    return 0


@contextmanager
def _trace(spec: str) -> Iterator[Trace]:
    """Yield the trace in a file, or that of a scenario, with few of its accesses in memory at once.

    Raises TraceFileError and WorkerError.
    """
    if is_file(spec):
        yield load(spec, aside=Path(large_files_folder()))
        return
    scenario, values, options = parse_spec(spec)
    launch = launch_of(scenario, values, **options)
    worker, cache = Worker(), trace_cache()
    try:
        trace = cache.get(launch)
        if trace is None:
            trace = worker.run(launch, _progress("traced: {:,} of {:,} blocks"), patience=PATIENCE)
            cache.put(launch, trace)
        yield trace
    finally:
        worker.close()


def _progress(text: str) -> Callable[[int, int], None]:
    """Return a function that shows the progress on a terminal, and does nothing elsewhere."""
    if not is_stderr_a_terminal():
        return lambda done, total: None

    def show(done: int, total: int) -> None:
        show_progress(text.format(done, total) if done < total else "")

    return show
