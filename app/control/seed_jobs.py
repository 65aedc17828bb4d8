"""Totals of racing counters under other seeds, traced one after the other when no pane waits for the worker."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QObject, QThreadPool, Signal

from ...tracer.analysis.histogram_launch import counted_total
from ...tracer.measure.recorded_outcomes import Spread, recorded_outcomes_of, seeded, seeds_for
from ...tracer.model.launch import Launch
from ...tracer.run.worker_client import RunCancelledError, WorkerError
from ..model.session import Session
from .runnable import CLOSING_TIMEOUT, FunctionRunnable
from .session_jobs import SessionJobs


class SeedJobs(QObject):
    """Computes the requested spreads.

    progressed: (key of the launch, see `key_of`, Spread) after each seed. ended: nothing follows for this key.
    """

    progressed = Signal(str, object)
    ended = Signal(str)

    def __init__(self, jobs: SessionJobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.jobs = jobs
        self._spreads: dict[str, Spread] = {}
        self._in_progress: set[str] = set()
        self._wanted: frozenset[str] = frozenset()  # replaced atomically: the thread reads it
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.progressed.connect(self._store)
        self.ended.connect(self._in_progress.discard)

    def want(self, sessions: Iterable[Session]) -> None:
        """Compute only the spreads of these sessions from now on; emit those already known at once."""
        keys = {schedule_free_key(session.launch): session for session in sessions}
        self._wanted = frozenset(keys)
        for key, session in keys.items():
            if key in self._spreads:
                self.progressed.emit(key, self._spreads[key])
            if key not in self._in_progress and not self.is_done(key):
                self._in_progress.add(key)
                self._pool.start(FunctionRunnable(partial(self._make, key, session)))

    def is_done(self, key: str) -> bool:
        """Return True if a spread is complete or has failed."""
        spread = self._spreads.get(key)
        return spread is not None and (len(spread.totals) >= spread.wanted or bool(spread.problem))

    def is_idle(self) -> bool:
        """Return True if no requested spread is in progress."""
        return not self._wanted & self._in_progress

    def close(self) -> None:
        """Stop; the worker must be closed before."""
        self._wanted = frozenset()
        self._pool.waitForDone(CLOSING_TIMEOUT)

    def _store(self, key: str, spread: Spread) -> None:
        self._spreads[key] = spread

    def _make(self, key: str, session: Session) -> None:
        """Trace seed after seed in the thread, and emit the spread so far."""
        counting = session.histogram_launch
        assert counting is not None
        spread = Spread((), seeds_for(session.trace), recorded_outcomes_of(session.launch))
        try:
            self.progressed.emit(key, spread)
            for seed in range(spread.wanted):
                if key not in self._wanted:
                    return
                total = counted_total(
                    self.jobs.trace_in_background(seeded(session.launch, seed)), counting.result.buffer
                )
                spread = Spread((*spread.totals, total), spread.wanted, spread.measured)
                self.progressed.emit(key, spread)
        except (RunCancelledError, WorkerError) as error:
            problem = str(error) or "The random schedules were not all traced."
            self.progressed.emit(key, Spread(spread.totals, spread.wanted, spread.measured, problem))
        finally:
            self.ended.emit(key)


def schedule_free_key(launch: Launch) -> str:
    """Return the key of a launch, ignoring its schedule."""
    return seeded(launch, 0).key()
