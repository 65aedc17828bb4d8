"""Starts the window and its event loop; the worker starts first and loads Numba while Qt is loaded here."""

from __future__ import annotations

import builtins
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from ...tracer.run.worker_client import Worker
    from ..control.session_jobs import SessionJobs
    from ..lectures.player.lectures import Lectures
    from .main_window import MainWindow

# Qt paints shapes taller than 95 rows in a thread pool and waits for it: a vertical line through a matrix then took
# twenty times as long, and pictures waited for other work of the processor. This variable turns the pool off.
NO_THREAD_POOL = "QT_NO_GUI_THREADPOOL"
# Seconds after which a computing thread releases the GIL for the window, a tenth of the default.
SWITCH_INTERVAL = 0.0005
SETTLING_TIME = 2000  # milliseconds after which the window shows its first pictures
HEARTBEAT = 250  # milliseconds between checks for Ctrl+C in the terminal


# Starts a feature that follows the lectures of the window; returns the function that ends it.
Follower = Callable[["Lectures"], Callable[[], None]]


def run_window(
    specs: Sequence[str],
    program: str = "",
    lecture: Path | None = None,
    exercise: Path | None = None,
    follower: Follower | None = None,
) -> int:
    """Open the window with scenarios, a trace file, or its last state; return when it is closed.

    program: a Python file whose launches are shown, now and whenever it is saved. lecture: a file to present.
    exercise: the Markdown file of an exercise to open. follower: started once the window is shown.

    Raises CatalogueError for an unknown scenario or an invalid parameter.
    """
    # Python may call a signal handler at any step, even while painting, so only note the signal here.
    interrupted: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: interrupted.append(number))
    speed_up_imports()
    from ...tracer.run.worker_client import Worker

    worker = Worker()
    worker.start()
    return _run_event_loop(worker, specs, program, lecture, exercise, follower, interrupted)


def speed_up_imports() -> None:
    """Speed up imports and the construction of the window.

    Garbage collection is off until the window is visible, and NumPy's idle threads leave the other core to the worker.
    Call this before NumPy is loaded.
    """
    gc.disable()
    from ...tracer.processes.json_process import BLAS_ENVIRONMENT

    for name, value in BLAS_ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def load_qt() -> None:
    """Load Qt, but restore Python's import function.

    PySide's own one reads the source of every module imported later, to look for
    `from __feature__ import snake_case`, which is never used here.
    """
    import PySide6.QtWidgets  # noqa: F401  # replaces Python's import function, and keeps it

    plain = getattr(builtins, "__orig_import__", None)
    if plain is not None:
        setattr(builtins, "__import__", plain)  # noqa: B010  # type checkers treat it as a constant


def resume_garbage_collection() -> None:
    """Resume garbage collection, except for existing objects, which the window keeps."""
    gc.freeze()
    gc.enable()


def application() -> QApplication:
    """Return the application object of this process; create it on first use."""
    from PySide6.QtWidgets import QApplication

    from ..widgets.dialog_words import DialogWords

    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    os.environ.setdefault(NO_THREAD_POOL, "1")
    # The style as an option, since `setStyle` returns a style, whose Python wrapper is slow to create.
    app = QApplication([*(sys.argv[:1] or ["tilescope"]), "-style", "Fusion"])
    sys.setswitchinterval(SWITCH_INTERVAL)
    app.setApplicationName("Tilescope")
    app.setDesktopFileName("tilescope")
    app.installTranslator(DialogWords(app))
    return app


def window_for_pictures(jobs: SessionJobs) -> MainWindow:
    """Create a window for `StepPictures`."""
    from .main_window import MainWindow

    window = MainWindow(jobs)
    window.central.transport.show_as_picture()
    window.central.results.measured.read_now()  # no picture waits for it
    window.central.charts.recorded.waits = False
    return window


def _run_event_loop(
    worker: Worker,
    specs: Sequence[str],
    program: str,
    lecture: Path | None,
    exercise: Path | None,
    follower: Follower | None,
    interrupted: Sequence[int],
) -> int:
    """Show the window until it is closed; return the exit status.

    interrupted: filled once the user presses Ctrl+C in the terminal.
    """
    load_qt()
    from PySide6.QtCore import QTimer

    from ...tracer.run.kept_traces import trace_cache
    from ...tracer.storage import folders
    from ..control.session_jobs import SessionJobs
    from ..model.first_bookmark import first_bookmark
    from .main_window import MainWindow

    app = application()
    jobs = SessionJobs(worker, trace_cache())
    window = MainWindow(jobs, folders.config_folder() / "window.json")
    window.restore()
    first = first_bookmark(specs, window.settings.bookmark)
    window.look.show(first.theme, first.text_scale, first.reduced_motion, first.words)
    presents = lecture is not None and window.lectures.open(lecture, before=first)
    shows_panes = not presents and not program and exercise is None
    if shows_panes and not window.show_bookmark(first):
        window.show_bookmark(first_bookmark((), None))
    if program:
        window.show_program(program, first)
    window.show()
    window.desk.recover()
    end_following = follower(window.lectures) if follower else None
    QTimer.singleShot(SETTLING_TIME, resume_garbage_collection)
    if exercise is not None:
        window.show_exercise(exercise, first)
    heartbeat = QTimer(interval=HEARTBEAT)
    heartbeat.timeout.connect(lambda: window.leave() if interrupted else None)
    heartbeat.start()
    status = app.exec()
    if end_following is not None:
        end_following()
    if not jobs.close():
        # A thread is still computing an unneeded result; everything is saved, so do not wait for it.
        sys.stdout.flush()
        os._exit(status)
    return status
