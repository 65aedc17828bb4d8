"""Sessions of setups for callers that can wait: the commands, the handout, the tests. The window uses jobs."""

from __future__ import annotations

from pathlib import Path

from ....tracer.run.worker_client import Worker
from ....tracer.storage.trace_cache import TraceCache
from ...model.bookmark import Setup
from ...model.session import Session, session_of_file, session_of_launch
from ...model.setup_launch import launch_of_setup

MAX_SESSIONS = 8  # sessions held in memory
MAX_ACCESSES = 10_000_000  # of all of them, except for the two of the current step
PATIENCE = 10.0  # seconds that a launch may take, as in the window without a question


class Sessions:
    """Creates sessions one by one and keeps the last few."""

    def __init__(self, worker: Worker, cache: TraceCache | None, patience: float | None = PATIENCE) -> None:
        """Set up the cache; patience: seconds that a launch may take, None for any."""
        self.worker, self.cache, self.patience = worker, cache, patience
        self._held: dict[str, Session] = {}  # by the text of their setups, the latest last

    def session_of(self, setup: Setup) -> Session:
        """Return the session of a setup; raises WorkerError, TraceFileError, CatalogueError and PlanError.

        LaunchTooSlowError, a WorkerError, means that the launch would take longer than `patience`.
        """
        key = repr(setup)
        session = self._held.pop(key, None) or self._create(setup)
        self._held[key] = session
        while len(self._held) > MAX_SESSIONS or (len(self._held) > 2 and self._accesses() > MAX_ACCESSES):
            del self._held[next(iter(self._held))]
        return session

    def _accesses(self) -> int:
        """Count the accesses of the sessions in memory."""
        return sum(len(session.trace) for session in self._held.values())

    def _create(self, setup: Setup) -> Session:
        if setup.file:
            return session_of_file(Path(setup.file))
        launch = launch_of_setup(setup)
        trace = self.cache.get(launch) if self.cache else None
        if trace is None:
            trace = self.worker.run(launch, patience=self.patience)
            if self.cache:
                self.cache.put(launch, trace)
        return session_of_launch(launch, trace)
