"""Checks a lecture in a thread, and shows its problems in a dialog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtWidgets import QDialog, QWidget

from ....tracer.processes.process_client import RunCancelledError
from ...control.session_jobs import PATIENCE, SessionJobs
from ...control.task import Task, TaskQueue
from ...model.bookmark import Setup
from ...model.nothing import nothing
from ...model.session import Session, session_of_file, session_of_launch
from ...model.setup_launch import launch_of_setup
from ...model.visible_text import escape_controls
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme
from ..model.document import Lecture
from ..model.problems import Problem


class CheckJob(QObject):
    """Checks one lecture at a time.

    checked: (Lecture, its problems). failed: one sentence.
    """

    def __init__(self, jobs: SessionJobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.checked: Callable[[Lecture, tuple[Problem, ...]], object] = nothing
        self.failed: Callable[[str], object] = nothing
        self.jobs = jobs
        self._tasks = TaskQueue(self)
        self._is_over = False

    def start(self, lecture: Lecture) -> None:
        """Check a lecture; the signals report the result."""
        check, show = partial(self._check, lecture), lambda problems: self.checked(lecture, problems)
        self._tasks.start(Task(check, show, self._fail, expected=(RunCancelledError,)))

    def close(self) -> None:
        """Wait briefly for the check to end; the worker must be closed before."""
        self._is_over = True
        self._tasks.close()

    def _check(self, lecture: Lecture) -> tuple[Problem, ...]:
        """Check a lecture in the thread; its traces are made when no pane waits for the worker."""
        from ..model.check import check_lecture  # the window starts without it

        return check_lecture(lecture, self._session_of)

    def _fail(self, error: BaseException) -> None:
        if not (self._is_over or isinstance(error, RunCancelledError)):
            self.failed("The lecture could not be checked; the terminal shows the error.")

    def _session_of(self, setup: Setup) -> Session:
        """Load the session of a setup; raises Cancelled once the window closes, and the errors of `check_lecture`."""
        if self._is_over:
            raise RunCancelledError
        if setup.file:
            return session_of_file(Path(setup.file))
        launch = launch_of_setup(setup)
        loaded = self.jobs.session_in_memory(launch)
        return loaded or session_of_launch(launch, self.jobs.trace_in_background(launch, PATIENCE))


def show_problems(parent: QWidget, theme: Theme, lecture: Lecture, problems: Sequence[Problem]) -> QDialog:
    """Show the problems of a lecture, one sentence each with its line, in a non-modal dialog."""
    from ...widgets.reading_dialog import show_text_dialog  # the window starts without it

    text = PlainLabel("\n\n".join(str(problem) for problem in problems))
    text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    title = f"Mistakes in {escape_controls(lecture.path.name)}"
    return show_text_dialog(parent, theme, title, text, QSize(640, 480))
