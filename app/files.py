"""Traces and pictures in and out: dialogs, drops, the clipboard. Whatever fails is told in the window's notice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from ..tracer.storage import TraceFileError, save
from .bookmark import Setup
from .pictures import PictureError, picture_of, write_png
from .session import launch_name
from .settings import with_recent
from .user_program import UserProgram

if TYPE_CHECKING:
    from .main_window import MainWindow

TRACES = "Traces (*.npz)"
ANSWERS = 6  # launches that a question offers
DROPPED = (".npz", ".npy", ".py")


def open_trace(window: MainWindow) -> None:
    """Ask for a trace file and open it in the pane in focus."""
    path, _ = QFileDialog.getOpenFileName(window, "Open trace", _folder(window), TRACES)
    if path:
        open_path(window, path)


def open_path(window: MainWindow, path: str) -> None:
    """Open a trace file in the pane in focus."""
    setups = list(window.stage.setups)
    setups[window.stage.focus : window.stage.focus + 1] = [Setup(file=str(Path(path).absolute()))]
    window.change_setups(tuple(setups))


def note_opened(window: MainWindow, path: str) -> None:
    """Remember a trace file that could be opened, unless it goes when the window closes."""
    if path and not (window.program and window.program.owns(path)):
        window.settings = with_recent(window.settings, path)


def open_program(window: MainWindow) -> None:
    """Ask for a Python file of the user's, run it under the tracer and show its launches."""
    path, _ = QFileDialog.getOpenFileName(window, "Open program", _folder(window), "Programs (*.py)")
    if path:
        run_program(window, path)


def run_program(window: MainWindow, path: str) -> None:
    """Run a program under the tracer, now and whenever its file is saved, and show its launches."""
    program = window.program
    if program is None:
        program = window.program = UserProgram(window)
        program.recorded.connect(partial(_show_launches, window))
        program.failed.connect(window.notice.error)
        program.noted.connect(window.notice.error)
    _tell(window, f"Running {Path(path).name} under the tracer; Esc ends it.")
    program.open(Path(path))


def _show_launches(window: MainWindow, traces: Sequence[Path]) -> None:
    """Show the first two launches of a program; with more, ask which one the pane in focus shall show."""
    window.change_setups(tuple(Setup(file=str(path)) for path in traces[:2]))
    name = Path(window.program.path).name if window.program else ""
    if len(traces) <= 2:
        window.notice.tell(f"The program {name} ran; it runs again whenever it is saved.")
        return
    answers = [(launch_name(path), partial(_show_launch, window, path)) for path in traces[:ANSWERS]]
    window.notice.ask(
        f"The program {name} made {len(traces)} launches. Which one shall the pane in focus show?", answers
    )


def _show_launch(window: MainWindow, path: Path) -> None:
    setups = list(window.stage.setups)
    setups[window.stage.focus] = Setup(file=str(path))
    window.change_setups(tuple(setups))


def save_trace(window: MainWindow) -> None:
    """Ask for a name and save the trace of the pane in focus."""
    session = window.focused_session()
    if session is None:
        window.notice.error("There is no trace to save yet.")
        return
    suggestion = str(Path(_folder(window)) / f"{session.launch.scenario or session.trace.kernel}.npz")
    path, _ = QFileDialog.getSaveFileName(window, "Save trace", suggestion, TRACES)
    if path:
        store_trace(window, Path(path).with_suffix(".npz"))


def store_trace(window: MainWindow, path: Path) -> None:
    """Save the trace of the pane in focus."""
    session = window.focused_session()
    if session is None:
        return
    try:
        save(session.trace, path)
    except TraceFileError as error:
        window.notice.error(str(error))
        return
    window.settings = with_recent(window.settings, str(path.absolute()))
    _tell(window, f"The trace is saved as {path}.")


def save_picture(window: MainWindow) -> None:
    """Ask for a name and save the window as a picture of twice its size."""
    suggestion = str(Path(_folder(window)) / "tilescope.png")
    path, _ = QFileDialog.getSaveFileName(window, "Save picture", suggestion, "Pictures (*.png)")
    if path:
        store_picture(window, Path(path).with_suffix(".png"))


def store_picture(window: MainWindow, path: Path) -> None:
    """Save the window as a picture of twice its size."""
    window.notice.clear("told")
    try:
        write_png(picture_of(window, 2), path)
    except PictureError as error:
        window.notice.error(str(error))
        return
    _tell(window, f"The picture is saved as {path}.")


def copy_picture(window: MainWindow) -> None:
    """Put a picture of the window on the clipboard."""
    window.notice.clear("told")
    QGuiApplication.clipboard().setImage(picture_of(window, 2))
    _tell(window, "The picture is on the clipboard.")


def dropped(data: QMimeData) -> list[str]:
    """Return the paths of dropped files that can be used here: traces, NumPy arrays, programs."""
    paths = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
    return [path for path in paths if path.lower().endswith(DROPPED)]


def take_dropped(window: MainWindow, path: str) -> None:
    """Open a dropped trace; for a NumPy array, ask which argument it shall be; for a program, whether to run it."""
    if path.lower().endswith(".npz"):
        open_path(window, path)
        return
    if path.lower().endswith(".py"):
        question = f"Run {Path(path).name} under the tracer, now and whenever it is saved?"
        window.notice.ask(question, [("Run it", partial(run_program, window, path))])
        return
    parameters = [p for p in window.toolbar.parameters() if p.file]
    if not parameters:
        window.notice.error(f"No scenario shown here takes an input file; {Path(path).name} is not used.")
        return
    answers = [(p.label, partial(window.toolbar.put, p.name, path)) for p in parameters]
    window.notice.ask(f"What shall {Path(path).name} be?", answers)


def _tell(window: MainWindow, sentence: str) -> None:
    """Tell what went well, in place of what went wrong before."""
    window.notice.clear("error")
    window.notice.tell(sentence)


def _folder(window: MainWindow) -> str:
    recent = window.settings.recent
    return str(Path(recent[0]).parent) if recent else str(Path.home())
