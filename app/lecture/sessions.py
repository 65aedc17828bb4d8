"""Sessions of setups for who waits for them: the commands, the handout, the tests. The window has jobs of its own."""

from __future__ import annotations

from pathlib import Path

from ...kernels.scenarios.catalogue import find
from ...tracer.run.worker_client import Worker
from ...tracer.storage.trace_cache import TraceCache
from ..model.bookmark import Setup
from ..model.session import Session, build_session, session_of_file
from ..model.setup_launch import launch_of_setup

KEPT = 8  # sessions held in memory
KEPT_ACCESSES = 10_000_000  # of all of them, beside the two that a step may show
PATIENCE = 10.0  # seconds that a launch may take, as in the window without anybody being asked


class Sessions:
    """Makes sessions one by one and holds the last few."""

    def __init__(self, worker: Worker, cache: TraceCache | None, patience: float | None = PATIENCE) -> None:
        """Patience: seconds that a launch may take, None for any."""
        self.worker, self.cache, self.patience = worker, cache, patience
        self._held: dict[str, Session] = {}  # by the text of their setups, the latest last

    def of(self, setup: Setup) -> Session:
        """Return the session of a setup; raises WorkerError, TraceFileError, CatalogueError and PlanError.

        TakesLong, a WorkerError, says of a launch that it would take longer than is waited for.
        """
        key = repr(setup)
        found = self._held.pop(key, None) or self._made(setup)
        self._held[key] = found
        while len(self._held) > KEPT or (len(self._held) > 2 and self._accesses() > KEPT_ACCESSES):
            del self._held[next(iter(self._held))]
        return found

    def _accesses(self) -> int:
        """Return how many accesses the traces of the sessions in memory have."""
        return sum(len(session.trace) for session in self._held.values())

    def _made(self, setup: Setup) -> Session:
        if setup.file:
            return session_of_file(Path(setup.file))
        launch = launch_of_setup(setup)
        trace = self.cache.get(launch) if self.cache else None
        if trace is None:
            trace = self.worker.run(launch, patience=self.patience)
            if self.cache:
                self.cache.put(launch, trace)
        return build_session(launch, trace, find(setup.scenario))
