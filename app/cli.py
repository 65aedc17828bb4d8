"""The `tilescope` command. Neither Qt nor numba is imported before a command needs it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .. import __version__
from .parser import Parser, UsageError
from .text_table import aligned

SPEC = "as matmul-tiled:m=64,tile=16 (tilescope list names them all), or one trace file"
COMMANDS = """commands:
  tilescope list                                      the scenarios, one a line
  tilescope counters [SCENARIO [SCENARIO]]            what they ask of memory, as a table
  tilescope snapshot SCENARIO [SCENARIO] -o FILE.png  the window as a picture, without a screen
  tilescope open FILE.py                              the launches of a program of yours, in the window
  tilescope run SCRIPT [ARGUMENT ...]                 a program of yours, every launch recorded
  tilescope check SCRIPT [ARGUMENT ...]               what its kernels do wrong; for a course's CI
  tilescope frames [SCENARIO [SCENARIO]] -o FOLDER    telling moments as pictures, and the counters
  tilescope measure [SCENARIO ...] [--json FILE]      their times on a GPU, beside programs on the CPU
  tilescope export timings [SCENARIO ...] -o FILE     measured times as a chart, or its numbers

SCENARIO is a name with parameters, options or neither: matmul-tiled:m=100,tile=32,dtype=float64,a=my.npy
or matmul-tiled:schedule=random,seed=3,resident=4,blocks=0+5. tilescope COMMAND --help says more."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, 2 for what the user can mend, 130 after Ctrl+C."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = _run(arguments)
        if not sys.stdout.closed:  # by a program that was run
            sys.stdout.flush()
        return status
    except SystemExit:  # after --help and --version; the errors below need not be imported for it
        raise
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has gone: nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except _user_errors() as error:
        print(f"tilescope: {error}", file=sys.stderr)
        return 2


def _user_errors() -> tuple[type[Exception], ...]:
    """Return the errors whose text is a sentence for the user; called only once one is raised."""
    from ..kernels.catalogue import CatalogueError
    from ..tracer.client import WorkerError
    from ..tracer.measurement import MeasurementError
    from ..tracer.storage import TraceFileError
    from .pictures import PictureError
    from .program import ProgramError

    return (
        MeasurementError,
        ProgramError,
        UsageError,
        CatalogueError,
        TraceFileError,
        WorkerError,
        PictureError,
    )


def _run(arguments: list[str]) -> int:
    commands: dict[str, Callable[[list[str]], int]] = {
        "list": _list,
        "counters": _counters,
        "snapshot": _snapshot,
        "frames": _frames,
        "open": _open_program,
        "run": _program,
        "check": _program,
        "measure": _measure,
        "export": _export,
    }
    command = commands.get(arguments[0]) if arguments else None
    if command is _program:
        return _program(arguments)
    return command(arguments[1:]) if command else _open(arguments)


def _measure(arguments: list[str]) -> int:
    from .measure_command import measure

    return measure(arguments)


def _export(arguments: list[str]) -> int:
    if arguments[:1] != ["timings"]:
        raise UsageError("say what to export: tilescope export timings -o FILE; see its --help.")
    from .export_command import export

    return export(arguments[1:])


def _program(arguments: list[str]) -> int:
    from .programs import check, run

    return {"run": run, "check": check}[arguments[0]](arguments[1:])


