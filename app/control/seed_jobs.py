"""Totals of racing counters under other seeds, traced one after the other when no pane waits for the worker."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QObject

from ...tracer.analysis.histogram_launch import counted_total
from ...tracer.hardware.times.recorded_outcomes import Spread, recorded_outcomes_of, seeded, seeds_for
from ...tracer.orders.saved_launch import SavedLaunchError, runnable_launch
from ...tracer.processes.process_client import RunCancelledError
from ...tracer.run.worker_client import WorkerError
from ...tracer.storage.temp_folders import new_process_folder
from ..model.session import Session
from .session_jobs import SessionJobs
from .task import Task, TaskQueue


class SeedJobs(QObject):
    """Computes the requested spreads.

    progressed: gets the key of the launch, see `spread_key`, and its Spread after each seed.
    """

    def __init__(
        self, jobs: SessionJobs, parent: QObject, progressed: Callable[[str, Spread], object]
    ) -> None:
        super().__init__(parent)
        self.jobs, self._progressed = jobs, progressed
        self._spreads: dict[str, Spread] = {}
        self._wanted: frozenset[str] = frozenset()  # replaced atomically: the thread reads it
        self._tasks = TaskQueue(self)
        self.is_idle, self.wait = self._tasks.is_idle, self._tasks.wait

    def want(self, sessions: Iterable[Session]) -> None:
        """Compute only the spreads of these sessions from now on; report those already known at once."""
        keys = {spread_key(session): session for session in sessions}
        self._wanted = frozenset(keys)
        self._tasks.keep(keys)
        for key, session in keys.items():
            if key in self._spreads:
                self._progressed(key, self._spreads[key])
            if not self.is_done(key):
                work, fail = partial(self._make, key, session), partial(self._fail, key)
                expected = RunCancelledError, WorkerError, SavedLaunchError, OSError
                self._tasks.start(Task(work, failed=fail, key=key, expected=expected))

    def is_done(self, key: str) -> bool:
        """Return True if a spread is complete or has failed."""
        spread = self._spreads.get(key)
        return spread is not None and (len(spread.totals) >= spread.wanted or bool(spread.problem))

    def close(self) -> None:
        """Stop; the worker must be closed before."""
        self._wanted = frozenset()
        self._tasks.close()

    def _take(self, key: str, spread: Spread) -> None:
        self._spreads[key] = spread
        self._progressed(key, spread)

    def _make(self, key: str, session: Session) -> None:
        """Trace seed after seed in the thread, and post the spread so far."""
        counting = session.histogram_launch
        assert counting is not None
        spread = Spread((), seeds_for(session.trace), recorded_outcomes_of(session.launch))
        self._tasks.post(self._take, key, spread)
        folder = new_process_folder()
        try:
            is_catalogued = bool(session.launch.scenario)
            launch = session.launch if is_catalogued else runnable_launch(session.trace, folder)
            for seed in range(spread.wanted):
                if key not in self._wanted:
                    return
                trace = self.jobs.trace_in_background(seeded(launch, seed))
                total = counted_total(trace, counting.result.buffer)
                spread = Spread((*spread.totals, total), spread.wanted, spread.measured)
                self._tasks.post(self._take, key, spread)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _fail(self, key: str, error: BaseException) -> None:
        spread = self._spreads[key]
        problem = str(error) or "The random schedules were not all traced."
        self._take(key, Spread(spread.totals, spread.wanted, spread.measured, problem))


def spread_key(session: Session) -> str:
    """Return the key of a launch, ignoring its schedule; launches of a program differ by their inputs too."""
    launch = seeded(session.launch, 0)
    if launch.scenario:
        return launch.key()
    return f"{launch.key()} {sorted(session.input_digests.items())}"
