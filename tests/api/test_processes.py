"""The process that traces for a user's: it dies, is forked, is interrupted, and serves many threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from patience import PATIENCE

HEAD = """
import os, sys, threading
import numpy as np
import tilescope
from tilescope.api.shared_worker import shared_worker
from numba import cuda

def worker():
    return shared_worker().pid

@cuda.jit
def fill(a, number):
    a[cuda.grid(1)] = number

a = np.zeros(4)
tilescope.trace(fill[1, 4], a, 1)
"""
SERVES = """
first = worker()
os.kill(first, 9)
try:
    tilescope.trace(fill[1, 4], a, 2)
except tilescope.TilescopeError as error:
    print(error)
tilescope.trace(fill[1, 4], a, 3)
print(a.tolist(), worker() != first)
launches = [tilescope.trace(fill[1, 4], a, 4) for _ in range(20)]  # more than stay loaded
files = [launch._load.__self__._file for launch in launches]
read, write = os.pipe()
mine = worker()
if not os.fork():
    tilescope.trace(fill[1, 4], a, 5)
    os.write(write, f"{a.tolist()} {worker() != mine}".encode())
    sys.exit()
os.wait()
print(os.read(read, 1000).decode(), all(file.exists() for file in files))
print([launch.trace["value"].tolist() == [4.0] * 4 for launch in launches].count(True))
del launches[5:]
print([file.exists() for file in files].count(True))
tilescope.trace(fill[1, 4], a, 6)
print(a.tolist(), worker() == mine)
arrays = [np.zeros(4) for _ in range(8)]
with tilescope.trace_launches() as launches:
    threads = [threading.Thread(target=lambda n=n: fill[1, 4](arrays[n], n)) for n in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
print(len(launches), [one.tolist() == [n] * 4 for n, one in enumerate(arrays)] == [True] * 8)
"""
ENDLESS = """
from tilescope.api import shared_worker as process
process._long_launches._first = 0.01

@cuda.jit
def endless(a):
    print("running")
    while a[0] == a[0]:
        a[1] += 1

print(worker(), flush=True)
try:
    tilescope.trace(endless[1, 1], a)
except KeyboardInterrupt:
    print("interrupted")
tilescope.trace(fill[1, 4], a, 7)
print(a.tolist())
"""
INSIDE = """
import sys
import tilescope
assert "numba" not in sys.modules

def program():
    import numpy as np
    from numba import cuda

    @cuda.jit
    def fill(a):
        a[cuda.grid(1)] = 9

    a = np.zeros(4)
    fill[1, 4](a)
    return a

print(tilescope.check(program).tolist())
"""
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes as on POSIX systems")


def start(folder: Path, text: str, head: str = HEAD) -> subprocess.Popen:
    program = folder / "program.py"
    program.write_text(head + text)
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    return subprocess.Popen(
        [sys.executable, "-u", "-W", "ignore", str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment,
    )  # fmt: skip


@contextmanager
def killed_in_the_end(process: subprocess.Popen) -> Iterator[None]:
    """Kill a process that prints nothing for minutes or is still running."""
    timer = threading.Timer(120, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        process.kill()


def output_of(folder: Path, text: str, head: str = HEAD) -> list[str]:
    with start(folder, text, head) as process:
        output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return output.splitlines()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Return the output of a program that kills its tracing process, forks, and traces from many threads."""
    return output_of(tmp_path_factory.mktemp("served"), SERVES)


def test_after_its_death_the_next_launch_has_a_new_process(served):
    *output, last = served[:-5]
    assert not output or "ended unexpectedly (signal 9" in output[0]
    assert last == "[3.0, 3.0, 3.0, 3.0] True"


def test_a_forked_child_has_a_separate_process(served):
    assert (served[-5], served[-2]) == ("[5.0, 5.0, 5.0, 5.0] True True", "[6.0, 6.0, 6.0, 6.0] True")


def test_traces_are_in_files_that_go_with_their_launches(served):
    assert served[-4:-2] == ["20", "5"]


def test_launches_of_several_threads_are_recorded_one_at_a_time(served):
    assert served[-1] == "8 True"


def test_numba_may_be_imported_while_launches_are_recorded(tmp_path):
    assert output_of(tmp_path, INSIDE, "") == ["[9.0, 9.0, 9.0, 9.0]"]


def test_ctrl_c_comes_through_and_ends_the_process_that_traces(tmp_path):
    with start(tmp_path, ENDLESS) as process, killed_in_the_end(process):
        worker = int(process.stdout.readline())
        assert process.stdout.readline() == "running\n"
        assert process.stderr.readline().startswith("tilescope: endless has run for")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (0, "interrupted\n[7.0, 7.0, 7.0, 7.0]\n"), errors
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
