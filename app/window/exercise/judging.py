"""Live judging: only the newest text is judged, in a thread; the trace of its first case is saved to a file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal

from ....tracer.run.worker_client import RunCancelledError
from ....tracer.storage.temp_folders import new_process_folder
from ....tracer.storage.trace_file import TraceFileError, save
from ...control.runnable import CLOSING_TIMEOUT, FunctionRunnable
from ...exercise.document import Exercise
from ...exercise.mistakes import ExerciseError

if TYPE_CHECKING:  # the window starts without the judge's modules
    from ...exercise.judge import Judge
    from ...exercise.verdict import Verdict

# Milliseconds before an outdated run is cancelled: to cancel it costs a new process, about a second.
GRACE = 1500
KEPT_TRACES = 4  # traces in the folder at once: an older one may still be in use
UNKNOWN = "The text could not be judged; the terminal shows the error. Change it, or leave the exercise."


class Judged(Struct, frozen=True, eq=False):
    """A judged text."""

    exercise: Exercise
    text: str
    verdict: Verdict
    trace: str  # path of the trace of the first case, "" without one


class JudgeJob(QObject):
    """Judges one text at a time, then the newest one.

    judged: a Judged. failed: (Exercise, one sentence). begun, rested: judging has started, or is idle again.
    make: creates the judge on first use.
    """

    judged = Signal(object)
    failed = Signal(object, str)
    begun = Signal()
    rested = Signal()
    _ended = Signal(object)

    def __init__(self, parent: QObject, make: Callable[[], Judge]) -> None:
        super().__init__(parent)
        self.make = make
        self._judge: Judge | None = None
        self._folder: Path | None = None
        self._number = 0
        self._current: tuple[Exercise, str] | None = None
        self._next: tuple[Exercise, str] | None = None
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._grace = QTimer(self, singleShot=True, interval=GRACE)
        self._grace.timeout.connect(self._cancel)
        self._ended.connect(self._take)

    def ask(self, exercise: Exercise, text: str) -> None:
        """Judge a text soon; a running one may finish within the grace period."""
        if self._judge is None:
            self._judge = self.make()
        if self._current is None:
            self._start((exercise, text))
        elif self._current != (exercise, text):
            self._next = exercise, text
            self._grace.start()
        else:
            self._next = None

    def is_busy(self) -> bool:
        """Return True if a text is being judged."""
        return self._current is not None

    def drop(self) -> None:
        """Cancel all requests."""
        self._next = None
        self._cancel()

    def owns(self, path: str) -> bool:
        """Return True if a trace is one of these temporary ones."""
        return self._folder is not None and Path(path).is_relative_to(self._folder)

    def close(self) -> None:
        """End the processes, wait briefly for the thread, and remove the traces."""
        self._next = None
        self._grace.stop()
        if self._judge is not None:
            self._judge.close()
        self._pool.waitForDone(CLOSING_TIMEOUT)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, asked: tuple[Exercise, str]) -> None:
        self._current, self._number = asked, self._number + 1
        number = self._number
        self._pool.start(FunctionRunnable(lambda: self._run(number, *asked)))
        self.begun.emit()

    def _run(self, number: int, exercise: Exercise, text: str) -> None:
        """Judge a text in the thread, and emit the outcome in every case."""
        outcome: Judged | str = UNKNOWN
        try:
            assert self._judge
            verdict = self._judge.judge(exercise, text)
            outcome = Judged(exercise, text, verdict, self._save_trace(number, verdict))
        except RunCancelledError:
            outcome = ""
        except (ExerciseError, TraceFileError) as error:
            outcome = str(error)
        finally:
            self._ended.emit(outcome)

    def _save_trace(self, number: int, verdict: Verdict) -> str:
        """Save a verdict's trace and return its path; raises TraceFileError."""
        if verdict.trace is None:
            return ""
        if self._folder is None:
            self._folder = new_process_folder()
        shutil.rmtree(self._folder / str(number - KEPT_TRACES), ignore_errors=True)
        path = self._folder / str(number) / f"{verdict.exercise}.npz"
        path.parent.mkdir()
        save(verdict.trace, path, compress=False)
        return str(path)

    def _take(self, outcome: Judged | str) -> None:
        now, self._current = self._current, None
        self._grace.stop()
        following, self._next = self._next, None
        if following is not None:
            self._start(following)
        else:
            self.rested.emit()
        if outcome == "" and following is None and self._judge is not None:
            self._judge.start()  # warm again before it is needed
        if isinstance(outcome, Judged):
            self.judged.emit(outcome)
        elif outcome and now is not None:
            self.failed.emit(now[0], outcome)

    def _cancel(self) -> None:
        """Cancel the running judge."""
        if self._current is not None and self._judge is not None:
            self._judge.cancel()
