"""The timelines that were recorded on a GPU: read in a thread when a chart of them is first wanted."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThreadPool, Signal

from .runnable import CLOSING_TIMEOUT, FunctionRunnable

if TYPE_CHECKING:
    from ...tracer.hardware.timeline import Timeline


class RecordedTimelines(QObject):
    """Those that came with Tilescope and those made here. found: they are there."""

    found = Signal()
    _read = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.timelines: list[Timeline] | None = None  # None until they are read
        self.waits = True  # for a thread to read them; a picture that nobody watches does not
        self._reading = False
        self._pool = QThreadPool(self)
        self._read.connect(self._take)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being read."""
        return not self._reading

    def want(self) -> None:
        """Read the timelines, unless they are there."""
        if self.timelines is not None or self._reading:
            return
        if not self.waits:
            self._take(_all())
            return
        self._reading = True
        self._pool.start(FunctionRunnable(lambda: self._read.emit(_all())))

    def close(self) -> None:
        """Wait for what is being read."""
        self._pool.waitForDone(CLOSING_TIMEOUT)

    def _take(self, found: list[Timeline]) -> None:
        self._reading, self.timelines = False, found
        self.found.emit()


def _all() -> list[Timeline]:
    """Return all timelines that can be read."""
    from ...tracer.hardware.recorded_timelines import recorded_timelines  # the window starts without it
    from ...tracer.hardware.timeline_file import TimelineFileError, load

    found = []
    for path in recorded_timelines():
        with suppress(TimelineFileError):
            found.append(load(path))
    return found
