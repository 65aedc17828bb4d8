"""The judge while one types: the newest text alone is judged, in a thread, and its first case kept as a trace file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal

from ....tracer.run.worker_client import Cancelled
from ....tracer.storage.temp_folders import new_process_folder
from ....tracer.storage.trace_file import TraceFileError, save
from ...control.runnable import CLOSING_TIMEOUT, FunctionRunnable
from ...exercise.document import Exercise
from ...exercise.mistakes import ExerciseError

if TYPE_CHECKING:  # the window starts without what judges
    from ...exercise.judge import Judge
    from ...exercise.verdict import Verdict

# Milliseconds that a judging may go on once there is a newer text: to end it costs a new process, that is a second.
GRACE = 1500
KEPT = 4  # traces that lie in the folder at once: the last may just be read
UNKNOWN = "The text could not be judged; the terminal says why. Change it, or leave the exercise."


class Judged(Struct, frozen=True, eq=False):
    """A text that was judged."""

    exercise: Exercise
    text: str
    verdict: Verdict
    trace: str  # path of the trace of the first case, "" where there is none


class JudgeJob(QObject):
    """Judges one text at a time, and the newest next.

    judged: a Judged. failed: (Exercise, one sentence). begun, rested: a text is being judged, or none any more.
    make: makes the judge when it is first needed.
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
        self._now: tuple[Exercise, str] | None = None
        self._next: tuple[Exercise, str] | None = None
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._grace = QTimer(self, singleShot=True, interval=GRACE)
        self._grace.timeout.connect(self._give_up)
        self._ended.connect(self._take)

    def ask(self, exercise: Exercise, text: str) -> None:
        """Judge a text as soon as may be; what is under way is left a while to end."""
        if self._judge is None:
            self._judge = self.make()
        if self._now is None:
            self._start((exercise, text))
        elif self._now != (exercise, text):
            self._next = exercise, text
            self._grace.start()
        else:
            self._next = None

    def is_busy(self) -> bool:
        """Return whether a text is being judged."""
        return self._now is not None

    def drop(self) -> None:
        """Judge nothing any more that was asked for."""
        self._next = None
        self._give_up()

    def owns(self, path: str) -> bool:
        """Return whether a trace is one of those made here, which go with the window."""
        return self._folder is not None and Path(path).is_relative_to(self._folder)

    def close(self) -> None:
        """End the processes, wait a little for the thread, and remove the traces."""
        self._next = None
        self._grace.stop()
        if self._judge is not None:
            self._judge.close()
        self._pool.waitForDone(CLOSING_TIMEOUT)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, asked: tuple[Exercise, str]) -> None:
        self._now, self._number = asked, self._number + 1
        number = self._number
        self._pool.start(FunctionRunnable(lambda: self._run(number, *asked)))
        self.begun.emit()

    def _run(self, number: int, exercise: Exercise, text: str) -> None:
        """In the thread: judge a text; its end is told whatever it is."""
        end: Judged | str = UNKNOWN
        try:
            assert self._judge
            verdict = self._judge.judge(exercise, text)
            end = Judged(exercise, text, verdict, self._kept(number, verdict))
        except Cancelled:
            end = ""
        except (ExerciseError, TraceFileError) as error:
            end = str(error)
        finally:
            self._ended.emit(end)

    def _kept(self, number: int, verdict: Verdict) -> str:
        """Return the path of the file of a verdict's trace; raises TraceFileError."""
        if verdict.trace is None:
            return ""
        if self._folder is None:
            self._folder = new_process_folder()
        shutil.rmtree(self._folder / str(number - KEPT), ignore_errors=True)
        path = self._folder / str(number) / f"{verdict.exercise}.npz"
        path.parent.mkdir()
        save(verdict.trace, path, compress=False)
        return str(path)

    def _take(self, end: Judged | str) -> None:
        now, self._now = self._now, None
        self._grace.stop()
        following, self._next = self._next, None
        if following is not None:
            self._start(following)
        else:
            self.rested.emit()
        if end == "" and following is None and self._judge is not None:
            self._judge.start()  # warm again before it is needed
        if isinstance(end, Judged):
            self.judged.emit(end)
        elif end and now is not None:
            self.failed.emit(now[0], end)

    def _give_up(self) -> None:
        """End the judging under way."""
        if self._now is not None and self._judge is not None:
            self._judge.cancel()
