"""What racing counters end at under other seeds: traced one after the other, between what the panes wait for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QObject, QThreadPool, Signal

from ...tracer.analysis.histogram_launch import counted_total
from ...tracer.measure.recorded_outcomes import Spread, recorded_outcomes_of, seeded, seeds_for
from ...tracer.model.launch import Launch
from ...tracer.run.worker_client import Cancelled, WorkerError
from ..model.session import Session
from .runnable import CLOSING_TIMEOUT, FunctionRunnable
from .session_jobs import SessionJobs


class SeedJobs(QObject):
    """Makes the spreads that are wanted.

    progressed: (key of the launch, see `key_of`, Spread) with each seed done. ended: no more comes for this key.
    """

    progressed = Signal(str, object)
    ended = Signal(str)

    def __init__(self, jobs: SessionJobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.jobs = jobs
        self._known: dict[str, Spread] = {}
        self._under_way: set[str] = set()
        self._wanted: frozenset[str] = frozenset()  # replaced as a whole: the thread reads it
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.progressed.connect(self._keep)
        self.ended.connect(self._under_way.discard)

    def want(self, sessions: Iterable[Session]) -> None:
        """Make the spreads of these sessions, and of no others any more; what is known of them is sent at once."""
        keys = {key_of(session.launch): session for session in sessions}
        self._wanted = frozenset(keys)
        for key, session in keys.items():
            if key in self._known:
                self.progressed.emit(key, self._known[key])
            if key not in self._under_way and not self.is_done(key):
                self._under_way.add(key)
                self._pool.start(FunctionRunnable(partial(self._make, key, session)))

    def is_done(self, key: str) -> bool:
        """Return whether nothing more will come of a spread."""
        spread = self._known.get(key)
        return spread is not None and (len(spread.totals) >= spread.wanted or bool(spread.problem))

    def is_idle(self) -> bool:
        """Return whether nothing that is wanted is being made."""
        return not self._wanted & self._under_way

    def close(self) -> None:
        """Make no more; the worker is closed before."""
        self._wanted = frozenset()
        self._pool.waitForDone(CLOSING_TIMEOUT)

    def _keep(self, key: str, spread: Spread) -> None:
        self._known[key] = spread

    def _make(self, key: str, session: Session) -> None:
        """In the thread: trace seed after seed, and send what is known so far."""
        counting = session.counting
        assert counting is not None
        spread = Spread((), seeds_for(session.trace), recorded_outcomes_of(session.launch))
        try:
            self.progressed.emit(key, spread)
            for seed in range(spread.wanted):
                if key not in self._wanted:
                    return
                total = counted_total(
                    self.jobs.trace_unshown(seeded(session.launch, seed)), counting.result.buffer
                )
                spread = Spread((*spread.totals, total), spread.wanted, spread.measured)
                self.progressed.emit(key, spread)
        except (Cancelled, WorkerError) as error:
            why = str(error) or "The random schedules were not all traced."
            self.progressed.emit(key, Spread(spread.totals, spread.wanted, spread.measured, why))
        finally:
            self.ended.emit(key)


def key_of(launch: Launch) -> str:
    """Return the key of a launch under any schedule."""
    return seeded(launch, 0).key()
