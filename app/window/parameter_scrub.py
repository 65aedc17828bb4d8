"""Continuous changes of a parameter: one picture after the other, each of the newest value."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QObject

from ..control.delay import Delay
from ..control.stage import Stage
from ..control.start_moment import StartMoment, as_before
from ..model.bookmark import Bookmark, History, Setup
from ..model.session import Selection
from ..model.setup_launch import launch_of_setup

GRACE = 3000  # milliseconds that a trace may take after the drag: to cancel it costs a new worker, one or two seconds

Setups = tuple[Setup, ...]
Run = Callable[[Setups, tuple[Selection, ...], StartMoment], bool]


class ScrubRequests(NamedTuple):
    """What a drag calls."""

    run: Run  # shows setups, or returns False if they are refused
    bookmark: Callable[[], Bookmark]
    begin: Callable[[], object]  # before the first setups
    end: Callable[[], object]  # after the last ones


class ParameterScrub(QObject):
    """Queues requests between the toolbar and the stage while the user drags a parameter.

    The current trace is finished and shown, then the newest request follows; at most one waits. A complete drag is one
    entry for Back.
    """

    def __init__(self, stage: Stage, history: History, ask: ScrubRequests, parent: QObject) -> None:
        super().__init__(parent)
        self.stage, self.history, self._requests = stage, history, ask
        self._before: Bookmark | None = None  # shown before the drag, None without a drag
        self._moving = False  # whether more requests may follow
        self._requested: Setups | None = None  # the next request
        self._start: StartMoment = as_before(stage)
        self._shown_at = 0.0  # the moment when the last picture was first shown
        self._next = Delay(self, 0, self._ask_next)  # fires after Qt has painted the new picture
        self._grace = Delay(self, GRACE, self._ask_last)
        stage.settled.connect(self._note_settled)

    def request(self, setups: Setups) -> None:
        """Request other setups, replacing the previous request."""
        if self._before is None:
            self._before = self._requests.bookmark()
            self._start, self._shown_at = as_before(self.stage), self.stage.playhead.moment
            self._requests.begin()
        self._moving, self._requested = True, setups
        self._grace.stop()
        if not self._next.isActive():
            self._ask_next()

    def end_drag(self) -> None:
        """End the drag: the last request is shown, even if another trace is being made."""
        if self._before is not None:
            self._moving = False
            self._grace.start()
            self._next.start()

    def stop(self) -> None:
        """End the drag with the current setups, without the waiting request."""
        self._requested = None
        self._finish()

    def go_back(self) -> bool:
        """Return to the setups before the drag; return False without a drag."""
        if self._before is None:
            return False
        self._requested, self._moving = self._before.panes, False
        self._ask_last()
        return True

    def is_idle(self) -> bool:
        """Return True if no drag is in progress."""
        return self._before is None

    def _note_settled(self) -> None:
        """Continue: at once if the next session must be traced, else after Qt has painted this one."""
        if self._before is None:
            return
        self._shown_at = self.stage.playhead.moment
        self._next.start()
        if self._requested is not None and not self._is_in_memory(self._requested):
            self._ask_next()

    def _is_in_memory(self, setups: Setups) -> bool:
        """Return True if a pane's next session is in memory already."""
        launches = [None if setup.file else launch_of_setup(setup) for setup in setups]
        in_memory = [launch and self.stage.jobs.session_in_memory(launch) for launch in launches]
        return any(
            session and session is not current
            for session, current in zip(in_memory, self.stage.sessions, strict=False)
        )

    def _ask_next(self) -> None:
        """Run the newest request if the stage is settled; finish if there is none and none will follow."""
        if self._requested is not None and self.stage.is_settled():
            self._ask()
        if self._requested is None and not self._moving:
            self._finish()

    def _ask_last(self) -> None:
        """Run the last request, whatever is being traced, and finish."""
        if self._requested is not None:
            self._ask()
        self._finish()

    def _ask(self) -> None:
        setups, self._requested = self._requested, None
        if setups is None or setups == self.stage.setups or self._before is None:
            return
        if self.stage.playhead.moment != self._shown_at:  # the user has moved the playhead meanwhile
            self._start = as_before(self.stage)
        self._requests.run(setups, self._before.selections, self._start)

    def _finish(self) -> None:
        self._moving = False
        self._next.stop()
        self._grace.stop()
        before, self._before = self._before, None
        if before is not None:
            if before.panes and before.panes != self.stage.setups:
                self.history.leave(before)
            self._requests.end()
