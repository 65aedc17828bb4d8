"""Compiled counters of the launches on stage, counted in a separate process once their pictures are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QEventLoop, QObject, QThreadPool, QTimer, Signal

from ...tracer.as_compiled.client import is_final
from ...tracer.as_compiled.job import CompiledCounters
from ..compiled.compiled_counters import compiled_counters_of, shared_counting
from ..compiled.fates import fates_of
from ..model.session import Session
from .runnable import CLOSING_TIMEOUT, FunctionRunnable

DELAY = 50  # milliseconds after a session was loaded, so that it is drawn first
# Milliseconds before an unwanted count is ended: to end it costs more than to let a short one finish.
GRACE = 500


class CompiledJob(QObject):
    """Adds the counters of compiled kernels to sessions.

    found: a session has its compiled counters. ended: no count is running.
    is_free: returns True if the pictures are drawn and no pane waits.
    """

    counted = Signal(object)
    ended = Signal()
    _count_ended = Signal(object, object)

    def __init__(self, is_free: Callable[[], bool] = lambda: True, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_free = is_free
        self._wanted: list[Session] = []
        self._running: Session | None = None
        self._ended: Session | None = None  # its count was cancelled; it may be wanted again by now
        self._soon = QTimer(self, singleShot=True, interval=DELAY)
        self._soon.timeout.connect(self._start)
        self._grace = QTimer(self, singleShot=True, interval=GRACE)
        self._grace.timeout.connect(self._cancel)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._pool.setExpiryTimeout(
            -1
        )  # a process ends with the thread that started it, and this process is slow to start
        self._count_ended.connect(self._take)

    def want(self, sessions: Iterable[Session]) -> None:
        """Count only these sessions from now on; skip those with known counters."""
        self._wanted = [session for session in sessions if session.compiled is None]
        if self._running is not None and not any(wanted is self._running for wanted in self._wanted):
            self._grace.start()
        if self._wanted:
            self._soon.start()
        elif self._running is None:
            self._soon.stop()

    def want_too(self, session: Session) -> None:
        """Count one more session."""
        if session.compiled is None and not any(wanted is session for wanted in self._wanted):
            self._wanted.append(session)
            self._soon.start()

    def is_idle(self) -> bool:
        """Return True if no count is running or wanted."""
        return self._running is None and not self._wanted

    def wait(self) -> None:
        """Wait for the wanted counters, for a picture that shows them."""
        loop = QEventLoop()
        self.ended.connect(loop.quit)
        while not self.is_idle():
            loop.exec()

    def close(self) -> None:
        """Stop counting."""
        self._soon.stop()
        self._grace.stop()
        self._wanted = []
        self._pool.clear()
        self._cancel()
        if self._pool.waitForDone(CLOSING_TIMEOUT):
            shared_counting().rest()

    def _start(self) -> None:
        if not self._wanted or self._running is not None:
            return
        if not self._is_free():
            self._soon.start()
            return
        self._running = self._wanted[0]
        self._pool.start(FunctionRunnable(partial(self._count, self._running)))

    def _cancel(self) -> None:
        """Cancel the running count if its session is no longer wanted."""
        if self._running is not None and not any(wanted is self._running for wanted in self._wanted):
            self._ended = self._running
            shared_counting().cancel()

    def _count(self, session: Session) -> None:
        """Wait for the counters, in the thread."""
        answer = CompiledCounters(reason="The counting failed; the terminal shows the error.")
        try:
            answer = compiled_counters_of(session)
            fates_of(session)  # slow for a long launch, so computed here
        finally:
            self._count_ended.emit(session, answer)

    def _take(self, session: Session, answer: CompiledCounters) -> None:
        self._running = None
        self._grace.stop()
        if any(wanted is session for wanted in self._wanted) and (
            is_final(answer) or session is not self._ended
        ):
            self._wanted = [wanted for wanted in self._wanted if wanted is not session]
            session.add_compiled(answer)
            self.counted.emit(session)
        self._ended = None
        if self._wanted:
            self._start()
        else:
            self.ended.emit()
