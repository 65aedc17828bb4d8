"""Counters as compiled of the launches on stage: counted in a process of ours once their pictures are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QEventLoop, QObject, QThreadPool, QTimer, Signal

from ...tracer.as_compiled.client import is_final
from ...tracer.as_compiled.job import CompiledCounters
from ..compiled.compiled_counters import compiled_counters_of, counting
from ..compiled.fates import fates_of
from ..model.session import Session
from .runnable import CLOSING_TIMEOUT, FunctionRunnable

DELAY = 50  # milliseconds after a session was loaded, which belong to drawing it
GRACE = 500  # milliseconds that a count may go on which nobody waits for any more: it costs more to end it


class CompiledJob(QObject):
    """Adds to sessions what LLVM leaves of their kernels.

    found: a session has its counters as compiled. ended: nothing is being counted any more.
    is_free: whether the pictures are drawn, and nothing is waited for.
    """

    found = Signal(object)
    ended = Signal()
    _counted = Signal(object, object)

    def __init__(self, is_free: Callable[[], bool] = lambda: True, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_free = is_free
        self._wanted: list[Session] = []
        self._running: Session | None = None
        self._ended: Session | None = None  # whose count was ended; it may be wanted again by now
        self._soon = QTimer(self, singleShot=True, interval=DELAY)
        self._soon.timeout.connect(self._start)
        self._grace = QTimer(self, singleShot=True, interval=GRACE)
        self._grace.timeout.connect(self._cancel)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._pool.setExpiryTimeout(
            -1
        )  # a process ends with the thread that started it, and this one takes a while
        self._counted.connect(self._take)

    def want(self, sessions: Iterable[Session]) -> None:
        """Count these sessions, and no others any more; those whose counters are known need nothing."""
        self._wanted = [session for session in sessions if session.compiled is None]
        if self._running is not None and not any(one is self._running for one in self._wanted):
            self._grace.start()
        if self._wanted:
            self._soon.start()
        elif self._running is None:
            self._soon.stop()

    def want_too(self, session: Session) -> None:
        """Count one more session."""
        if session.compiled is None and not any(one is session for one in self._wanted):
            self._wanted.append(session)
            self._soon.start()

    def is_idle(self) -> bool:
        """Return whether nothing is being counted, or will be soon."""
        return self._running is None and not self._wanted

    def wait(self) -> None:
        """Wait for what is wanted, for a picture that shows it."""
        loop = QEventLoop()
        self.ended.connect(loop.quit)
        while not self.is_idle():
            loop.exec()

    def close(self) -> None:
        """Count nothing more."""
        self._soon.stop()
        self._grace.stop()
        self._wanted = []
        self._pool.clear()
        self._cancel()
        if self._pool.waitForDone(CLOSING_TIMEOUT):
            counting().rest()

    def _start(self) -> None:
        if not self._wanted or self._running is not None:
            return
        if not self._is_free():
            self._soon.start()
            return
        self._running = self._wanted[0]
        self._pool.start(FunctionRunnable(partial(self._count, self._running)))

    def _cancel(self) -> None:
        """End a count that nobody waits for."""
        if self._running is not None and not any(one is self._running for one in self._wanted):
            self._ended = self._running
            counting().cancel()

    def _count(self, session: Session) -> None:
        """In the thread: wait for the counters."""
        answer = CompiledCounters(reason="It could not be counted; the terminal says why.")
        try:
            answer = compiled_counters_of(session)
            fates_of(session)  # which takes a while of a long launch
        finally:
            self._counted.emit(session, answer)

    def _take(self, session: Session, answer: CompiledCounters) -> None:
        self._running = None
        self._grace.stop()
        if any(one is session for one in self._wanted) and (is_final(answer) or session is not self._ended):
            self._wanted = [one for one in self._wanted if one is not session]
            session.add_compiled(answer)
            self.found.emit(session)
        self._ended = None
        if self._wanted:
            self._start()
        else:
            self.ended.emit()
