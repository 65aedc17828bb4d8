"""What ends badly ends by the compiled engine as in the simulator: pitfalls are found, endless loops are cancelled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from engines import ignore_progress
from launching import Array, Schedule, launch
from patience import PATIENCE
from programs import wait_for_exit
from tilescope.kernels.scenarios.catalogue import scenarios
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.compiled.driver.row_recorder import RowRecorder
from tilescope.tracer.compiled.driver.signals import delay_signals
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.model.launch import Launch, encode
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.processes.process_client import RunCancelledError
from tilescope.tracer.run import engine
from tilescope.tracer.run.worker_client import Worker

# Block 0 ends, so that there is progress to wait for; the threads of block 1 never do.
ENDLESS = """
@cuda.jit
def kernel(a):
    x = a[0]
    while cuda.blockIdx.x == 1 and x >= 0:
        x += 1
        if x > 100:
            x = 1
    a[0] = x
"""
LOOPS = (
    "while x >= 0:\n    x = (x + 1) % 100",
    "for k in range(1 << 62):\n    x = (3 * x + k) % 101",
    "while spin(x) > 0:\n    pass",
    "while cuda.any_sync(0, x >= 0):\n    x += 0",
)
# Where threads take turns, some of these are on stacks of their own when the signal comes, others wait.
WAITS = (
    LOOPS[0],
    "while cuda.atomic.add(a, 1, 1) >= 0:\n    pass",
    "while True:\n    cuda.syncthreads()\n    a[1] += 1",
)


def endless(folder: Path) -> Launch:
    return launch(folder, ENDLESS, (Array((2,), "int64"),), (2, 1, 1), engine="compiled", resident=1)


@pytest.mark.parametrize("scenario", [s for s in scenarios() if s.pitfall], ids=lambda s: s.name)
@pytest.mark.parametrize("schedule", ["lockstep", "sequential"])
def test_both_engines_report_a_pitfall(scenario, schedule):
    launch = launch_of(scenario, {}, schedule=Schedule(schedule))
    ours, theirs = (
        engine.run(msgspec.structs.replace(launch, engine=e), ignore_progress)
        for e in ("compiled", "simulator")
    )
    results, expected = (findings_of(trace, requests_of(trace)) for trace in (ours, theirs))
    output = [
        [(f.kind, f.severity, f.message, f.count, f.moment) for f in item] for item in (results, expected)
    ]
    assert output[0] == output[1]
    assert (ours.check, ours.notice, ours.error) == (theirs.check, theirs.notice, theirs.error)
    if schedule == "sequential":
        assert ours.made_by.endswith("compiled")


def test_an_endless_loop_without_accesses_is_cancelled(tmp_path):
    worker, seen = Worker(), []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        threading.Thread(target=worker.cancel).start()

    try:
        with pytest.raises(RunCancelledError):
            worker.run(endless(tmp_path), progress)
        assert seen[0] == (1, 2)
        other = msgspec.structs.replace(endless(tmp_path), blocks=(0,))
        assert worker.run(other).error is None
    finally:
        worker.close()


def test_a_worker_in_an_endless_loop_ends_when_the_window_is_killed(tmp_path):
    (tmp_path / "launch.json").write_text(encode(endless(tmp_path)))
    window = f"""
from pathlib import Path
from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.model.launch import decode
worker = Worker()
launch = decode(Path({str(tmp_path / "launch.json")!r}).read_text())
worker.run(launch, lambda done, of: print(worker.pid, flush=True))
"""
    with subprocess.Popen([sys.executable, "-c", window], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        number = int(process.stdout.readline())
        process.kill()
    assert wait_for_exit(number)


@pytest.mark.parametrize(
    ("loop", "turns"), [*((loop, False) for loop in LOOPS), *((loop, True) for loop in WAITS)]
)
def test_a_signal_ends_any_endless_loop(tmp_path, loop, turns):
    body = "\n".join("    " + line for line in loop.split("\n"))
    spin = (
        "@cuda.jit(device=True)\ndef spin(x):\n    while x >= 0:\n        x = (x + 1) % 100\n    return x\n"
    )
    source = f"{spin}\n@cuda.jit\ndef kernel(a):\n    x = a[0]\n{body}\n    a[0] = x\n"
    kernel_launch = launch(tmp_path, source, (Array((2,), "int64"),))
    (tmp_path / "launch.json").write_text(encode(kernel_launch))
    program = f"""
import signal
from pathlib import Path
from tilescope.tracer.compiled.driver import engine
from tilescope.tracer.model.launch import decode
launch = decode(Path({str(tmp_path / "launch.json")!r}).read_text())
execute = engine.BlockRunner.run
signal.signal(signal.SIGALRM, signal.default_int_handler)
def begin(self, *blocks):
    # A timer of the system's: no thread of Python's could run while compiled code does.
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    return execute(self, *blocks)
engine.BlockRunner.run = begin
try:
    engine.run_compiled(launch, lambda done, of: None, turns={turns})
except KeyboardInterrupt:
    print("ended")
"""
    if os.name != "posix":
        pytest.skip("signals")
    command = [sys.executable, "-P", "-c", program]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment
    )
    assert (done.stdout, done.stderr) == ("ended\n", "")


def test_a_signal_is_kept_while_something_is_compiled_for_a_launch(monkeypatch):
    """LLVM calls functions of Python's, out of which nothing can be raised: what it compiles would fail instead."""
    recorder = object.__new__(RowRecorder)
    compiler = {"__name__": "numba.core.compiler"}
    exec("def compiling(call):\n    call()\n    raise RuntimeError('what comes of it')", compiler)
    interrupt = KeyboardInterrupt()
    recorder.failure, recorder._serving = None, False
    monkeypatch.setattr(
        recorder, "_serve", lambda number: compiler["compiling"](lambda: recorder.stop(interrupt))
    )
    assert recorder._on_call(0) == 1 and recorder.failure is interrupt
    recorder.failure = None
    monkeypatch.setattr(recorder, "_serve", lambda number: recorder.stop(interrupt))
    assert recorder._on_call(0) == 1 and recorder.failure is interrupt
    recorder._serving = True
    with pytest.raises(KeyboardInterrupt):
        recorder.stop(interrupt)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_first_signal_waits_for_compilation_and_a_second_one_acts_at_once():
    done = []
    with pytest.raises(KeyboardInterrupt), delay_signals():
        signal.raise_signal(signal.SIGINT)
        done.append("compiled")
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        done.append("and more")
    assert done == ["compiled", "and more"]
    with pytest.raises(KeyboardInterrupt), delay_signals():
        signal.raise_signal(signal.SIGINT)
        raise ValueError("what was compiled can't be")
