"""`tilescope measure FILE.cu`: time the kernels of a CUDA C++ program on a GPU, or record their timelines."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from ...tracer.cuda_cpp.rewrite import Sources, read_sources
from ...tracer.hardware.programs.program_timeline import (
    VARIABLE,
    build_marked_program,
    file_name,
    recorded_clocks,
    timeline_of,
)
from ...tracer.hardware.programs.program_times import ProgramTimes, base_name, save, time_program
from ...tracer.hardware.programs.toolkit import Toolkit, build_program, build_timer, find_toolkit
from ...tracer.hardware.recorded_timelines import own_folder
from ...tracer.hardware.timeline_file import save as save_timeline
from ...tracer.hardware.times.client import revision
from ...tracer.hardware.times.measurement import MeasurementError
from ..model.visible_text import escape_controls
from .common.arguments import UsageError
from .common.text_output import align_columns, print_error, print_escaped
from .measure_timelines import table as table_of_timelines

RUNS_PER_LIMIT = 5  # as a kernel of the catalogue has five timings
HEADS = (
    "kernel",
    "grid",
    "block",
    "launches",
    "us",
    "95 % from",
    "to",
    "samples",
    "registers",
    "shared bytes",
)
LONGEST_NAME = 60  # letters
COPY_HEADS = ("copy", "bytes", "copies", "us")
Progress = Callable[[str, int, int], None]


def execute(chosen: Namespace, progress: Progress, clear: Callable[[], None]) -> int:
    """Compile and run the program, print its times, and return 0, or 1 if the program failed.

    Raises MeasurementError and UsageError, with sentences for the user.
    """
    if chosen.accesses:
        raise UsageError(
            "--accesses is for kernels of the catalogue; a CUDA C++ program has times and timelines."
        )
    path, *arguments = chosen.scenario
    try:
        sources = read_sources(Path(path))
    except OSError as error:
        raise MeasurementError(f"{path} can't be read: {error.strerror or error}.") from error
    toolkit = find_toolkit()
    with TemporaryDirectory(prefix="tilescope-measure-") as temporary:
        folder = Path(temporary)
        progress("compiling", 0, 1)
        timer, program = build_timer(toolkit, folder), folder / "program"
        build_program(toolkit, sources.main, list(sources.texts.values()), [sources.main.parent], program)

        def run(name: str, built: Path, settings: dict[str, str], limit: float) -> ProgramTimes:
            """Run a compiled program; one with settings has marks, and prints nothing more."""
            records = folder / name
            records.mkdir()
            clear()
            return time_program(
                [str(built), *arguments],
                timer,
                records,
                source=sources.main,
                date=datetime.now(UTC).isoformat(timespec="seconds"),
                time_limit=limit,
                prints=not settings,
                report=lambda text: progress(text, 0, 1) if text != "run 1" else None,
                settings=settings,
            )

        times = run("plain", program, {}, RUNS_PER_LIMIT * chosen.time_limit)
        clear()
        if not chosen.timeline:
            print_escaped(table(times))
            if chosen.json:
                save(times, Path(chosen.json))
                print_escaped(f"saved as {chosen.json}")
        else:
            _record(
                sources,
                toolkit,
                folder,
                times,
                run,
                own_folder() if not chosen.output else Path(chosen.output),
            )
    if times.status:
        print_error(f"The program ended with exit status {times.status}; it was run once.")
    return 1 if times.status else 0


def _record(
    sources: Sources,
    toolkit: Toolkit,
    folder: Path,
    plain: ProgramTimes,
    run: Callable[[str, Path, dict[str, str], float], ProgramTimes],
    target: Path,
) -> None:
    """Run the program with marks, and save a timeline for each kernel and size."""
    built, clocks_folder = folder / "marked", folder / "clocks"
    clocks_folder.mkdir()
    build_marked_program(toolkit, sources, folder / "mirror", built)
    marked = run("marked-times", built, {VARIABLE: str(clocks_folder)}, 0.0)
    clocks = recorded_clocks(clocks_folder)
    if not clocks:
        raise MeasurementError(
            "No launch of the form kernel<<<grid, block>>>() ran to its end, so there is no timeline."
        )
    timelines = [timeline_of(launch, sources, plain, marked, revision()) for launch in clocks]
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MeasurementError(f"{target} can't be created: {error.strerror or error}.") from error
    print_escaped(table_of_timelines(timelines))
    for timeline in timelines:
        path = target / file_name(timeline)
        save_timeline(timeline, path)
        print_escaped(f"saved as {path}")


def table(times: ProgramTimes) -> str:
    """Format the medians of each kernel and copy, and say what they are."""
    kernels = [
        [
            shortened(kernel.name),
            _size(kernel.grid),
            _size(kernel.block),
            f"{kernel.launches:,}",
            f"{kernel.median:,.2f}",
            *(f"{end:,.2f}" for end in kernel.interval()),
            f"{len(kernel.microseconds):,}",
            str(kernel.registers),
            f"{kernel.shared_bytes:,}",
        ]
        for kernel in times.kernels
    ]
    copies = [
        [
            copy.kind,
            f"{copy.bytes:,}",
            f"{copy.copies:,}",
            f"{sum(copy.microseconds) / len(copy.microseconds):,.2f}",
        ]
        for copy in times.copies
    ]
    title = (
        f"{escape_controls(times.origin)}; measured by CUPTI in {times.runs} runs of the program; medians in "
        "microseconds, launches in one run"
    )
    blocks = [title, *align_columns([list(HEADS), *kernels])]
    if copies:
        blocks += ["", *align_columns([list(COPY_HEADS), *copies])]
    return "\n".join(blocks)


def shortened(name: str) -> str:
    """Return a kernel's name, without its parameters and cut off if it is long."""
    short = name if len(name) <= LONGEST_NAME else base_name(name)
    return short if len(short) <= LONGEST_NAME else f"{short[: LONGEST_NAME - 1]}…"


def _size(size: tuple[int, int, int]) -> str:
    x, y, z = size
    return f"{x} x {y} x {z}" if z > 1 else f"{x} x {y}" if y > 1 else str(x)
