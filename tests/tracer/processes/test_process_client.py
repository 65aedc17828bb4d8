"""Requests to a process: their answers, what ends them early, and the process that follows."""

import os
import signal
import sys
import threading

import msgspec
import pytest

from tilescope.tracer.processes.json_process import StartError
from tilescope.tracer.processes.process_client import ProcessClient, ProcessEndedError, RunCancelledError

# Answers a number by the numbers below it; 0 ends the process, and a larger one than 9 gets no answer.
COUNT = """
import json, sys
for line in sys.stdin:
    number = json.loads(line)
    if number == 0:
        sys.exit("no zero")
    for answer in range(number if number < 10 else 0):
        print(answer, flush=True)
"""
INTEGER = msgspec.json.Decoder(int)


@pytest.fixture
def counting():
    client = ProcessClient("counting process", (sys.executable, "-c", COUNT), INTEGER)
    yield client
    client.close()


def answers_to(client, number, seconds=60.0):
    with client.conversation(number, seconds) as answers:
        return [next(answers) for _ in range(max(1, number))]


def test_requests_are_answered_by_one_process(counting):
    assert counting.pid is None
    counting.start()
    first = counting.pid
    assert answers_to(counting, 3) == [0, 1, 2]
    assert answers_to(counting, 2) == [0, 1]
    assert counting.pid == first


def test_a_crash_is_reported_with_the_last_output_and_another_process_follows(counting):
    with pytest.raises(
        ProcessEndedError, match=r"The counting process ended unexpectedly \(exit code 1: no zero"
    ):
        answers_to(counting, 0)
    assert counting.pid is None
    assert answers_to(counting, 1) == [0]


def test_a_process_that_is_to_restart_is_there_again_at_once():
    client = ProcessClient("counting process", (sys.executable, "-c", COUNT), INTEGER, restarts=True)
    with pytest.raises(ProcessEndedError):
        answers_to(client, 0)
    assert client.pid is not None
    client.close()
    assert client.pid is None


def test_a_process_that_died_while_idle_is_replaced(counting):
    answers_to(counting, 1)
    os.kill(counting.pid, signal.SIGKILL)
    os.waitid(os.P_PID, counting.pid, os.WEXITED | os.WNOWAIT)
    assert answers_to(counting, 1) == [0]


def test_a_request_without_an_answer_ends_at_its_time_limit(counting):
    with pytest.raises(ProcessEndedError) as raised:
        answers_to(counting, 10, 0.2)
    assert raised.value.is_late
    assert answers_to(counting, 1) == [0]


@pytest.mark.parametrize("end", ["cancel", "close"])
def test_a_request_is_cancelled_from_another_thread(counting, end):
    with pytest.raises(RunCancelledError), counting.conversation(10) as answers:
        threading.Thread(target=getattr(counting, end)).start()
        next(answers)
    assert counting.pid is None


def test_only_a_running_request_is_cancelled_and_a_closed_client_refuses_all(counting):
    counting.cancel()
    assert answers_to(counting, 1) == [0]
    counting.close()
    with pytest.raises(RunCancelledError):
        answers_to(counting, 1)


def test_an_error_within_a_conversation_ends_its_process(counting):
    answers_to(counting, 1)
    with pytest.raises(KeyError), counting.conversation(3) as answers:
        next(answers)
        raise KeyError
    assert counting.pid is None
    assert answers_to(counting, 2) == [0, 1]


def test_an_idle_process_rests(counting):
    answers_to(counting, 1)
    counting.rest()
    assert counting.pid is None


def test_invalid_answers_end_the_process_and_a_missing_program_is_reported():
    wrong = ProcessClient("wrong process", (sys.executable, "-c", "print('nonsense')"), INTEGER)
    with pytest.raises(ProcessEndedError, match="exit code 0"):
        answers_to(wrong, 1)
    missing = ProcessClient("missing process", ("/no/such/program",), INTEGER)
    with pytest.raises(StartError, match="The missing process can't be started"):
        missing.start()


def test_a_single_request_is_read_to_the_end_of_the_input():
    code = "import sys; print(len(sys.stdin.read()))"
    client = ProcessClient("reading process", (sys.executable, "-c", code), INTEGER, is_single=True)
    assert answers_to(client, 1) == [2]
    assert client.pid is None
    assert answers_to(client, 1) == [2]
