"""Launches that take long: how that is reckoned, said and asked."""

from __future__ import annotations

import msgspec
import pytest

from folders import use_home
from tilescope.app.cli import counters, main
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.launch import encode
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.run import time_estimate
from tilescope.tracer.run.time_estimate import PatienceExceededError, TimeEstimate, duration_text, left_text
from tilescope.tracer.run.worker import answer
from tilescope.tracer.run.worker_client import LaunchTooSlowError, Worker
from tilescope.tracer.run.worker_events import Done, Job, Slow

SPEC = "matmul-tiled:m=12,k=12,n=12,tile=8"


class Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def left_after(seconds: list[float], total: int) -> float | None:
    """Return the seconds left after blocks that took so long each."""
    clock = Clock()
    reckoned, left = TimeEstimate(clock), None
    for done, each in enumerate(seconds, 1):
        clock.now += each
        left = reckoned.seconds_left(done, total)
    return left


def test_the_rest_takes_as_long_as_the_middle_block():
    assert left_after([5.0] + [0.1] * 40, 141) == pytest.approx(10)
    assert left_after([1.0] * 7, 10) == pytest.approx(3)


def test_no_estimate_is_reported_too_early():
    assert left_after([0.01] * 50, 1000) is None
    assert left_after([1.5, 1.5], 1000) is None
    assert left_text(None) == left_text(0.3) == ""


def test_a_new_launch_has_a_new_estimate():
    clock = Clock()
    reckoned = TimeEstimate(clock)
    for done in (20, 40, 60):
        clock.now += 20
        reckoned.seconds_left(done, 100)
    assert reckoned.seconds_left(1, 100) is None


def test_the_estimated_time_is_reported_to_an_impatient_caller():
    clock = Clock()
    reckoned = TimeEstimate(clock)
    with pytest.raises(PatienceExceededError) as output:
        for done in range(1, 100):
            clock.now += 1
            reckoned.check_patience(30, done, 100)
    assert output.value.seconds == pytest.approx(100)
    assert output.value.blocks == 100


def test_a_launch_with_slow_first_blocks_is_stopped_too():
    clock = Clock()
    reckoned = TimeEstimate(clock)
    with pytest.raises(PatienceExceededError) as output:
        for done in range(1, 100):
            clock.now += 40
            reckoned.check_patience(30, done, 100)
    assert output.value.seconds == pytest.approx(4000)
    nearly = TimeEstimate(clock)
    for done in range(1, 5):
        clock.now += 11
        nearly.check_patience(30, done, 4)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 second"), (40, "40 seconds"), (89, "89 seconds"), (100, "2 minutes"), (5400, "2 hours"),
     (9e6, "2,500 hours")],
)  # fmt: skip
def test_durations_are_rounded(seconds, text):
    assert duration_text(seconds) == text


def job(patience: float | None) -> Job:
    """Return a job for the worker."""
    launch = launch_of(find("matmul-tiled"), {})
    return Job(1, msgspec.Raw(encode(launch).encode()), "nowhere", patience)


def test_the_worker_stops_a_slow_launch(monkeypatch):
    monkeypatch.setattr(time_estimate, "ESTIMATE_AFTER", 0.0)
    clock = Clock()
    monkeypatch.setattr("tilescope.tracer.run.worker.TimeEstimate", lambda own: TimeEstimate(clock))

    def engine(launch, report):
        for done in range(1, 1000):
            clock.now += 0.5
            report(done, 1000)
        raise AssertionError("it was to be left")

    ended = answer(job(10.0), engine, lambda event: None)
    assert isinstance(ended, Slow)
    assert ended.seconds == pytest.approx(500)


def test_the_worker_waits_without_a_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(time_estimate, "ESTIMATE_AFTER", 0.0)
    from tilescope.tracer.run.engine import run

    launch = launch_of(find("matmul-tiled"), {"m": 4, "k": 4, "n": 4, "tile": 8})
    asked = Job(1, msgspec.Raw(encode(launch).encode()), str(tmp_path / "trace"))
    assert isinstance(answer(asked, run, lambda event: None), Done)


@pytest.fixture
def slow(monkeypatch) -> list[float | None]:
    """Let every launch take half an hour for impatient callers; return the callers' patience."""
    asked: list[float | None] = []
    trace = Worker.run

    def run(self, launch, progress=None, output=None, patience=None):
        asked.append(patience)
        if patience is not None:
            raise LaunchTooSlowError(launch, 1800, 65536)
        return trace(self, launch, progress, output)

    monkeypatch.setattr(Worker, "run", run)
    return asked


def test_slow_counters_need_a_confirmation(slow, capsys, monkeypatch, tmp_path):
    use_home(monkeypatch, tmp_path / "home")
    assert main.main(["counters", SPEC]) == 2
    out, output = capsys.readouterr()
    assert out == ""
    assert output.count("\n") == 1
    assert "takes about 30 minutes for its 65,536 blocks" in output
    assert "--yes" in output
    assert f"{SPEC},blocks=0" in output


def test_after_a_confirmation_all_is_counted_and_nothing_kept(slow, capsys, monkeypatch, tmp_path):
    use_home(monkeypatch, tmp_path / "home")
    assert main.main(["counters", SPEC, "--yes"]) == 0
    counted = capsys.readouterr().out
    assert slow == [counters.MAX_SECONDS_WITHOUT_ASKING, None]
    assert "None of the " in counted
    assert "mean reads" not in counted
    monkeypatch.undo()
    use_home(monkeypatch, tmp_path / "other")
    assert main.main(["counters", SPEC]) == 0
    usual = capsys.readouterr().out
    assert usual.splitlines()[:8] == counted.splitlines()[:8]


@pytest.mark.parametrize(("question", "status"), [("y", 0), ("", 2)])
def test_a_terminal_asks_for_a_confirmation(slow, capsys, monkeypatch, tmp_path, question, status):
    use_home(monkeypatch, tmp_path / "home")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda: question)
    assert main.main(["counters", SPEC]) == status
    assert "Count them all? [y/N]" in capsys.readouterr().err


def test_an_extremely_slow_launch_is_reported_at_once():
    clock = Clock()
    far, longer = TimeEstimate(clock), TimeEstimate(clock)
    with pytest.raises(PatienceExceededError) as output:
        for done in range(1, 100):
            clock.now += 0.02
            longer.check_patience(10, done, 2_000)  # forty seconds: is looked at for longer
            far.check_patience(10, done, 65_536)
    assert output.value.seconds == pytest.approx(0.02 * 65_536)
    assert clock.now == pytest.approx(100.0 + 20 * 0.02)
