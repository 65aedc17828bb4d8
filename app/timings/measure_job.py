"""A measurement in a thread of the window: started, followed, cancelled, saved in the user's data folder."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ...tracer.hardware.times.cases import Case
from ...tracer.hardware.times.client import MeasureClient, Start
from ...tracer.hardware.times.measurement import MeasurementError, save
from ...tracer.processes.process_client import RunCancelledError
from ..control.task import Task, TaskQueue
from .model.sources import own_folder


class MeasureJob(QObject):
    """Runs measurements, one at a time.

    progress: (current activity, rows done, rows in all). grown: a Measurement of the
    rows done. saved: the path of the new measurement. failed: one sentence; "" after `cancel`.
    """

    progress = Signal(str, int, int)
    grown = Signal(object)
    saved = Signal(str)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None, start: Start | None = None) -> None:
        super().__init__(parent)
        self.client: MeasureClient | None = None
        self._start = start
        self._tasks = TaskQueue(self, interrupt=self.cancel)
        self.close = self._tasks.close

    @property
    def is_running(self) -> bool:
        """True while a measurement is running."""
        return not self._tasks.is_idle()

    def start(self, cases: Sequence[Case], time_limit: float = 1.0) -> None:
        """Measure these cases in a thread, each timing for at most `time_limit` seconds; signals report progress."""
        self.client = client = MeasureClient(cases, time_limit=time_limit)
        expected = RunCancelledError, MeasurementError, OSError
        self._tasks.start(Task(lambda: self._measure(client), self.saved.emit, self._fail, expected=expected))

    def cancel(self) -> None:
        """Cancel the running measurement, if any, without saving."""
        if self.client is not None:
            self.client.cancel()

    def _measure(self, client: MeasureClient) -> str:
        """Measure and save, in the thread; return the path."""
        measurement = client.run(self.progress.emit, self._start, self.grown.emit)
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
        self.failed.emit(message)


def _new_path() -> Path:
    """Create the folder of measurements if needed and return the path of a new file in it."""
    folder = own_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{datetime.now():%Y-%m-%d-%H%M%S}.json"
