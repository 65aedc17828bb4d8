"""The number of errors in each launch of a program, counted in a thread one after the other."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ...tracer.storage.trace_file import TraceFileError
from ..control.task import Task, TaskQueue

MOST_ACCESSES = 3_000_000  # in a trace that is examined: a second


class LaunchErrors(QObject):
    """Counts the errors of the launches in trace files.

    errors: the number for each launch, None while it is not known, and for a launch that is too large to look at ahead.
    counted: the index of a launch that was examined. finished: all were.
    """

    counted = Signal(int)
    finished = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.errors: list[int | None] = []
        self._left = 0  # launches to examine
        self._run = 0
        self._tasks = TaskQueue(self)
        self.close = self._tasks.close

    def count(self, traces: list[Path]) -> None:
        """Count the errors of these launches; results of earlier calls are discarded."""
        self._run += 1
        self._tasks.keep(())
        self.errors, self._left = [None] * len(traces), len(traces)
        for i, path in enumerate(traces):
            take = partial(self._take, self._run, i)
            fail = partial(self._fail, self._run, i)
            expected = (TraceFileError, OSError, MemoryError)
            self._tasks.start(
                Task(partial(errors_in, path), take, fail, key=(self._run, i), expected=expected)
            )

    def _fail(self, run: int, i: int, _: BaseException) -> None:
        self._take(run, i, None)

    def _take(self, run: int, i: int, errors: int | None) -> None:
        if run != self._run:
            return
        self.errors[i] = errors
        self._left -= 1
        self.counted.emit(i)
        if not self._left:
            self.finished.emit()


def errors_in(path: Path) -> int | None:
    """Count the errors in a trace file, None if it is too large; raises TraceFileError."""
    from ...tracer.analysis.requests import requests_of  # the window starts without them
    from ...tracer.findings.all_findings import findings_of
    from ...tracer.storage.trace_file import load

    trace = load(path)
    if len(trace) > MOST_ACCESSES:
        return None
    return sum(finding.severity == "error" for finding in findings_of(trace, requests_of(trace)))
