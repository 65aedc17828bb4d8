"""What is saved while a program goes on: nothing is lost however it ends, and it sees nothing of us."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from patience import PATIENCE
from programs import COPY, HEAD, run_tilescope
from tilescope.app.cli.programs.behind_program import BackgroundWriter
from tilescope.tracer.storage.trace_file import load

LARGE = (
    HEAD
    + """
@cuda.jit
def twice(a, out):
    i = cuda.grid(1)
    out[i] = 2 * a[i]

a, out = np.arange(16384, dtype=np.int32), np.zeros(16384, np.int32)
for _ in range(3):
    twice[64, 256](a, out)
    a, out = out, a
"""
)


def test_tasks_run_in_order_in_a_hidden_thread():
    done, behind, before = [], BackgroundWriter(), threading.enumerate()
    for number in range(20):
        behind.do(lambda number=number: done.append((number, threading.get_ident())), 1)
    assert {*threading.enumerate()} <= {*before}  # threads of earlier tests may end
    behind.finish()
    assert behind.is_idle
    assert [number for number, _ in done] == [*range(20)]
    assert threading.get_ident() not in {thread for _, thread in done}


def test_who_comes_waits_while_tasks_hold_more_than_there_is_room():
    go, behind = threading.Event(), BackgroundWriter(room=10)
    behind.do(go.wait, 8)
    another = threading.Thread(target=behind.do, args=(lambda: None, 8))
    another.start()
    another.join(0.2)
    assert another.is_alive()
    go.set()
    another.join(PATIENCE)
    assert not another.is_alive()
    behind.finish()


def test_failed_tasks_are_repeated_and_reported_in_the_end():
    times, behind = [], BackgroundWriter()

    def fails() -> None:
        times.append(len(times))
        raise ValueError("wrong")

    behind.do(fails, 1)
    behind.do(lambda: times.append(9), 1)
    with pytest.raises(ValueError, match="wrong"):
        behind.finish()
    assert times == [0, 9, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_has_nothing_to_do():
    done, behind = [], BackgroundWriter()
    behind.do(lambda: done.append(os.getpid()), 1)
    child = os.fork()
    if not child:
        behind.finish()
        os._exit(len(done) != 1 or not behind.is_idle)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert done == [os.getpid()]


ENDINGS = {
    "": 0,
    "raise ValueError": 1,
    "import os\nos._exit(3)": 3,
    "import os, sys\nos.execv(sys.executable, ['python', '-c', 'exit(4)'])": 4,
}


@pytest.mark.parametrize(("ending", "status"), ENDINGS.items())
def test_no_trace_is_lost_however_a_program_ends(script, tmp_path, ending, status):
    done = run_tilescope("run", str(script(LARGE + ending + "\n")), folder=tmp_path)
    assert done.returncode == status, done.stderr
    paths = sorted((tmp_path / "tilescope-traces").iterdir())
    assert [path.name for path in paths] == ["000-twice.npz", "001-twice.npz", "002-twice.npz"]
    assert [load(path).value.max() for path in paths] == [2 * 16383, 4 * 16383, 8 * 16383]


def test_no_trace_is_lost_to_ctrl_c(script, tmp_path):
    path = script(LARGE + "print('ready', flush=True)\nimport time\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "tilescope", "run", str(path)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"3 launches traced" in errors
    assert [len(load(path)) for path in sorted((tmp_path / "tilescope-traces").iterdir())] == [32768] * 3


def test_lines_come_in_the_order_of_launches_small_or_large(script, tmp_path):
    path = script(LARGE + "for _ in range(3):\n    twice[1, 32](a, out)\n    twice[64, 256](a, out)\n")
    done = run_tilescope("run", "--quiet", "--json", "lines.json", str(path), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "lines.json").read_text().splitlines()]
    assert [line["launch"] for line in lines] == [*range(9)]
    assert [line["accesses"] for line in lines] == [32768] * 3 + [64, 32768] * 3


def test_a_dash_for_the_file_of_lines_is_standard_output(script, tmp_path):
    path = script(LARGE + "twice[1, 32](a, out)\ntwice[64, 256](a, out)\nprint('done')\n")
    done = run_tilescope("run", "--quiet", "--json", "-", str(path), folder=tmp_path)
    printed, *lines = done.stdout.splitlines()
    assert (done.returncode, printed, done.stderr) == (0, "done", "")
    assert [json.loads(line)["accesses"] for line in lines] == [32768] * 3 + [64, 32768]
    assert not (tmp_path / "-").exists()


def test_large_traces_that_cannot_be_saved_are_reported_once(script, tmp_path):
    gone = "import os, shutil\nos.fork() or os._exit(0)\nos.wait()\nshutil.rmtree('tilescope-traces')\n"
    text = LARGE + gone + "for _ in range(2):\n    twice[64, 256](a, out)\nprint('on')\n"
    done = run_tilescope("run", str(script(text)), folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "on\n")
    assert done.stderr.count("Can't save") == 1 and "3 of 5 launches traced" in done.stderr


def test_a_small_trace_is_there_when_its_launch_returns(script, tmp_path):
    path = script(COPY + "import os\nprint(os.listdir('tilescope-traces'))\n")
    done = run_tilescope("run", str(path), folder=tmp_path)
    assert done.stdout == "['000-copy.npz']\n"
