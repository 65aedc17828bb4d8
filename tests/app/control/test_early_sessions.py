"""Sessions shown early: what compiled code did of a launch whose threads race, until lockstep's order is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sessions import application
from tilescope.app.control.loading import Loading
from tilescope.app.control.session_jobs import SessionJobs
from tilescope.app.model.session import Session
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.launch import Launch
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.run import engine
from tilescope.tracer.run.worker_client import Worker, WorkerError
from tilescope.tracer.run.worker_events import EARLY_NOTICE
from tilescope.tracer.storage.trace_cache import TraceCache
from tilescope.tracer.storage.trace_file import save
from windows import delete, wait_until

TILED = find("matmul-tiled")
BARRIER = "        cuda.syncthreads()\n"


def struck(m: int = 32) -> Launch:
    """Return the tiled product with its second barrier struck out: one thread may store before others have read."""
    launch = launch_of(TILED, {"m": m, "k": 32, "n": 32, "tile": 16})
    first, _, rest = launch.source.partition("def tiled")
    before, _, after = rest.rpartition(BARRIER)
    return msgspec.structs.replace(
        launch, source=f"{first}def tiled{before}{after}", scenario=""
    )  # no NumPy reference


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    started_worker = Worker()
    started_worker.run(struck(16))  # what takes long once is not waited for in the tests
    yield started_worker
    started_worker.close()


@pytest.fixture
def jobs(worker: Worker, tmp_path: Path) -> Iterator[SessionJobs]:
    """Jobs that note what they say, (what, session or sentence)."""
    application()
    session_jobs = SessionJobs(worker, TraceCache(tmp_path))
    session_jobs.reports = []
    yield session_jobs
    wait_until(session_jobs.is_idle)
    delete(session_jobs)


def load(jobs: SessionJobs, launch: Launch, *, early: bool = True) -> Loading:
    """Load a session and note what arrives."""
    loading = jobs.load(launch, early=early)
    loading.watch(
        lambda session: jobs.reports.append(("ready", session)),
        lambda error: jobs.reports.append(("failed", error)),
        early=lambda session: jobs.reports.append(("early", session)),
    )
    return loading


def races(session: Session) -> list[str]:
    return [f.kind for f in session.findings if "race" in f.kind]


def test_the_race_is_reported_before_lockstep_is_there_and_the_final_trace_is_the_same(jobs, tmp_path):
    launch = struck(448)
    load(jobs, launch)
    wait_until(lambda: any(kind == "ready" for kind, _ in jobs.reports) and jobs.is_idle())
    (first, early), (last, ready) = jobs.reports
    assert (first, last) == ("early", "ready")
    assert early.trace.notice == EARLY_NOTICE and races(early)
    assert "run again in turns" in ready.trace.made_by and not ready.trace.notice
    assert races(ready)
    save(ready.trace, tmp_path / "shown", compress=False)
    save(engine.run(launch, lambda done, total: None), tmp_path / "plain", compress=False)
    assert (tmp_path / "shown").read_bytes() == (tmp_path / "plain").read_bytes()
    assert jobs.session_in_memory(launch) is ready


def test_an_early_session_is_not_kept(jobs):
    launch = struck(456)
    jobs.load(launch, early=True).watch(
        lambda session: jobs.reports.append(("ready", session)),
        lambda error: None,
        early=lambda session: jobs.reports.append(("held", jobs.session_in_memory(launch))),
    )
    wait_until(lambda: any(kind == "ready" for kind, _ in jobs.reports))
    assert ("held", None) in jobs.reports


def test_cancelling_keeps_the_early_picture_and_is_reported(jobs):
    launch = struck(464)
    loading = load(jobs, launch)
    wait_until(lambda: bool(jobs.reports))
    assert loading.cancel()
    wait_until(lambda: any(kind == "ready" for kind, _ in jobs.reports) and jobs.is_idle())
    (_, early), (_, kept) = jobs.reports
    assert kept.trace.notice.endswith("lockstep's order is not available: it was cancelled.")
    assert len(kept.trace) == len(early.trace) and races(kept)
    assert jobs.session_in_memory(launch) is not kept  # which counts for no launch


def test_a_failure_of_lockstep_leaves_the_early_picture(jobs, monkeypatch):
    run = jobs.worker.run

    def fail(*given, **named):
        run(*given, **named)
        raise WorkerError("The tracing process ended unexpectedly (signal 9).")

    monkeypatch.setattr(jobs.worker, "run", fail)
    load(jobs, struck(472))
    wait_until(lambda: any(kind == "ready" for kind, _ in jobs.reports) and jobs.is_idle())
    assert [kind for kind, _ in jobs.reports] == ["early", "ready"]
    assert "not available: The tracing process ended unexpectedly" in jobs.reports[1][1].trace.notice


def test_nothing_comes_early_unless_asked_or_if_the_order_does_not_matter(jobs):
    load(jobs, struck(480), early=False)
    wait_until(lambda: any(kind == "ready" for kind, _ in jobs.reports))
    load(jobs, launch_of(TILED, {"m": 64, "k": 32, "n": 32, "tile": 16}))
    wait_until(lambda: len(jobs.reports) == 2)
    assert [kind for kind, _ in jobs.reports] == ["ready", "ready"]


def test_a_failure_is_reported_with_file_and_line(jobs):
    launch = launch_of(TILED, {"m": 16, "k": 16, "n": 16, "tile": 16})
    wrong = msgspec.structs.replace(launch, source=launch.source + "def broken(:\n")
    load(jobs, wrong)
    wait_until(lambda: bool(jobs.reports))
    ((kind, error),) = jobs.reports
    assert kind == "failed"
    assert error.line == wrong.source.count("\n") and error.file
