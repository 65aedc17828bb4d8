"""The timelines recorded on GPUs, read in a thread when a chart first needs them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThreadPool, Signal

from .runnable import CLOSING_TIMEOUT, FunctionRunnable

if TYPE_CHECKING:
    from ...tracer.hardware.timeline import Timeline


class RecordedTimelines(QObject):
    """The timelines included with Tilescope and those of this computer. found: they were read."""

    loaded = Signal()
    _read = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.timelines: list[Timeline] | None = None  # None until they are read
        self.waits = True  # reads in a thread; offscreen windows read synchronously
        self._reading = False
        self._pool = QThreadPool(self)
        self._read.connect(self._take)

    @property
    def is_idle(self) -> bool:
        """True if no timelines are being read."""
        return not self._reading

    def want(self) -> None:
        """Read the timelines, unless they were read."""
        if self.timelines is not None or self._reading:
            return
        if not self.waits:
            self._take(_read_timelines())
            return
        self._reading = True
        self._pool.start(FunctionRunnable(lambda: self._read.emit(_read_timelines())))

    def close(self) -> None:
        """Wait for the reading thread."""
        self._pool.waitForDone(CLOSING_TIMEOUT)

    def _take(self, timelines: list[Timeline]) -> None:
        self._reading, self.timelines = False, timelines
        self.loaded.emit()


def _read_timelines() -> list[Timeline]:
    """Read all valid timelines."""
    from ...tracer.hardware.recorded_timelines import recorded_timelines  # the window starts without it
    from ...tracer.hardware.timeline_file import TimelineFileError, load

    timelines = []
    for path in recorded_timelines():
        with suppress(TimelineFileError):
            timelines.append(load(path))
    return timelines
