"""Sessions prepared ahead: in order, without delaying others, held while wanted, and within the memory limit."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from sessions import application, matmul
from tilescope.app.control import session_jobs
from tilescope.app.control.session_jobs import KEPT_SESSIONS, SessionJobs
from tilescope.tracer.model.launch import Launch
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.processes.process_client import RunCancelledError
from tilescope.tracer.run.worker_client import LaunchTooSlowError, Worker, WorkerError
from windows import delete, wait_until


def launch(m: int) -> Launch:
    return matmul("matmul-tiled", m=m, k=4, n=4, tile=4).launch


class PatientWorker(Worker):
    """Yield existing traces; wait, fail or report slowness on request."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []
        self.held = threading.Event()  # what it waits for
        self.held.set()
        self.slow: set[int] = set()
        self.wrong: set[int] = set()
        self._ends = threading.Event()

    def run(
        self,
        launch: Launch,
        progress: Callable[[int, int], None] | None = None,
        output: Callable[[str], None] | None = None,
        patience: float | None = None,
    ) -> Trace:
        m = launch.arguments[0].shape[0]
        self.asked.append(m)
        self._ends.clear()
        while not self.held.wait(0.002):
            if self._ends.is_set():
                raise RunCancelledError
        if m in self.wrong:
            raise WorkerError(f"There is no trace of {m}.")
        if m in self.slow and patience is not None:
            raise LaunchTooSlowError(launch, 100.0, 4)
        return matmul("matmul-tiled", m=m, k=4, n=4, tile=4).trace

    def cancel(self) -> None:
        self._ends.set()

    def start(self) -> None:
        """There is no process."""


@pytest.fixture
def jobs():
    application()
    for m in (4, 8, 12, 16, 20, 24, 28, 32, 36):
        launch(m)  # traced here, not in a thread
    session_jobs = SessionJobs(PatientWorker(), None)
    session_jobs.reported = []
    session_jobs.prepared.connect(lambda key, why: session_jobs.reported.append((key, why)))
    yield session_jobs
    session_jobs.worker.held.set()
    session_jobs.close()
    delete(session_jobs)


def held(jobs: SessionJobs, *sizes: int) -> list[bool]:
    return [jobs.session_in_memory(launch(m)) is not None for m in sizes]


def test_they_are_made_in_order_with_their_findings_and_held_beyond_what_is_usually_kept(jobs):
    sizes = (4, 8, 12, 16, 20, 24, 28, 32)
    assert len(sizes) > KEPT_SESSIONS
    jobs.prepare([launch(m) for m in sizes])
    wait_until(jobs.is_prepared)
    assert jobs.worker.asked == list(sizes)
    assert jobs.reported == [(launch(m).key(), "") for m in sizes]
    assert all(held(jobs, *sizes)) and jobs.session_in_memory(launch(4)).is_examined
    jobs.prepare([launch(4)])
    assert held(jobs, *sizes) == [
        True,
        False,
        *[True] * 6,
    ]  # the last ones are kept as always, and what is wanted


def test_a_pane_waits_for_nothing_that_is_made_ahead(jobs):
    got = []
    jobs.worker.held.clear()
    jobs.prepare([launch(4), launch(8)])
    wait_until(lambda: jobs.worker.asked == [4])
    jobs.load(launch(12)).watch(got.append, got.append)
    wait_until(lambda: 12 in jobs.worker.asked)  # what was under way is given up for it
    jobs.worker.held.set()
    wait_until(lambda: len(got) == 1 and jobs.is_prepared())
    assert jobs.worker.asked == [4, 12, 4, 8]


def test_a_pane_that_wants_what_is_made_just_now_gets_that(jobs):
    got = []
    jobs.worker.held.clear()
    jobs.prepare([launch(4)])
    wait_until(lambda: jobs.worker.asked == [4])
    jobs.load(launch(4)).watch(got.append, got.append)
    jobs.worker.held.set()
    wait_until(
        lambda: (
            [session.trace.grid for session in got]
            == [matmul("matmul-tiled", m=4, k=4, n=4, tile=4).trace.grid]
        )
    )
    assert jobs.worker.asked == [4]


def test_slow_sessions_wait_until_the_user_asks_for_them(jobs):
    jobs.worker.slow.add(4)
    jobs.prepare([launch(4), launch(8)])
    wait_until(jobs.is_prepared)
    assert held(jobs, 4, 8) == [False, True]
    jobs.prepare([launch(4), launch(8)], urgent=1)
    wait_until(jobs.is_prepared)
    assert held(jobs, 4, 8) == [True, True]


def test_failures_are_reported_and_the_next_session_is_prepared(jobs):
    jobs.worker.wrong.add(4)
    jobs.prepare([launch(4), launch(8)])
    wait_until(jobs.is_prepared)
    assert jobs.reported == [(launch(4).key(), "There is no trace of 4."), (launch(8).key(), "")]


def test_no_more_are_made_ahead_than_memory_bears(jobs, monkeypatch):
    monkeypatch.setattr(session_jobs, "MOST_AHEAD", len(matmul("matmul-tiled", m=4, k=4, n=4, tile=4).trace))
    jobs.prepare([launch(m) for m in (8, 12, 16)])
    wait_until(jobs.is_prepared)
    assert held(jobs, 8, 12, 16) == [True, False, False]
    jobs.prepare([launch(m) for m in (12, 8, 16)], urgent=1)
    wait_until(jobs.is_prepared)
    assert held(jobs, 8, 12, 16) == [True, True, False]


def test_what_is_no_longer_wanted_is_given_up(jobs):
    jobs.worker.held.clear()
    jobs.prepare([launch(4)])
    wait_until(lambda: jobs.worker.asked == [4])
    jobs.prepare([launch(8)])
    wait_until(lambda: jobs.worker.asked == [4, 8])
    jobs.worker.held.set()
    wait_until(jobs.is_prepared)
    assert held(jobs, 4, 8) == [False, True]
