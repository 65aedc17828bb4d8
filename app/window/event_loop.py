"""Runs the window's event loop, with what it needs around it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from ...tracer.run.worker_client import Worker
from ...tracer.storage.trace_cache import TraceCache
from ..control.session_jobs import SessionJobs
from ..model import folders
from ..model.first_bookmark import first_bookmark
from .main_window import MainWindow

HEARTBEAT = 250  # milliseconds after which Python looks for Ctrl+C in the terminal


def application() -> QApplication:
    """Return the one application object."""
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    made = QApplication(sys.argv[:1])
    made.setApplicationName("Tilescope")
    made.setDesktopFileName("tilescope")
    made.setStyle("Fusion")
    return made


def run_event_loop(worker: Worker, specs: Sequence[str], program: str, interrupted: Sequence[int]) -> int:
    """Show the window until it is closed, with the launches of a program of the user's; return the exit status.

    interrupted: not empty any more once the user pressed Ctrl+C in the terminal.
    """
    made = application()
    jobs = SessionJobs(worker, TraceCache(folders.cache_folder()))
    window = MainWindow(jobs, folders.config_folder() / "window.json")
    window.restore()
    if not window.show_bookmark(first_bookmark(specs, window.settings.bookmark)):
        window.show_bookmark(first_bookmark((), None))
    window.show()
    if program:
        window.files.run_program(program)
    heartbeat = QTimer(interval=HEARTBEAT)
    heartbeat.timeout.connect(lambda: window.close() if interrupted else None)
    heartbeat.start()
    status = made.exec()
    if not jobs.close():
        # A thread still computes what nobody will see; everything is saved, so do not wait for it.
        sys.stdout.flush()
        os._exit(status)
    return status
