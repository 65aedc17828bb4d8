"""Live judging: only the newest text is judged, in a thread; the trace of its pictured case is saved to a file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QObject

from ...tracer.processes.process_client import RunCancelledError
from ...tracer.storage.temp_folders import new_process_folder
from ...tracer.storage.trace_file import TraceFileError, save
from ..control.task import Task, TaskQueue
from ..model.nothing import nothing
from .model.document import Exercise
from .model.mistakes import ExerciseError

if TYPE_CHECKING:  # the window starts without the judge's modules
    from .model.judge import Judge
    from .model.verdict import Verdict

# Milliseconds before an outdated run is cancelled: to cancel it costs a new process, about a second.
GRACE = 1500
KEPT_TRACES = 4  # traces in the folder at once: an older one may still be in use
UNKNOWN = "The text could not be judged; the terminal shows the error. Change it, or leave the exercise."


class Judged(Struct, frozen=True, eq=False):
    """A judged text."""

    exercise: Exercise
    text: str
    verdict: Verdict
    trace: str  # path of the trace of the pictured case, "" without one


class JudgeJob(QObject):
    """Judges one text at a time, then the newest one.

    judged: a Judged. failed: (Exercise, one sentence). begun: judging has started. rested: it is idle again.
    make: creates the judge on first use.
    """

    def __init__(self, parent: QObject, make: Callable[[], Judge]) -> None:
        super().__init__(parent)
        self.judged: Callable[[Judged], object] = nothing
        self.failed: Callable[[Exercise, str], object] = nothing
        self.begun: Callable[[], object] = nothing
        self.make = make
        self._judge: Judge | None = None
        self._folder: Path | None = None
        self._numbers = count(1)
        self._tasks = TaskQueue(self, interrupt=self._cancel, grace=GRACE)
        self.rested = self._tasks.became_idle

    def ask(self, exercise: Exercise, text: str) -> None:
        """Judge a text soon; a running one may finish within the grace period."""
        if self._judge is None:
            self._judge = self.make()
        task = Task(
            partial(self._run, exercise, text),
            lambda a: self.judged(a),
            partial(self._fail, exercise),
            key=(exercise, text),
            expected=(RunCancelledError, ExerciseError, TraceFileError),
            begun=lambda: self.begun(),
        )
        self._tasks.start(task, newest_only=True)

    def is_busy(self) -> bool:
        """Return True if a text is being judged."""
        return not self._tasks.is_idle()

    def drop(self) -> None:
        """Cancel all requests."""
        self._tasks.keep(())
        self._tasks.interrupt()

    def owns(self, path: str) -> bool:
        """Return True if a trace is one of these temporary ones."""
        return self._folder is not None and Path(path).is_relative_to(self._folder)

    def close(self) -> None:
        """End the processes, wait briefly for the thread, and remove the traces."""
        if self._judge is not None:
            self._judge.close()
        self._tasks.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, exercise: Exercise, text: str) -> Judged:
        """Judge a text in the thread."""
        assert self._judge
        verdict = self._judge.judge(exercise, text)
        return Judged(exercise, text, verdict, self._save_trace(verdict))

    def _save_trace(self, verdict: Verdict) -> str:
        """Save a verdict's trace and return its path; raises TraceFileError."""
        if verdict.trace is None:
            return ""
        number = next(self._numbers)
        if self._folder is None:
            self._folder = new_process_folder()
        shutil.rmtree(self._folder / str(number - KEPT_TRACES), ignore_errors=True)
        from .verdict_text import case_name  # the window starts without it

        case = verdict.pictured
        of_case = f", {case_name(verdict.cases[case - 1], case)}" if case > 1 else ""
        path = self._folder / str(number) / f"{verdict.exercise}{of_case}.npz"
        path.parent.mkdir()
        save(verdict.trace, path, compress=False)
        return str(path)

    def _fail(self, exercise: Exercise, error: BaseException) -> None:
        if isinstance(error, RunCancelledError):
            if self._judge is not None and not self.is_busy():
                self._judge.start()  # warm again before it is needed
            return
        is_known = isinstance(error, (ExerciseError, TraceFileError))
        self.failed(exercise, str(error) if is_known else UNKNOWN)

    def _cancel(self) -> None:
        """Cancel the running judge."""
        if self._judge is not None:
            self._judge.cancel()
