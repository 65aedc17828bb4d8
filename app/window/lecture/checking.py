"""Everything that is wrong with a lecture, found in a thread while the lecture goes on, and shown in a dialog."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QThreadPool, Signal
from PySide6.QtWidgets import QDialog, QWidget

from ....kernels.scenarios.catalogue import find
from ....tracer.run.worker_client import Cancelled
from ...control.runnable import CLOSING_TIMEOUT, FunctionRunnable
from ...control.session_jobs import PATIENCE, SessionJobs
from ...lecture.document import Lecture
from ...lecture.problems import Problem
from ...model.bookmark import Setup
from ...model.session import Session, build_session, session_of_file
from ...model.setup_launch import launch_of_setup
from ...model.visible_text import visible
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme


class CheckJob(QObject):
    """Checks one lecture at a time.

    found: (Lecture, its problems). progress: the number of the step that is looked at. failed: one sentence.
    """

    found = Signal(object, object)
    progress = Signal(int)
    failed = Signal(str)

    def __init__(self, jobs: SessionJobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.jobs = jobs
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._is_over = False

    def start(self, lecture: Lecture) -> None:
        """Look for all that is wrong with a lecture; the signals report it."""
        self._pool.start(FunctionRunnable(lambda: self._check(lecture)))

    def close(self) -> None:
        """Wait a little for the check to end; the worker is closed before."""
        self._is_over = True
        self._pool.clear()
        self._pool.waitForDone(CLOSING_TIMEOUT)

    def _check(self, lecture: Lecture) -> None:
        """In the thread: trace what is shown, between what the panes wait for, and compute what is said of it."""
        from ...lecture.check import check_lecture  # the window starts without it

        why = "The lecture could not be checked; the terminal says why."
        try:
            self.found.emit(lecture, check_lecture(lecture, self._session_of, self.progress.emit))
            why = ""
        except Cancelled:
            why = ""
        finally:
            if why and not self._is_over:
                self.failed.emit(why)

    def _session_of(self, setup: Setup) -> Session:
        """Return the session of a setup; raises Cancelled once the window closes, and what `check_lecture` expects."""
        if self._is_over:
            raise Cancelled
        if setup.file:
            return session_of_file(Path(setup.file))
        launch = launch_of_setup(setup)
        held = self.jobs.held(launch)
        return held or build_session(launch, self.jobs.trace_unshown(launch, PATIENCE), find(setup.scenario))


def show_problems(parent: QWidget, theme: Theme, lecture: Lecture, problems: Sequence[Problem]) -> QDialog:
    """Show what is wrong with a lecture, a sentence each with its line, without stopping what runs."""
    from ...widgets.reading_dialog import show_to_read  # the window starts without it

    text = PlainLabel("\n\n".join(str(problem) for problem in problems))
    text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    title = f"Mistakes in {visible(lecture.path.name)}"
    return show_to_read(parent, theme, title, text, QSize(640, 480))
