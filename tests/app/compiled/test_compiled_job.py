"""Which launches are counted as compiled, one after the other, and which no longer."""

import threading

import pytest

from patience import PATIENCE
from sessions import application, matmul
from tilescope.app.compiled import compiled_job
from tilescope.app.compiled.compiled_job import CompiledJob
from tilescope.app.model.session import build_session
from tilescope.tracer.as_compiled.job import CompiledCounters
from windows import wait_until


class PlayedCounting:
    """Count on request, or stop."""

    def __init__(self):
        self.begun, self.cancelled, self.go_on = [], 0, threading.Event()

    def count(self, session):
        self.begun.append(session)
        assert self.go_on.wait(PATIENCE)
        self.go_on.clear()
        if self.cancelled:
            self.cancelled = 0
            return CompiledCounters(reason="Its compiled code was not counted since it was cancelled.")
        session.add_compiled(CompiledCounters("LLVM", dict(session.counters.total)))
        return session.compiled

    def cancel(self):
        self.cancelled += 1
        self.go_on.set()


@pytest.fixture
def played(monkeypatch):
    application()
    counting = PlayedCounting()
    monkeypatch.setattr(compiled_job, "compiled_counters_of", counting.count)
    monkeypatch.setattr(compiled_job, "shared_counting", lambda: counting)
    yield counting
    counting.go_on.set()


def session():
    session = matmul(m=8, k=8, n=8, tile=4)
    return build_session(session.launch, session.trace, session.scenario)


def test_nothing_is_counted_while_pictures_are_drawn(played):
    free = []
    job, wanted = CompiledJob(lambda: bool(free)), session()
    job.want([wanted])
    wait_until(lambda: not job.is_idle())
    assert played.begun == []
    free.append(True)
    wait_until(lambda: played.begun == [wanted])
    played.go_on.set()
    wait_until(job.is_idle)
    assert wanted.compiled.reason == ""


def test_an_unneeded_count_is_ended_and_the_next_one_starts(played):
    job, first, second = CompiledJob(), session(), session()
    results = []
    job.counted.connect(results.append)
    job.want([first])
    wait_until(lambda: played.begun == [first])
    job.want([second])  # and nothing lets the first one end
    wait_until(lambda: played.begun == [first, second])
    played.go_on.set()
    wait_until(job.is_idle)
    assert first.compiled is None
    assert results == [second]


def test_what_is_known_is_not_counted_again(played):
    job, first = CompiledJob(), session()
    first.add_compiled(CompiledCounters("LLVM"))
    job.want([first])
    assert job.is_idle()
    job.want_too(first)
    assert job.is_idle()