def _open(arguments: list[str]) -> int:
    parser = Parser(
        prog="tilescope",
        description="See what a CUDA kernel does to memory. Without an argument the window shows what it "
        "showed last, at first a naive beside a tiled matrix multiplication.",
        epilog=COMMANDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tilescope {__version__}")
    parser.add_argument(
        "what", nargs="*", metavar="FILE | SCENARIO", help="a trace file, or up to two scenarios"
    )
    what = parser.parse_args(arguments).what
    _check(what)
    _need_display()
    from .window import run_window

    return run_window(what)


def _open_program(arguments: list[str]) -> int:
    parser = Parser(
        prog="tilescope open",
        description="Open the window on a trace file, or on the launches of a Python file, which is run again "
        "whenever it is saved.",
    )
    parser.add_argument("file", metavar="FILE.py | FILE.npz")
    path = parser.parse_args(arguments).file
    if not Path(path).is_file():
        raise UsageError(f"there is no file {path}; check its name and folder.")
    if not path.endswith(".py"):
        return _open([path])
    _need_display()
    from .window import run_window

    return run_window([], path)


def _need_display() -> None:
    if not _has_display():
        raise UsageError("there is no display; tilescope frames -o FOLDER draws pictures without one.")


def _has_display() -> bool:
    """Return whether Qt will find a screen, so far as the environment says; without one it ends the process."""
    named = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    return named or sys.platform != "linux"


def _is_file(what: Sequence[str]) -> bool:
    """Return whether a trace file is named; raises UsageError where it is missing or not alone."""
    files = [word for word in what if word.endswith(".npz") or Path(word).is_file()]
    if files and len(what) > 1:
        raise UsageError(f"the trace file {files[0]} is opened alone; leave the other words out.")
    if files and not Path(files[0]).is_file():
        raise UsageError(f"there is no file {files[0]}; check its name and folder.")
    return bool(files)


def _check(specs: Sequence[str]) -> None:
    """Raise UsageError, CatalogueError or PlanError for what can't be shown: a file, or one or two scenarios."""
    if _is_file(specs):
        return
    from ..tracer.plan import launch_of, parse_spec

    if len(specs) > 2:
        raise UsageError(f"two scenarios are compared, not {len(specs)}.")
    for spec in specs:
        scenario, values, options = parse_spec(spec)
        launch_of(scenario, values, **options)


def _list(arguments: list[str]) -> int:
    parser = Parser(prog="tilescope list", description="Print one scenario per line, its name first.")
    parser.parse_args(arguments)
    from ..kernels.catalogue import scenarios

    rows = [
        [scenario.name, f"{scenario.title} ({','.join(p.name for p in scenario.parameters)})"]
        for scenario in scenarios()
    ]
    print("\n".join(aligned(rows, "<", widths=(24,), gap=" ")))
    return 0


def _counters(arguments: list[str]) -> int:
    parser = Parser(prog="tilescope counters", description="Trace and print the counters as a table.")
    parser.add_argument("scenario", nargs="*", help=SPEC)
    parser.add_argument("--yes", action="store_true", help="wait for launches that take long, without asking")
    parser.add_argument(
        "--by", choices=("line", "buffer", "block"), help="a table of each, a row for each line ..."
    )
    chosen = parser.parse_args(arguments)
    from .first_bookmark import DEFAULT_PAIR
    from .report import counters_table, sessions, table_by

    specs = chosen.scenario or DEFAULT_PAIR
    _check(specs)
    compared = sessions(specs, wait=chosen.yes)
    tables = (
        [table_by(session, chosen.by) for session in compared] if chosen.by else [counters_table(compared)]
    )
    print("\n\n".join(tables))
    return 0


def _snapshot(arguments: list[str]) -> int:
    parser = Parser(prog="tilescope snapshot", description="Draw the window as a picture, without a screen.")
    parser.add_argument("scenario", nargs="+", help=SPEC)
    parser.add_argument("-o", "--output", required=True, metavar="FILE.png", help="the picture to write")
    when = parser.add_mutually_exclusive_group()
    when.add_argument(
        "--moment", type=_whole, metavar="N", help="of the last scenario; beyond the end is the end"
    )
    when.add_argument("--phase", type=_whole, metavar="N", help="of the last scenario, counted from 0")
    _add_look(parser)
    chosen = parser.parse_args(arguments)
    _check(chosen.scenario)
    from .snapshot import snapshot

    look = (chosen.theme, chosen.size, chosen.scale, chosen.text_size)
    snapshot(chosen.scenario, chosen.output, chosen.moment, chosen.phase, *look)
    print(chosen.output)
    return 0


def _frames(arguments: list[str]) -> int:
    parser = Parser(
        prog="tilescope frames", description="Draw the telling moments as pictures and print the counters."
    )
    parser.add_argument("scenario", nargs="*", help=SPEC)
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="where the pictures go")
    _add_look(parser)
    chosen = parser.parse_args(arguments)
    from .first_bookmark import DEFAULT_PAIR
    from .frames import frames_of
    from .report import counters_table, sessions
    from .snapshot import snapshot

    specs = chosen.scenario or DEFAULT_PAIR
    _check(specs)
    folder = _folder(chosen.output)

    compared = sessions(specs)
    look = (chosen.theme, chosen.size, chosen.scale, chosen.text_size)
    for number, frame in enumerate(frames_of(compared[-1])):
        path = folder / f"{number:02}-{frame.name}.png"
        snapshot(specs, str(path), frame.moment, None, *look)
        print(path)
    print(counters_table(compared))
    return 0


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {name} cannot be made: {error.strerror or error}.") from error
    return folder


def _add_look(parser: Parser) -> None:
    """Add what pictures look like."""
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--size", type=_size, default=(1600, 900), metavar="1600x900", help="of the window")
    parser.add_argument(
        "--scale", type=_between(0.5, 4), default=1.0, metavar="2", help="pixels a point, 0.5 to 4"
    )
    parser.add_argument(
        "--text-size", type=_between(0.8, 2), default=1.0, metavar="1.0", help="0.8 to 2 times the normal"
    )


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 on, not {text!r}")
    return int(text)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not all(part.isascii() and part.isdigit() and 320 <= int(part) <= 8192 for part in (width, height)):
        raise argparse.ArgumentTypeError(f"must be WIDTHxHEIGHT, each 320 to 8192, not {text!r}")
    return int(width), int(height)


def _between(low: float, high: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"must be a number from {low} to {high}, not {text!r}")
        return value

    return number
