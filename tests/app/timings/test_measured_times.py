"""Measured times are read in a thread, once no session is being prepared, or during a slow one."""

import pytest

from sessions import application
from tilescope.app.timings import measured_job
from tilescope.app.timings.measured_job import MeasuredTimes
from windows import wait_until


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """Wait for little between two looks at whether a session is being made."""
    monkeypatch.setattr(measured_job, "DELAY", 1)
    application()


def read(times):
    """Wait until all is read; return whether it was."""
    wait_until(times.is_idle)
    times.close()
    return times.sources is not None


def test_they_wait_for_sessions_that_are_being_prepared(monkeypatch):
    monkeypatch.setattr(measured_job, "DELAYS", 1_000_000)
    asked, free = [], [False]
    times = MeasuredTimes(None, lambda: bool(asked.append(free[0]) or free[0]))
    times.want()
    wait_until(lambda: len(asked) >= 3)
    assert times.sources is None and not times.is_idle()
    free[0] = True
    assert read(times)


def test_they_do_not_wait_for_a_session_that_takes_long(monkeypatch):
    monkeypatch.setattr(measured_job, "DELAYS", 2)
    times = MeasuredTimes(None, lambda: False)
    times.want()
    assert read(times)
