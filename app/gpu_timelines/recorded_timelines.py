"""The timelines recorded on GPUs, read in a thread when a chart first needs them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ..control.task import Task, TaskQueue
from ..model.nothing import nothing

if TYPE_CHECKING:
    from ...tracer.hardware.timeline import Timeline


class RecordedTimelines(QObject):
    """The timelines included with Tilescope and those of this computer. loaded: called when they were read."""

    def __init__(self, parent: QObject | None = None, loaded: Callable[[], object] = nothing) -> None:
        super().__init__(parent)
        self._loaded = loaded
        self.timelines: list[Timeline] | None = None  # None until they are read
        self.waits = True  # reads in a thread; offscreen windows read synchronously
        self._tasks = TaskQueue(self)
        self.is_idle, self.close = self._tasks.is_idle, self._tasks.close

    def want(self) -> None:
        """Read the timelines, unless they were read."""
        if self.timelines is not None:
            return
        if self.waits:
            self._tasks.start(Task(_read_timelines, self._take, key="timelines"))
        else:
            self._take(_read_timelines())

    def _take(self, timelines: list[Timeline]) -> None:
        self.timelines = timelines
        self._loaded()


def _read_timelines() -> list[Timeline]:
    """Read all valid timelines."""
    from ...tracer.hardware.recorded_timelines import recorded_timelines  # the window starts without it
    from ...tracer.hardware.timeline_file import TimelineFileError, load

    timelines = []
    for path in recorded_timelines():
        with suppress(TimelineFileError):
            timelines.append(load(path))
    return timelines
