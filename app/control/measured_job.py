"""What was measured of the kernels on stage: read in a thread once there is a picture, and found for the panes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal

from ...kernels.scenarios.catalogue import CatalogueError, settle
from ..model.bookmark import Setup
from ..model.session import Session
from .runnable import CLOSING_TIMEOUT, FunctionRunnable

if TYPE_CHECKING:  # what charts need is loaded with the measurements
    from ..charts.nearest_measured import Asked, MeasuredTime
    from ..charts.sources import Source

DELAY = 200  # milliseconds after a session was loaded, which belong to drawing it
DELAYS = 10  # of these while others are being made, which need the processor: then it is read beside them


class MeasuredTimes(QObject):
    """The measurements, those that came with Tilescope and those made here. found: they are there, or others are."""

    found = Signal()
    _read = Signal(object)

    def __init__(self, parent: QObject | None = None, is_free: Callable[[], bool] = lambda: True) -> None:
        """is_free: whether no session is being made."""
        super().__init__(parent)
        self._is_free, self._delayed = is_free, 0
        self.sources: list[Source] | None = None  # None until they are read
        self._reading = False
        self._soon = QTimer(self, singleShot=True, interval=DELAY)
        self._soon.timeout.connect(self._start)
        self._pool = QThreadPool(self)
        self._read.connect(self._take)

    def want(self) -> None:
        """Read the measurements soon, unless they are there."""
        if self.sources is None and self.is_idle():
            self._soon.start()

    def renew(self) -> None:
        """Read them again: one was made here."""
        self._soon.start()

    def read_now(self) -> None:
        """Read them at once, for a picture that does not wait."""
        self._soon.stop()
        self._take(_all())

    def is_idle(self) -> bool:
        """Return whether nothing is being read."""
        return not (self._reading or self._soon.isActive())

    def close(self) -> None:
        """Read nothing more."""
        self._soon.stop()
        self._pool.waitForDone(CLOSING_TIMEOUT)

    def _start(self) -> None:
        if not self._is_free() and self._delayed < DELAYS:
            self._delayed += 1
            self._soon.start()
            return
        self._reading, self._delayed = True, 0
        self._pool.start(FunctionRunnable(lambda: self._read.emit(_all())))

    def _take(self, found: list[Source]) -> None:
        self._reading, self.sources = False, found
        self.found.emit()

    def of_panes(
        self, setups: Sequence[Setup], sessions: Sequence[Session | None]
    ) -> list[MeasuredTime | None]:
        """Return what was measured of each pane's launch or nearest to it, None where nothing was or is read yet."""
        from ..charts.nearest_measured import shown_times

        asked = [_asked(setup, session) for setup, session in zip(setups, sessions, strict=False)]
        return shown_times(asked, self.sources or [])


def _all() -> list[Source]:
    """Return all measurements, those made here first; what was recorded of launches is read with them."""
    from ...tracer.hardware.recorded_timelines import read_heads
    from ..charts.nearest_measured import own_first
    from ..charts.sources import sources

    read_heads()
    return own_first(sources()[0])


def _asked(setup: Setup, session: Session | None) -> Asked | None:
    """Return the launch that a pane shows, None for a kernel that is none of the catalogue's, or no longer."""
    from ..charts.nearest_measured import asked_of_launch

    if session is None or session.scenario is None or not session.runs_as_shipped:
        return None
    try:
        if setup.file:
            return asked_of_launch(session.launch, {})
        return asked_of_launch(session.launch, settle(session.scenario, setup.values))
    except CatalogueError:
        return None
