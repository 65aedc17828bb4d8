"""The GPUs of this computer, asked for in a thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QThreadPool, Signal

from ...tracer.measure.devices import DeviceList, DeviceListing
from ...tracer.measure.measurement import MeasurementError
from ...tracer.run.worker_client import Cancelled
from .runnable import CLOSING_TIMEOUT, FunctionRunnable


class DevicesJob(QObject):
    """One question at a time. listed: the answer, a DeviceList; one without devices says why there are none."""

    listed = Signal(object)

    def __init__(
        self, parent: QObject | None = None, make: Callable[[], DeviceListing] = DeviceListing
    ) -> None:
        super().__init__(parent)
        self._make = make
        self._listing: DeviceListing | None = None
        self._pool = QThreadPool(self)
        self.listed.connect(self._end)

    @property
    def is_running(self) -> bool:
        """Whether an answer is awaited."""
        return self._listing is not None

    def start(self) -> None:
        """Ask; nothing happens while an answer is awaited."""
        if self._listing is None:
            self._listing = listing = self._make()
            self._pool.start(FunctionRunnable(lambda: self._run(listing)))

    def close(self) -> bool:
        """Ask no more, and wait a little; return whether the thread has ended."""
        if self._listing is not None:
            self._listing.cancel()
        return self._pool.waitForDone(CLOSING_TIMEOUT)

    def _run(self, listing: DeviceListing) -> None:
        try:
            found = listing.run()
        except MeasurementError as error:
            found = DeviceList((), reason=str(error))
        except Cancelled:
            found = DeviceList((), reason="The question was given up.")
        self.listed.emit(found)

    def _end(self, _: DeviceList) -> None:
        self._listing = None
