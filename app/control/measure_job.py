"""A measurement in a thread of the window: started, followed, cancelled, saved in the user's data folder."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, QThreadPool, Signal

from ...tracer.measure.cases import Case
from ...tracer.measure.client import MeasureClient, Start
from ...tracer.measure.measurement import MeasurementError, save
from ...tracer.run.worker_client import RunCancelledError
from ..charts.sources import own_folder
from .runnable import CLOSING_TIMEOUT, FunctionRunnable


class MeasureJob(QObject):
    """Runs measurements, one at a time.

    progress: (current activity, rows done, rows in all). saved: the path of the new measurement. failed: one
    sentence; "" after `cancel`.
    """

    progress = Signal(str, int, int)
    saved = Signal(str)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None, start: Start | None = None) -> None:
        super().__init__(parent)
        self._client: MeasureClient | None = None
        self._start = start
        self._pool = QThreadPool(self)
        self.saved.connect(self._end)
        self.failed.connect(self._end)

    @property
    def is_running(self) -> bool:
        """True while a measurement is running."""
        return self._client is not None

    def start(self, cases: Sequence[Case], time_limit: float = 1.0) -> None:
        """Measure these cases in a thread, each timing for at most `time_limit` seconds; signals report progress."""
        self._client = client = MeasureClient(cases, time_limit=time_limit)
        self._pool.start(FunctionRunnable(lambda: self._run(client)))

    def cancel(self) -> None:
        """Cancel the running measurement, if any, without saving."""
        if self._client is not None:
            self._client.cancel()

    def close(self) -> bool:
        """Cancel and wait briefly; return True if the thread has ended."""
        self.cancel()
        return self._pool.waitForDone(CLOSING_TIMEOUT)

    def _run(self, client: MeasureClient) -> None:
        """Measure and save, in the thread."""
        message = "The measurement failed; the terminal shows the error."
        try:
            measurement = client.run(self.progress.emit, self._start)
            path = _new_path()
            save(measurement, path)
            self.saved.emit(str(path))
            return
        except RunCancelledError:
            message = ""
        except MeasurementError as error:
            message = str(error)
        except OSError as error:
            message = f"The measurement could not be saved in {own_folder()}: {error.strerror or error}."
        self.failed.emit(message)

    def _end(self, _: str) -> None:
        self._client = None


def _new_path() -> Path:
    """Create the folder of measurements if needed and return the path of a new file in it."""
    folder = own_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{datetime.now():%Y-%m-%d-%H%M%S}.json"
