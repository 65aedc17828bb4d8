"""Tasks of a queue: their order, their results and errors in the window's thread, and what outdated ones become."""

import sys
import threading

import pytest

from patience import PATIENCE
from sessions import application
from tilescope.app.control.task import Task, TaskQueue
from windows import wait_until


@pytest.fixture(autouse=True)
def window_thread():
    application()
    return threading.current_thread()


class HeldWork:
    """Work that ends when the test, or an interruption, lets it."""

    def __init__(self, result=None):
        self.result, self.begun, self.go_on = result, threading.Event(), threading.Event()

    def __call__(self):
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        return self.result


def test_results_arrive_in_the_windows_thread_in_the_order_of_the_requests(window_thread):
    queue, results = TaskQueue(), []
    for number in range(3):
        queue.start(Task(lambda n=number: n, lambda n: results.append((n, threading.current_thread()))))
    queue.wait()
    assert results == [(number, window_thread) for number in range(3)]


def test_an_expected_error_arrives_and_is_not_printed(monkeypatch):
    printed, errors = [], []
    monkeypatch.setattr(sys, "excepthook", lambda *words: printed.append(words[1]))
    queue = TaskQueue()
    queue.start(Task(lambda: int("x"), failed=errors.append, expected=(ValueError,)))
    queue.wait()
    assert [type(error) for error in errors] == [ValueError]
    assert printed == []


def test_another_error_arrives_too_and_the_terminal_shows_it(capfd):
    errors, queue = [], TaskQueue()
    queue.start(Task(lambda: [][0], failed=errors.append, expected=(ValueError,)))
    queue.wait()
    assert [type(error) for error in errors] == [IndexError]
    assert queue.close()
    assert "IndexError" in capfd.readouterr().err


def test_one_task_runs_for_each_key():
    queue, work, results = TaskQueue(), HeldWork("result"), []
    queue.start(Task(work, results.append, key="a"))
    queue.start(Task(work, results.append, key="a"))
    work.go_on.set()
    queue.wait()
    assert results == ["result"]


def test_only_the_newest_request_follows_the_running_one():
    queue, work, results = TaskQueue(grace=60_000), HeldWork("first"), []
    queue.start(Task(work, results.append, key=1))
    for key in (2, 3):
        queue.start(Task(lambda key=key: key, results.append, key=key), newest_only=True)
    work.go_on.set()
    queue.wait()
    assert results == ["first", 3]


def test_an_outdated_task_is_interrupted_after_the_grace_period_and_its_result_discarded():
    work, results = HeldWork("outdated"), []
    queue = TaskQueue(interrupt=work.go_on.set, grace=1)
    queue.start(Task(work, results.append, key=1))
    queue.start(Task(lambda: "new", results.append, key=2), newest_only=True)
    queue.wait()
    assert results == ["new"]


def test_a_task_that_is_wanted_again_is_not_interrupted():
    work, results, interrupted = HeldWork("result"), [], []
    queue = TaskQueue(interrupt=lambda: interrupted.append(True), grace=20)
    queue.start(Task(work, results.append, key=1))
    queue.start(Task(lambda: "new", results.append, key=2), newest_only=True)
    queue.start(Task(work, results.append, key=1), newest_only=True)
    queue.interrupt()
    work.go_on.set()
    queue.wait()
    assert (results, interrupted) == (["result"], [])


def test_an_interrupted_task_begins_again_when_it_is_wanted_again():
    work, results = HeldWork("result"), []
    queue = TaskQueue(interrupt=work.go_on.set)
    queue.start(Task(work, results.append, key=1))
    wait_until(work.begun.is_set)
    queue.keep(())
    queue.interrupt()
    queue.start(Task(work, results.append, key=1))
    queue.wait()
    assert results == ["result"]


def test_waiting_tasks_begin_once_the_window_is_free():
    free, results = [], []
    queue = TaskQueue(delay=1, is_free=lambda: bool(free))
    queue.start(Task(lambda: 1, results.append))
    asked = []
    queue.timer.timeout.connect(lambda: asked.append(1))
    wait_until(lambda: len(asked) > 2)
    assert results == [] and not queue.is_idle()
    free.append(True)
    queue.wait()
    assert results == [1]


def test_closing_interrupts_the_running_task_and_drops_the_others():
    work, results = HeldWork(), []
    queue = TaskQueue(interrupt=work.go_on.set)
    queue.start(Task(work, results.append))
    queue.start(Task(lambda: "waiting", results.append))
    assert queue.close()
    queue.wait()
    assert results == []
