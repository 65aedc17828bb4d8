"""`tilescope measure`: time kernels on the GPU and programs on the CPU, without a window."""

from __future__ import annotations

import sys
from argparse import Namespace
from datetime import datetime
from pathlib import Path

from ...tracer.hardware.times.cases import cases_of
from ...tracer.hardware.times.client import MeasureClient
from ...tracer.hardware.times.measurement import (
    TIMING_KINDS,
    Measurement,
    MeasurementError,
    Row,
    TimingKind,
    save,
)
from ...tracer.model.launch import is_cuda_cpp
from ...tracer.storage.folders import data_folder
from ..model.visible_text import escape_controls
from .common.arguments import Parser, UsageError
from .common.text_output import align_columns, print_escaped, show_progress

SHOWN: tuple[TimingKind, ...] = (
    "kernel-warm",
    "kernel-cold",
    "call",
    "with-copies",
    "launch",
    "cpu",
    "first-call",
)


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Time kernels on the GPU and their CPU baselines, after checking the results against NumPy."
    )
    kinds = "; ".join(f"{kind}: {text}" for kind, text in TIMING_KINDS.items())
    parser.epilog = f"Kinds of time: {kinds}. Outside a git checkout, TILESCOPE_REVISION names the revision."
    parser.add_argument(
        "scenario",
        nargs="*",
        help="a scenario, with all sizes that its lesson compares; or with parameters, as in "
        "matmul-tiled:m=64,tile=16; default: all scenarios. Or a program in CUDA C++ and its arguments: "
        "homework.cu 1024, with -- before arguments that begin with a dash. nvcc compiles it",
    )
    parser.add_argument(
        "--json", metavar="FILE", help="the file for all samples; default: in the data folder"
    )
    parser.add_argument(
        "--timeline",
        action="store_true",
        help="instead of times, record when and on which multiprocessor each block ran, and what its warps did: "
        "runs a copy of the kernel with marks that read the GPU's clocks",
    )
    parser.add_argument(
        "--accesses",
        action="store_true",
        help="instead of times, record each access of small launches with its clock as a trace in the GPU's order, "
        "and compare it to the simulator's",
    )
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="the folder for the files of --timeline and --accesses; default: the data folder",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=1.0,
        metavar="S",
        help="seconds for each timing; a kernel has five (1)",
    )


def execute(chosen: Namespace) -> int:
    """Measure the scenarios, write the file and print a table.

    Raises MeasurementError, CatalogueError and UsageError, with sentences for the user.
    """
    if not 0.01 <= chosen.time_limit <= 3600:
        raise UsageError(f"--time-limit must be 0.01 to 3600 seconds, not {chosen.time_limit:g}.")
    if chosen.timeline and chosen.accesses:
        raise UsageError("--timeline and --accesses can't be recorded together; choose one.")
    if chosen.scenario and is_cuda_cpp(chosen.scenario[0]):
        return _program(chosen)
    if chosen.timeline:
        return _timelines(chosen)
    if chosen.accesses:
        return _accesses(chosen)
    if chosen.output:
        raise UsageError(
            "--output names the folder of --timeline and --accesses; for times, name a file with --json."
        )
    path = Path(chosen.json) if chosen.json else _default_path()
    _check_folder(path, make=not chosen.json)
    client = MeasureClient(cases_of(chosen.scenario), time_limit=chosen.time_limit)
    measurement = client.run(_progress)
    _clear()
    save(measurement, path)
    print_escaped(table(measurement))
    print_escaped(f"saved as {path}")
    return 0


def _program(chosen: Namespace) -> int:
    from . import measure_program

    if chosen.timeline and chosen.json:
        raise UsageError("--json is for times; --timeline writes into the folder that --output names.")
    if chosen.output and not chosen.timeline:
        raise UsageError("--output names the folder of --timeline; for times, name a file with --json.")
    if chosen.json:
        _check_folder(Path(chosen.json), make=False)
    return measure_program.execute(chosen, _progress, _clear)


def _timelines(chosen: Namespace) -> int:
    from . import measure_timelines

    if chosen.json:
        raise UsageError("--json is for times; --timeline writes into the folder that --output names.")
    return measure_timelines.execute(chosen, _progress, _clear)


def _accesses(chosen: Namespace) -> int:
    from . import measure_accesses

    if chosen.json:
        raise UsageError("--json is for times; --accesses writes into the folder that --output names.")
    return measure_accesses.execute(chosen, _progress, _clear)


def _default_path() -> Path:
    return data_folder() / "measurements" / f"{datetime.now():%Y-%m-%d-%H%M%S}.json"


def _check_folder(path: Path, *, make: bool) -> None:
    """Raise MeasurementError, before minutes of measuring, if the file can't be written."""
    try:
        if make:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MeasurementError(f"{path.parent} can't be created: {error.strerror or error}.") from error
    if not path.parent.is_dir() or path.is_dir():
        raise MeasurementError(f"{path} can't be written: name a file in an existing folder.")


def _progress(text: str, done: int, total: int) -> None:
    if sys.stderr.isatty() and text:
        show_progress(f"{done} of {total}; {text}"[:160])


def _clear() -> None:
    if sys.stderr.isatty():
        show_progress("")


def table(measurement: Measurement) -> str:
    """Format the medians in microseconds, a line for each row."""
    kinds = [kind for kind in SHOWN if any(row.timing(kind) for row in measurement.rows)]
    rows = [["", *kinds]]
    rows += [
        [f"{row.title} [{_values(row)}]", *(_cell(row, kind) for kind in kinds)] for row in measurement.rows
    ]
    head, *lines = align_columns(rows, widths=(None, *(max(len(kind), 12) for kind in kinds)), gap=" ")
    lines = [
        line + (f"  {escape_controls(row.problem)}" if row.problem else "")
        for line, row in zip(lines, measurement.rows, strict=True)
    ]
    title = f"{escape_controls(measurement.origin)}; medians in microseconds, ~ if not accurate to 1 %"
    return "\n".join([title, head, *lines])


def _values(row: Row) -> str:
    return " ".join(f"{name}={value}" for name, value in row.parameters.items() if value != "")


def _cell(row: Row, kind: TimingKind) -> str:
    timing = row.timing(kind)
    if timing is None:
        return ""
    return f"{timing.median:,.2f}" + ("" if timing.settled else "~")
