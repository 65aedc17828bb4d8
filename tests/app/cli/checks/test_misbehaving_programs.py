"""Programs that crash, launch too much or write too little: reported in a sentence, bounded, and ended."""

from __future__ import annotations

import json
import os
import sys

import pytest

from programs import COPY, HEAD, RACE, run_tilescope

CRASH = """
class Unmapped:
    __array_interface__ = {"data": (8, False), "shape": (1,), "typestr": "<i4", "version": 3}

@cuda.jit
def crash(out):
    out[0] = 1

crash[1, 1](np.asarray(Unmapped()))
"""
posix = pytest.mark.skipif(os.name != "posix", reason="there is fork")


@posix
def test_a_kernel_that_crashes_is_reported_with_earlier_findings(script, tmp_path):
    done = run_tilescope("check", str(script(RACE + CRASH)), folder=tmp_path)
    assert done.returncode == 1
    assert "tilescope: signal 11 ended the program in its kernel crash." in done.stderr
    assert ": error: race: " in done.stdout


@posix
def test_a_program_that_a_signal_ends_outside_a_kernel_ends_check_alike(script, tmp_path):
    done = run_tilescope("check", str(script(COPY + "import os\nos.abort()\n")), folder=tmp_path)
    assert done.returncode == -6
    assert done.stdout == "no findings before it ended\n"
    assert "tilescope: signal 6 ended the program." in done.stderr


def test_some_blocks_of_a_too_large_launch_run_and_it_is_reported(script, tmp_path):
    text = """
        import numpy as np
        from numba import cuda

        @cuda.jit
        def mark(out):
            i = cuda.blockIdx.x
            if i < out.size:
                out[i] = 1

        out = np.zeros(10_000_000, np.int8)
        mark[2**31 - 1, 1](out)
        print(int(out.sum()))
    """
    done = run_tilescope("run", "--quiet", "--json=lines.json", str(script(text)), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{1 + (10_000_000 - 1) * 4095 // (2**31 - 2)}\n"
    assert (
        "mark was launched with 2,147,483,647 blocks, too many to run here. 4,096 of them ran" in done.stderr
    )
    (launch,) = map(json.loads, (tmp_path / "lines.json").read_text().splitlines())
    assert launch["grid"] == [2**31 - 1, 1, 1]
    assert "part" in [finding["kind"] for finding in launch["findings"]]


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        ("[2**31, 1]", "2,147,483,648 along x of the grid, but a GPU takes at most 2,147,483,647"),
        ("[1, 10**9]", "1,000,000,000 threads in a block, but a GPU takes at most 1,024"),
        ("[1, 0]", "0 threads along x of the block, but a GPU needs at least 1"),
    ],
)
def test_a_launch_that_no_gpu_takes_is_refused(script, tmp_path, launch, message):
    path = script(COPY.replace("copy[2, 32]", f"copy{launch}"))
    done = run_tilescope("run", "--quiet", str(path), folder=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr.splitlines()[-1]


def test_blocks_all_runs_every_block_of_a_launch(script, tmp_path):
    path = script(COPY)
    some = run_tilescope("run", "--quiet", "--blocks", "1", str(path), folder=tmp_path)
    every = run_tilescope("run", "--quiet", "--blocks", "all", str(path), folder=tmp_path)
    assert (some.returncode, every.returncode) == (0, 0)
    wrong = run_tilescope("run", "--blocks", "some", str(path), folder=tmp_path)
    assert wrong.returncode == 2
    assert "must be block numbers such as 0,5" in wrong.stderr


def test_a_thread_that_goes_round_a_barrier_for_ever_is_detected(script, tmp_path):
    kernel = (
        HEAD
        + """
@cuda.jit
def kernel(a):
    t = cuda.threadIdx.x
    while t == 0:
        cuda.syncthreads()
    a[t] = 1

kernel[1, 32](np.zeros(32, np.int32))
"""
    )
    done = run_tilescope("check", "--engine", "compiled", str(script(kernel)), folder=tmp_path)
    assert done.returncode == 1
    assert "1 launch does not end" in done.stdout


def test_threads_that_a_program_leaves_running_are_waited_for(script, tmp_path):
    late = """
import threading, time
def later():
    time.sleep(0.3)
    copy[2, 32](a, out)
threading.Thread(target=later).start()
"""
    done = run_tilescope(
        "check", str(script(COPY.replace("copy[2, 32](a, out)\n", "") + late)), folder=tmp_path
    )
    assert (done.returncode, done.stdout) == (0, "no findings\n")


@pytest.mark.parametrize(
    "trick",
    ["sys.stdout = sys.stderr = None", "sys.stdout.close(); import builtins; builtins.print = None"],
)
def test_a_program_may_close_or_replace_what_it_likes(script, tmp_path, trick):
    done = run_tilescope("check", str(script(f"{RACE}{trick}\n")), folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert ": error: race: " in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="names of files that are no text")
def test_a_program_whose_name_is_no_text_is_refused_in_a_sentence(tmp_path):
    name = os.fsdecode(b"\xff.py")
    (tmp_path / name).write_text(COPY)
    for command in ("run", "check"):
        done = run_tilescope(command, name, folder=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith("tilescope: the path ") and "is not UTF-8" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp437"])
def test_what_a_terminal_has_no_letters_for_is_written_with_those_it_has(tmp_path, monkeypatch, encoding):
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    (tmp_path / "a.py").write_text(COPY)
    done = run_tilescope("counters", "vector-increment:count=32", folder=tmp_path, encoding=encoding)
    assert done.returncode == 0, done.stderr
    assert "1.0x" in done.stdout or "1.0×" in done.stdout
