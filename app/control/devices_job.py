"""The GPUs of this computer, listed in a thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QThreadPool, Signal

from ...tracer.measure.devices import DeviceList, DeviceListing
from ...tracer.measure.measurement import MeasurementError
from ...tracer.run.worker_client import RunCancelledError
from .runnable import CLOSING_TIMEOUT, FunctionRunnable


class DevicesJob(QObject):
    """Lists the devices, one query at a time. listed: a DeviceList; an empty one contains the reason."""

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
        """True while a query is running."""
        return self._listing is not None

    def start(self) -> None:
        """Start a query, unless one is running."""
        if self._listing is None:
            self._listing = listing = self._make()
            self._pool.start(FunctionRunnable(lambda: self._run(listing)))

    def close(self) -> bool:
        """Cancel the query and wait briefly; return True if the thread has ended."""
        if self._listing is not None:
            self._listing.cancel()
        return self._pool.waitForDone(CLOSING_TIMEOUT)

    def _run(self, listing: DeviceListing) -> None:
        try:
            devices = listing.run()
        except MeasurementError as error:
            devices = DeviceList((), reason=str(error))
        except RunCancelledError:
            devices = DeviceList((), reason="The search for devices was cancelled.")
        self.listed.emit(devices)

    def _end(self, _: DeviceList) -> None:
        self._listing = None
