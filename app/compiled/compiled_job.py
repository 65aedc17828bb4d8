"""Compiled counters of the launches on stage, counted in a separate process once their pictures are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QObject, Signal

from ...tracer.as_compiled.job import CompiledCounters
from ..control.task import Task, TaskQueue
from ..model.session import Session
from .model.compiled_counters import compiled_counters_of, shared_counting
from .model.fates import fates_of

DELAY = 50  # milliseconds after a session was loaded, so that it is drawn first
# Milliseconds before an unwanted count is ended: to end it costs more than to let a short one finish.
GRACE = 500
FAILED = CompiledCounters(reason="The counting failed; the terminal shows the error.")


class CompiledJob(QObject):
    """Adds the counters of compiled kernels to sessions.

    counted: a session has its compiled counters.
    is_free: returns True if the pictures are drawn and no pane waits.
    """

    counted = Signal(object)

    def __init__(self, is_free: Callable[[], bool] = lambda: True, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = TaskQueue(
            self, delay=DELAY, is_free=is_free, interrupt=lambda: shared_counting().cancel(), grace=GRACE
        )
        self.is_idle, self.wait = self._tasks.is_idle, self._tasks.wait

    def want(self, sessions: Iterable[Session]) -> None:
        """Count only these sessions from now on; skip those with known counters."""
        wanted = list(sessions)
        self._tasks.keep(wanted)
        for session in wanted:
            self.want_too(session)

    def want_too(self, session: Session) -> None:
        """Count one more session."""
        if session.compiled is None:
            take = partial(self._take, session)
            self._tasks.start(Task(partial(_count, session), take, lambda _: take(FAILED), key=session))

    def close(self) -> None:
        """Stop counting."""
        if self._tasks.close():
            shared_counting().rest()

    def _take(self, session: Session, counters: CompiledCounters) -> None:
        session.add_compiled(counters)
        self.counted.emit(session)


def _count(session: Session) -> CompiledCounters:
    """Wait for the counters, in a thread."""
    counters = compiled_counters_of(session)
    fates_of(session)  # slow for a long launch, so computed here
    return counters
