"""One tracing process for all windows of a process of tests: to start one takes longer than most launches of tests."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from tilescope.tracer.model.launch import Launch
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.processes.process_client import RunCancelledError
from tilescope.tracer.run.worker_client import Worker

# Where the shared process looks for files: in the tests' folder, not in a single test's.
HOME = os.environ["TILESCOPE_HOME"]


def lent_worker() -> Worker | LentWorker:
    """Return a worker for a window: the shared one, or a new one for a test with a separate home."""
    return LentWorker() if os.environ["TILESCOPE_HOME"] == HOME else Worker()


@cache
def shared_worker() -> Worker:
    """Return the worker that is lent; it ends with this process."""
    return Worker()


class LentWorker:
    """A window's handle of the shared worker; closing it ends only its runs and wishes."""

    def __init__(self) -> None:
        self._turn = threading.Lock()  # held by the run under way
        self._closed = False

    def start(self) -> None:
        """Start the process if there is none."""
        if not self._closed:
            shared_worker().start()

    def run(self, *arguments: Any, **options: Any) -> Trace:
        """Return the trace of a launch, as `Worker.run` does."""
        return self._in_turn(shared_worker().run, *arguments, **options)

    def judge(self, *arguments: Any, **options: Any) -> Any:
        """Judge a student's file, as `Worker.judge` does."""
        return self._in_turn(shared_worker().judge, *arguments, **options)

    def _in_turn(self, ask: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        with self._turn:
            if self._closed:
                raise RunCancelledError
            return ask(*arguments, **options)

    def compile_ahead(self, launches: Iterable[Launch]) -> None:
        """Have kernels compiled while no run is asked for."""
        if not self._closed:
            shared_worker().compile_ahead(launches)

    def cancel(self) -> None:
        """End the run under way, if there is one."""
        if self._turn.locked():
            shared_worker().cancel()

    def close(self) -> None:
        """End what is under way; nothing is run for this one any more."""
        self._closed = True
        while not self._turn.acquire(timeout=0.02):  # a run may be about to begin, and would not hear of it
            shared_worker().cancel()
        self._turn.release()
        shared_worker().compile_ahead(())
