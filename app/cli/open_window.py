"""`tilescope` without a command, and `tilescope open`: show the window."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ... import __version__
from ...tracer.model.notebook_cells import is_notebook
from ..model.named_file import is_file
from .common.arguments import Parser, UsageError, check_panes, check_scenarios, missing_file_text
from .common.interrupts import immediate_interrupts

if TYPE_CHECKING:
    from ..window.start import Follower

CUDA_CPP = ".cu"


def add_window_arguments(parser: Parser) -> None:
    """Add the arguments that `tilescope` takes without a command."""
    parser.add_argument("--version", action="version", version=f"tilescope {__version__}")
    parser.add_argument(
        "what",
        nargs="*",
        metavar="FILE | SCENARIO",
        help="a program, notebook, lecture or trace, or up to two scenarios",
    )


@immediate_interrupts()
def show_window(chosen: Namespace) -> int:
    """Show the window on a file or on scenarios; without either, as it was closed."""
    if any(is_document(word) for word in chosen.what):
        if len(chosen.what) > 1:
            raise UsageError(f"{chosen.what[0]} must be the only argument; leave the others out.")
        return show_file(chosen.what[0])
    return _show(chosen.what)


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Open the window on a trace file, a lecture, or the launches of a Python file, a notebook or a CUDA C++ "
        "file, which runs again whenever it is saved."
    )
    parser.add_argument(
        "file",
        nargs="?",
        default="",
        metavar="FILE.py | FILE.ipynb | FILE.cu | FILE.md | FILE.npz",
        help="needed without --witness, whose trace is the one next to it by default",
    )
    parser.add_argument(
        "--witness",
        metavar="FILE",
        help="show a launch next to an order that tilescope orders or tilescope check has found",
    )


@immediate_interrupts()
def execute(chosen: Namespace) -> int:
    """Show the window on a file or, as without `open`, on a scenario; raises UsageError if there is neither."""
    from ...kernels.scenarios.catalogue import names

    if chosen.witness:
        from .orders import specs_with_witness, trace_of_witness

        if is_document(chosen.file):
            raise UsageError("--witness takes a trace file or a scenario.")
        specs = specs_with_witness(chosen.file or trace_of_witness(chosen.witness), chosen.witness)
        check_panes(specs)
        return _show_checked(specs)
    if not chosen.file:
        raise UsageError("name a file to open, or a witness with --witness.")
    is_scenario = chosen.file.partition(":")[0] in names() and not is_file(chosen.file)
    return _show([chosen.file]) if is_scenario else show_file(chosen.file)


def is_document(word: str) -> bool:
    """Check whether a word names a file other than a trace: a program, a notebook, a lecture, CUDA C++."""
    return word.endswith((".py", ".md", CUDA_CPP)) or is_notebook(word)


def show_file(name: str) -> int:
    """Show the window on a program, notebook, lecture, exercise or trace; raises UsageError."""
    from ...tracer.model.plan import parse_file_spec

    if not is_file(parse_file_spec(name)[0]):
        raise UsageError(missing_file_text(name))
    if name.endswith(".md"):
        return _show_page(Path(name))
    return _show([], name) if is_document(name) else _show([name])


def _show_page(path: Path) -> int:
    """Show a Markdown file: as an exercise if its kernel is next to it, else as a lecture; raises UsageError."""
    from ..exercises.model.document import FILE_NAME
    from ..lectures.model.document import read_lecture
    from ..lectures.model.problems import LectureError

    if FILE_NAME.fullmatch(path.name) and path.with_suffix(".py").is_file():
        return show_exercise(path)
    try:
        read_lecture(path)
    except LectureError as error:
        raise UsageError(str(error)) from None
    return show_lecture(path)


def show_lecture(path: Path, follower: Follower | None = None) -> int:
    """Show the window on a lecture, and start what follows it; raises UsageError if there is no display."""
    return _show_checked([], lecture=path, follower=follower)


def show_exercise(path: Path) -> int:
    """Show the window on an exercise, by its Markdown file."""
    return _show([], exercise=path)


def _show(specs: Sequence[str], program: str = "", exercise: Path | None = None) -> int:
    check_scenarios(specs)
    return _show_checked(specs, program, exercise=exercise)


def _show_checked(
    specs: Sequence[str],
    program: str = "",
    lecture: Path | None = None,
    exercise: Path | None = None,
    follower: Follower | None = None,
) -> int:
    if not has_display():
        command = "lecture NAME -o FOLDER/" if lecture else "frames -o FOLDER"
        raise UsageError(f"there is no display; tilescope {command} draws pictures without one.")
    from ..window.start import run_window

    return run_window(specs, program, lecture, exercise, follower)


def has_display() -> bool:
    """Check whether the environment names a screen for Qt, which would otherwise end the process."""
    is_named = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    return is_named or sys.platform != "linux"
