"""A measurement in a thread of the window: started, followed, cancelled, saved in the user's data folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject

from ...tracer.hardware.times.cases import Case
from ...tracer.hardware.times.client import MeasureClient, Start
from ...tracer.hardware.times.measurement import Measurement, MeasurementError, save
from ...tracer.processes.process_client import RunCancelledError
from ..control.task import Task, TaskQueue
from .model.sources import own_folder


class MeasureReports(NamedTuple):
    """What a measurement calls as it goes on."""

    progress: Callable[[str, int, int], object]  # the current activity, rows done, rows in all
    grown: Callable[[Measurement], object]  # of the rows done
    saved: Callable[[str], object]  # the path of the new measurement
    failed: Callable[[str], object]  # one sentence; "" after `cancel`


class MeasureJob(QObject):
    """Runs measurements, one at a time. report: called as one goes on, in the window's thread."""

    def __init__(self, parent: QObject, report: MeasureReports, start: Start | None = None) -> None:
        super().__init__(parent)
        self.report = report
        self.client: MeasureClient | None = None
        self._start = start
        self._tasks = TaskQueue(self, interrupt=self.cancel)
        self.close = self._tasks.close

    @property
    def is_running(self) -> bool:
        """True while a measurement is running."""
        return not self._tasks.is_idle()

    def start(self, cases: Sequence[Case], time_limit: float = 1.0) -> None:
        """Measure these cases in a thread, each timing for at most `time_limit` seconds."""
        self.client = client = MeasureClient(cases, time_limit=time_limit)
        expected = RunCancelledError, MeasurementError, OSError
        self._tasks.start(
            Task(lambda: self._measure(client), self.report.saved, self._fail, expected=expected)
        )

    def cancel(self) -> None:
        """Cancel the running measurement, if any, without saving."""
        if self.client is not None:
            self.client.cancel()

    def _measure(self, client: MeasureClient) -> str:
        """Measure and save, in the thread; return the path."""
        measurement = client.run(
            partial(self._tasks.post, self.report.progress),
            self._start,
            partial(self._tasks.post, self.report.grown),
        )
        path = _new_path()
        save(measurement, path)
        return str(path)

    def _fail(self, error: BaseException) -> None:
        message = "The measurement failed; the terminal shows the error."
        if isinstance(error, RunCancelledError):
            message = ""
        elif isinstance(error, MeasurementError):
            message = str(error)
        elif isinstance(error, OSError):
            message = f"The measurement could not be saved in {own_folder()}: {error.strerror or error}."
        self.report.failed(message)


def _new_path() -> Path:
    """Create the folder of measurements if needed and return the path of a new file in it."""
    folder = own_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{datetime.now():%Y-%m-%d-%H%M%S}.json"
