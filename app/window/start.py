"""The start of the window and the loop of its events: the worker first, which loads numba while Qt is loaded here."""

from __future__ import annotations

import builtins
import gc
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from ...tracer.run.worker_client import Worker
    from ..control.session_jobs import SessionJobs
    from .main_window import MainWindow

# Qt hands what is taller than 95 rows to threads, part by part, and waits for them: a line down a matrix then took
# twenty times as long, and a picture waited for whatever else the processor had to do. With this it paints itself.
NO_THREAD_POOL = "QT_NO_GUI_THREADPOOL"
SWITCH_INTERVAL = (
    0.0005  # seconds after which a thread that computes lets the window draw, a tenth of what is usual
)
SETTLING_TIME = 2000  # milliseconds after which the window is there with its first pictures
HEARTBEAT = 250  # milliseconds after which Python looks for Ctrl+C in the terminal


def run_window(
    specs: Sequence[str], program: str = "", lecture: Path | None = None, exercise: Path | None = None
) -> int:
    """Open the window on scenarios, on a trace file, or on what it showed last; return when it is closed.

    program: the path of a Python file whose launches are shown, now and whenever it is saved. lecture: a file that is
    presented. exercise: the Markdown file of one that is worked at.

    Raises CatalogueError for a scenario that does not exist or a parameter that it cannot take.
    """
    # Python calls a signal's handler between any two steps, also in the midst of painting: only take note here.
    interrupted: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: interrupted.append(number))
    load_quickly()
    from ...tracer.run.worker_client import Worker

    worker = Worker()
    worker.start()
    return _run_event_loop(worker, specs, program, lecture, exercise, interrupted)


def load_quickly() -> None:
    """Let modules load, and the window's parts be made, without what would only take time.

    Nothing is garbage until the window is seen. And threads of NumPy's that have nothing to do leave the other core to
    the worker. To be called before NumPy is loaded.
    """
    gc.disable()
    from ...tracer.processes.json_process import CALM_BLAS

    for name, value in CALM_BLAS.items():
        os.environ.setdefault(name, value)


def load_qt() -> None:
    """Load Qt as PySide has it, but for its import function.

    That reads the source of each module that is imported later, to see whether it wants another style of names
    (`from __feature__ import snake_case`), which none of ours does.
    """
    import PySide6.QtWidgets  # noqa: F401  # with its own import function, in place of Python's, which it keeps

    plain = getattr(builtins, "__orig_import__", None)
    if plain is not None:
        setattr(builtins, "__import__", plain)  # noqa: B010  # which type checkers take for a constant


def go_on_as_usual() -> None:
    """Look for garbage again, but not among what is there: the window keeps it."""
    gc.freeze()
    gc.enable()


def application() -> QApplication:
    """Return the application object, which Qt allows once a process: the one there is, or a new one."""
    from PySide6.QtWidgets import QApplication

    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    os.environ.setdefault(NO_THREAD_POOL, "1")
    # The style as an option: to be told of the one that `setStyle` returns, PySide prepares all that styles are asked.
    app = QApplication([*(sys.argv[:1] or ["tilescope"]), "-style", "Fusion"])
    sys.setswitchinterval(SWITCH_INTERVAL)
    app.setApplicationName("Tilescope")
    app.setDesktopFileName("tilescope")
    return app


def window_for_pictures(jobs: SessionJobs) -> MainWindow:
    """Return a window that nobody uses, for `StepPictures`."""
    from .main_window import MainWindow

    window = MainWindow(jobs)
    window.central.transport.position.hint = ""
    window.central.measured.read_now()  # no picture waits for it
    window.central.charts.recorded.waits = False
    return window


def _run_event_loop(
    worker: Worker,
    specs: Sequence[str],
    program: str,
    lecture: Path | None,
    exercise: Path | None,
    interrupted: Sequence[int],
) -> int:
    """Show the window until it is closed, with the launches of a program of the user's; return the exit status.

    interrupted: not empty any more once the user pressed Ctrl+C in the terminal.
    """
    load_qt()
    from PySide6.QtCore import QTimer

    from ...tracer.storage import folders
    from ...tracer.storage.trace_cache import TraceCache
    from ..control.session_jobs import SessionJobs
    from ..model.first_bookmark import first_bookmark
    from .main_window import MainWindow

    app = application()
    jobs = SessionJobs(worker, TraceCache(folders.cache_folder()))
    window = MainWindow(jobs, folders.config_folder() / "window.json")
    window.restore()
    first = first_bookmark(specs, window.settings.bookmark)
    presents = lecture is not None and window.lectures.open(lecture, before=first)
    if not presents and not program and not window.show_bookmark(first):
        window.show_bookmark(first_bookmark((), None))
    if program:
        window.show_program(program, first)
    window.show()
    QTimer.singleShot(SETTLING_TIME, go_on_as_usual)
    if exercise is not None:
        window.exercises.open_path(exercise)
    heartbeat = QTimer(interval=HEARTBEAT)
    heartbeat.timeout.connect(lambda: window.leave() if interrupted else None)
    heartbeat.start()
    status = app.exec()
    if not jobs.close():
        # A thread still computes what nobody will see; everything is saved, so do not wait for it.
        sys.stdout.flush()
        os._exit(status)
    return status
