"""What is said of a launch that takes long."""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from patience import PATIENCE
from tilescope.tracer.run.long_launch import LongLaunch, LongLaunches


def test_a_long_launch_reports_its_progress_repeatedly():
    output: queue.Queue[str] = queue.Queue()
    launches = LongLaunches(output.put, first=0.01)
    with launches.watch("k") as launch:
        first = output.get(timeout=PATIENCE)
        launch.report(250, 1000)
        while ": 250 of 1,000 blocks" not in (later := output.get(timeout=PATIENCE)):
            pass
    assert re.fullmatch(r"k has run for \d+ seconds?; Ctrl\+C ends it\.", first)
    assert later.startswith("k has run for ") and later.endswith("; Ctrl+C ends it.")
    with launches.watch("next"):
        while not output.get(timeout=PATIENCE).startswith("next has run for"):
            pass
    launches.stop()


def test_a_short_launch_prints_nothing_and_the_program_sees_no_thread():
    before, output = {*threading.enumerate()}, []
    launches = LongLaunches(output.append, first=1000)
    for _ in range(3):
        with launches.watch("k"):
            assert {*threading.enumerate()} <= before
    launches.stop()
    assert output == [] and {*threading.enumerate()} <= before


def test_a_forecast_does_not_grow_while_no_block_ends():
    now = [0.0]
    launch = LongLaunch("k", 5.0, lambda: now[0])
    now[0] = 4.0
    launch.report(100, 400)

    def text_at(seconds: float) -> str:
        now[0] = seconds
        return launch.notice()

    assert [text_at(5.0), text_at(10.0), text_at(20.0)] == [
        "k has run for 5 seconds: 100 of 400 blocks, about 11 seconds left; Ctrl+C ends it.",
        "k has run for 10 seconds: 100 of 400 blocks, about 6 seconds left; Ctrl+C ends it.",
        "k has run for 20 seconds: 100 of 400 blocks; Ctrl+C ends it.",  # they take longer than those before
    ]


def test_arrays_that_take_long_to_copy_are_named():
    now = [0.0]
    launch = LongLaunch("k", 5.0, lambda: now[0], nbytes=4 << 30)
    now[0] = 5.0
    text = "k has run for 5 seconds, with 4,294 MB of arrays to copy and record; Ctrl+C ends it."
    assert launch.notice() == text


def test_a_forecast_is_of_the_attempt_that_runs():
    now = [0.0]
    launch = LongLaunch("k", 5.0, lambda: now[0])
    for now[0], done in ((90.0, 300), (100.0, 10), (110.0, 20)):
        launch.report(done, 400)
    assert (
        "20 of 400 blocks since a restart, about 6 minutes left" in launch.notice()
    )  # 20 seconds for 20 blocks


FORKING = """
import os, time
from pathlib import Path
from tilescope.tracer.run.long_launch import LongLaunches

def threads():
    return len(list(Path("/proc/self/task").iterdir()))

launches = LongLaunches(lambda sentence: None)
before = threads()
with launches.watch("k"):
    assert threads() == before + 1
child = os.fork()
if not child:
    os._exit(0)
os.waitpid(child, 0)
while threads() != before:  # the system takes a moment to remove one that has ended
    time.sleep(0.001)
with launches.watch("k"):
    assert threads() == before + 1
launches.stop()
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts the threads of a process")
def test_a_program_that_forks_finds_no_thread_of_ours():
    # In a process of its own: others' threads, of Qt for one, come and go in this one.
    done = subprocess.run(
        [sys.executable, "-P", "-c", FORKING], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")
