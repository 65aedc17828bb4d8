"""The GPUs of this computer, listed in a thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from ...tracer.hardware.times.devices import DeviceList, DeviceListing
from ...tracer.hardware.times.measurement import MeasurementError
from ...tracer.processes.process_client import RunCancelledError
from ..control.task import Task, TaskQueue


class DevicesJob(QObject):
    """Lists the devices, one query at a time. listed: a DeviceList; an empty one contains the reason."""

    listed = Signal(object)

    def __init__(
        self, parent: QObject | None = None, make: Callable[[], DeviceListing] = DeviceListing
    ) -> None:
        super().__init__(parent)
        self._make = make
        self._listing = make()
        self._tasks = TaskQueue(self, interrupt=lambda: self._listing.cancel())
        self.close = self._tasks.close

    @property
    def is_running(self) -> bool:
        """True while a query is running."""
        return not self._tasks.is_idle()

    def start(self) -> None:
        """Start a query, unless one is running."""
        if not self.is_running:
            self._listing = self._make()
            expected = MeasurementError, RunCancelledError
            self._tasks.start(Task(self._listing.run, self.listed.emit, self._fail, expected=expected))

    def _fail(self, error: BaseException) -> None:
        reason = (
            "The search for devices was cancelled." if isinstance(error, RunCancelledError) else str(error)
        )
        self.listed.emit(DeviceList((), reason=reason))
