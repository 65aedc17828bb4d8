"""`tilescope` with no command, and `tilescope open`: the window."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from ... import __version__
from ...tracer.model.notebook_cells import is_notebook
from ..model.named_file import is_file
from .common.arguments import Parser, UsageError, check_scenarios


def add_window_arguments(parser: Parser) -> None:
    """Add what may follow `tilescope` where no command does."""
    parser.add_argument("--version", action="version", version=f"tilescope {__version__}")
    parser.add_argument(
        "what", nargs="*", metavar="FILE | SCENARIO", help="a trace file, or up to two scenarios"
    )


def show_window(chosen: Namespace) -> int:
    """Show the window on a trace file or on scenarios, without either as it was last."""
    return _show(chosen.what)


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Open the window on a trace file, or on the launches of a Python file or a notebook, which is run "
        "again whenever it is saved."
    )
    parser.add_argument("file", metavar="FILE.py | FILE.ipynb | FILE.npz")


def execute(chosen: Namespace) -> int:
    """Show the window on a file; raises UsageError where there is none."""
    if not is_file(chosen.file):
        raise UsageError(f"there is no file {chosen.file}; check its name and folder.")
    is_program = chosen.file.endswith(".py") or is_notebook(chosen.file)
    return _show([], chosen.file) if is_program else _show([chosen.file])


def show_lecture(path: Path) -> int:
    """Show the window on a lecture; raises UsageError where there is no display."""
    return _show([], lecture=path)


def show_exercise(path: Path) -> int:
    """Show the window on an exercise, by its Markdown file."""
    return _show([], exercise=path)


def _show(
    specs: Sequence[str], program: str = "", lecture: Path | None = None, exercise: Path | None = None
) -> int:
    check_scenarios(specs)
    if not has_display():
        instead = "lecture NAME -o FOLDER/" if lecture else "frames -o FOLDER"
        raise UsageError(f"there is no display; tilescope {instead} draws pictures without one.")
    from ..window.start import run_window

    return run_window(specs, program, lecture, exercise)


def has_display() -> bool:
    """Return whether Qt will find a screen, so far as the environment says; without one it ends the process."""
    named = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    return named or sys.platform != "linux"
