"""What the window asks about large launches, and what the answers do."""

from __future__ import annotations

import threading

import msgspec
import pytest

from lent_worker import LentWorker
from patience import PATIENCE
from tilescope.tracer.model.launch import Limits
from tilescope.tracer.model.plan import KEEP_ALL, launch_of, parse_spec
from tilescope.tracer.processes.process_client import RunCancelledError
from tilescope.tracer.run.worker_client import LaunchTooSlowError, Worker
from windows import PAIR, enter, open_window, settle, wait_until


@pytest.fixture(autouse=True)
def no_traces_of_others(monkeypatch, tmp_path):
    """Keep traces in a cache for each test, as cached traces raise no question; all windows share one worker."""
    monkeypatch.setenv("TILESCOPE_HOME", str(tmp_path))
    monkeypatch.setattr("windows.lent_worker", LentWorker)


@pytest.fixture
def slow(monkeypatch):
    """Let launches of 24 rows or more take half an hour."""
    trace = Worker.run

    def run(self, launch, progress=None, output=None, patience=None):
        if patience is not None and launch.arguments[0].shape[0] >= 24 and launch.blocks is None:
            raise LaunchTooSlowError(launch, 1800, 9)
        return trace(self, launch, progress, output)

    monkeypatch.setattr(Worker, "run", run)


def enlarge(window, sides: int, rows: int) -> None:
    """Choose so many rows in the last panes."""
    setups = window.stage.setups
    larger = [msgspec.structs.replace(s, values=s.values | {"m": rows}) for s in setups[-sides:]]
    window.change_setups((*setups[:-sides], *larger))
    wait_until(lambda: window.notice.message_type == "question")
    settle(window)


def answer(window, text: str) -> None:
    """Press a button of the question."""
    next(b for b in window.notice.answers if b.text() == text).click()
    settle(window)


def test_the_first_block_is_shown_while_it_is_asked_whether_to_wait(slow):
    with open_window(PAIR) as window:
        enlarge(window, 1, 24)
        assert "All 9 blocks take about 30 minutes" in window.notice.sentence.text()
        assert [s.blocks for s in window.stage.setups] == [None, (0,)]
        trace = window.stage.sessions[1].trace
        assert (trace.buffers[0].shape, trace.blocks.tolist()) == ((24, 16), [0])
        assert window.notice.message_type == "question"


def test_the_bar_describes_the_picture_once_the_question_is_closed(slow):
    with open_window(PAIR) as window:
        enlarge(window, 1, 24)
        window.escape()
        assert not window.notice.isVisible()
        shown = window.stage.sessions[1].trace
        assert window.toolbar.fields["m"].text() == str(shown.buffers[0].shape[0]) == "24"
        assert window.toolbar.more.text() == "More · 1 block"


def test_a_smaller_size_after_the_question_runs_completely(slow):
    with open_window(PAIR) as window:
        enlarge(window, 2, 24)
        wait_until(lambda: [s.blocks for s in window.stage.setups] == [(0,), (0,)])
        settle(window)
        enter(window, "m", "16")
        wait_until(lambda: [s.values["m"] for s in window.stage.setups] == [16, 16])
        settle(window)
        assert [len(s.trace.blocks) for s in window.stage.sessions] == [4, 4]


def test_a_window_that_opens_on_a_long_launch_shows_its_first_block(slow):
    spec = "matmul-tiled:m=24,k=16,n=16,tile=8"
    with open_window((spec,)) as window:
        wait_until(lambda: window.notice.message_type == "question")
        settle(window)
        assert window.stage.sessions[0].trace.blocks.tolist() == [0]
        assert window.bookmark().panes[0].blocks == (0,)


def test_escape_while_all_is_counted_goes_back_to_the_first_block(slow, monkeypatch):
    with open_window(PAIR) as window:
        enlarge(window, 1, 24)
        first = window.stage.sessions[1]
        hold = threading.Event()
        trace = Worker.run

        def run(self, launch, progress=None, output=None, patience=None):
            hold.wait(PATIENCE)
            raise RunCancelledError

        monkeypatch.setattr(Worker, "run", run)
        next(b for b in window.notice.answers if b.text() == "Count all").click()
        assert window.stage.setups[1].blocks is None
        window.escape()
        hold.set()
        settle(window)
        monkeypatch.setattr(Worker, "run", trace)
        assert window.stage.setups[1].blocks == (0,)
        assert window.stage.sessions[1] is first


def test_all_can_be_counted(slow):
    with open_window(PAIR) as window:
        enlarge(window, 2, 32)
        wait_until(lambda: "both launches take about 60 minutes" in window.notice.sentence.text())
        answer(window, "Count all")
        wait_until(lambda: all(len(s.trace.blocks) == 8 for s in window.stage.sessions))
        assert [s.blocks for s in window.stage.setups] == [None, None]
        assert all(s.trace.check.equal for s in window.stage.sessions)


def test_another_choice_takes_the_question_back(slow):
    with open_window(PAIR) as window:
        before = window.stage.setups
        enlarge(window, 1, 40)
        window.change_setups(before)
        settle(window)
        assert not window.notice.isVisible()


def test_a_partly_kept_launch_can_be_kept_completely(monkeypatch):
    few = Limits(accesses=4000)
    monkeypatch.setattr("tilescope.tracer.model.plan.KEEP_SOME", few)
    with open_window(("matmul-tiled:m=32,k=16,n=24,tile=8",)) as window:
        trace = window.stage.sessions[0].trace
        assert len(trace) < trace.accesses
        assert f"{trace.accesses:,} accesses are kept" in window.notice.sentence.text()
        assert "of the complete launch" in window.central.panes[0].counters.notice
        answer(window, "Keep all")
        full_trace = window.stage.sessions[0].trace
        assert len(full_trace) == full_trace.accesses == trace.accesses
        assert not window.notice.isVisible()
        assert "of the complete launch" not in window.central.panes[0].counters.notice


def test_a_stopped_launch_is_not_called_complete(monkeypatch):
    monkeypatch.setattr("tilescope.tracer.model.plan.KEEP_SOME", Limits(accesses=100))
    with open_window(("matmul-tiled:m=32,k=16,n=24,tile=8",)) as window:
        assert window.stage.sessions[0].trace.is_stopped
        sentence = window.notice.sentence.text()
        assert "one block makes more than the 100 that may be kept" in sentence and "whole" not in sentence
        answer(window, "Keep more accesses")
        trace = window.stage.sessions[0].trace
        assert len(trace) == trace.accesses and trace.check.equal


def test_everything_is_kept_if_a_spec_asks_for_it():
    scenario, values, options = parse_spec("matmul-tiled:keep=all")
    assert launch_of(scenario, values, **options).limits == KEEP_ALL
    assert launch_of(scenario, values).limits == Limits()
