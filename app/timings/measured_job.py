"""The measurements of the kernels on stage: read in a thread after the first picture, and looked up for the panes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ...kernels.scenarios.catalogue import CatalogueError, settle
from ..control.task import Task, TaskQueue
from ..model.bookmark import Setup
from ..model.nothing import nothing
from ..model.session import Session

if TYPE_CHECKING:  # the modules of charts are loaded with the measurements
    from .model.nearest_measured import LaunchQuery, MeasuredTime
    from .model.sources import Source

DELAY = 200  # milliseconds after a session was loaded, so that it is drawn first
DELAYS = 10  # delays at most while sessions are being made, which need the processor


class MeasuredTimes(QObject):
    """The measurements included with Tilescope and those of this computer.

    is_free: returns True if no session is being made. loaded: called when they were read, or read again.
    """

    def __init__(
        self,
        parent: QObject | None = None,
        is_free: Callable[[], bool] = lambda: True,
        loaded: Callable[[], object] = nothing,
    ) -> None:
        super().__init__(parent)
        self._is_free, self._loaded, self._delayed = is_free, loaded, 0
        self.sources: list[Source] | None = None  # None until they are read
        self._tasks = TaskQueue(self, delay=DELAY, is_free=self._may_start)
        self.is_idle, self.close = self._tasks.is_idle, self._tasks.close

    def want(self) -> None:
        """Read the measurements soon, unless they were read."""
        if self.sources is None and self.is_idle():
            self.renew()

    def renew(self) -> None:
        """Read the measurements again, after a new one."""
        self._tasks.start(Task(_read_measurements, self._take))

    def read_now(self) -> None:
        """Read the measurements synchronously, for a picture that does not wait."""
        self._tasks.keep(())
        self._take(_read_measurements())

    def _may_start(self) -> bool:
        if not self._is_free() and self._delayed < DELAYS:
            self._delayed += 1
            return False
        self._delayed = 0
        return True

    def _take(self, sources: list[Source]) -> None:
        self.sources = sources
        self._loaded()

    def of_panes(
        self, setups: Sequence[Setup], sessions: Sequence[Session | None]
    ) -> list[MeasuredTime | None]:
        """Look up the time of each pane's launch or of the nearest one, None where none is known (yet)."""
        from .model.nearest_measured import displayed_times

        asked = [_asked(setup, session) for setup, session in zip(setups, sessions, strict=False)]
        return displayed_times(asked, self.sources or [])


def _read_measurements() -> list[Source]:
    """Read all measurements, this computer's own first, and the heads of the recorded timelines."""
    from ...tracer.hardware.recorded_timelines import read_heads
    from .model.nearest_measured import own_first
    from .model.sources import sources

    read_heads()
    return own_first(sources()[0])


def _asked(setup: Setup, session: Session | None) -> LaunchQuery | None:
    """Describe the launch that a pane shows; None for a kernel that is not, or no longer, the catalogue's."""
    from .model.nearest_measured import query_of_launch

    if session is None or session.scenario is None or not session.is_unmodified:
        return None
    try:
        if setup.file:
            return query_of_launch(session.launch, {})
        return query_of_launch(session.launch, settle(session.scenario, setup.values))
    except CatalogueError:
        return None
