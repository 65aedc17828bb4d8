"""The worker process as the window uses it: it reports, prints, fails, is cancelled, dies, and goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from launching import Array, launch
from patience import PATIENCE
from programs import wait_for_exit
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.launch import Launch
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.processes.process_client import RunCancelledError
from tilescope.tracer.run import worker_client
from tilescope.tracer.run.worker import PERIOD, Printed, reporter
from tilescope.tracer.run.worker_client import Worker, WorkerError
from tilescope.tracer.run.worker_events import Output, Progress, WorkerMessage
from tilescope.tracer.storage.trace_file import load

ARRAY = (Array((8,), fill="arange"),)
DOUBLE = """
import os
print("pid", os.getpid())

@cuda.jit
def kernel(a):
    i = cuda.grid(1)
    a[i] = 2 * a[i]
"""
ENDLESS = DOUBLE + "    print('endless')\n    while True:\n        pass\n"


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """One warm worker: what a test does to it must not harm the next."""
    worker = Worker()
    worker.start()
    yield worker
    worker.close()


def double(folder: Path, source: str = DOUBLE, blocks: int = 4) -> Launch:
    """Return the launch of a kernel over 8 elements, in blocks of 2, one after the other."""
    return launch(folder, source, ARRAY, grid=(blocks, 1, 1), block=(2, 1, 1), resident=1)


def run(worker: Worker, launch: Launch) -> int:
    """Run `double` and return the number of the process that did it."""
    results: list[str] = []
    trace = worker.run(launch, output=results.append)
    assert trace.value is not None
    assert trace.value[trace.op == 1].tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    return int("".join(results).split()[1])


def in_thread(worker: Worker, launch: Launch, then: Callable[[int], None]) -> BaseException:
    """Run a launch in a thread, call `then(process number)` once its kernel runs, and return what `run` raised."""
    results, started, raised = [], threading.Event(), []

    def listen(text: str) -> None:
        results.append(text)
        if "endless" in text:
            started.set()

    def work() -> None:
        try:
            worker.run(launch, output=listen)
        except (RunCancelledError, WorkerError) as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(PATIENCE)
    then(int("".join(results).split()[1]))
    thread.join(PATIENCE)
    assert not thread.is_alive()
    return raised[0]


def test_matmul_is_returned_checked_and_leaves_no_file(worker: Worker):
    launch = launch_of(find("matmul-tiled"), {"m": 32, "k": 16, "n": 32, "tile": 8})
    results: list[tuple[int, int]] = []
    trace = worker.run(launch, lambda done, total: results.append((done, total)))
    assert trace.check is not None and trace.check.equal
    assert trace.kernel == "tiled" and trace.grid == (4, 4, 1)
    assert results[-1] == (16, 16) and results == sorted(results)
    assert not list(worker._folder.glob("*.trace"))


def test_process_stays_warm(worker: Worker, tmp_path: Path):
    assert run(worker, double(tmp_path)) == run(worker, double(tmp_path))


def test_prints_arrive_in_order_and_harm_nothing(worker: Worker, tmp_path: Path):
    source = "import os\nos.write(1, b'{}\\n')\n" + DOUBLE + "    print('thread', i)\n"
    results: list[str] = []
    trace = worker.run(double(tmp_path, source), output=results.append)
    assert len(trace) == 16
    assert "".join(results).splitlines()[1:] == [f"thread {i}" for i in range(8)]


def test_prints_of_odd_text_arrive(worker: Worker, tmp_path: Path):
    results: list[str] = []
    worker.run(double(tmp_path, DOUBLE + "print('ä\\ud800', end='')\n"), output=results.append)
    assert results[-1] == "ä?"


def test_module_that_reads_input_finds_none(worker: Worker, tmp_path: Path):
    with pytest.raises(WorkerError, match="EOFError"):
        worker.run(double(tmp_path, DOUBLE + "input()\n"))


def test_kernel_refused_by_numba_is_one_sentence(worker: Worker, tmp_path: Path):
    with pytest.raises(
        WorkerError, match=r"kernels.py:\d+: Numba can't compile kernel .* a GPU has no input\(\)"
    ):
        worker.run(double(tmp_path, DOUBLE + "    input()\n"))


def test_kernel_that_raises_gives_the_trace_up_to_there(worker: Worker, tmp_path: Path):
    source = DOUBLE.replace("    a[i] =", "    if i == 6:\n        raise KeyError\n    a[i] =")
    trace = worker.run(double(tmp_path, source))
    assert trace.error is not None
    assert (trace.error.type, trace.error.block, trace.error.thread) == ("KeyError", (3, 0, 0), (0, 0, 0))
    assert len(trace) == 12


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def kernel(:\n", ["kernels.py", "invalid syntax"]),
        ("import no_such_module\n", ["kernels.py", "no_such_module"]),
        ("raise SystemExit('enough')\n", ["SystemExit", "enough"]),
        ("other = 3\n", ["kernels.py", "kernel"]),
        ("@cuda.jit\ndef kernel(a, b):\n    pass\n", ["2 arguments", "not 1"]),
    ],
)
def test_missing_launch_is_one_sentence_and_the_process_continues(
    worker: Worker, tmp_path: Path, source: str, words: list[str]
):
    before = run(worker, double(tmp_path))
    with pytest.raises(WorkerError) as raised:
        worker.run(double(tmp_path, source))
    assert all(word in str(raised.value) for word in words), raised.value
    assert "\n" not in str(raised.value) and "Traceback" not in str(raised.value)
    assert run(worker, double(tmp_path)) == before


def test_syntax_error_names_its_line(worker: Worker, tmp_path: Path):
    built = double(tmp_path, "\n\ndef kernel(:\n")
    line = built.source.splitlines().index("def kernel(:") + 1
    with pytest.raises(WorkerError, match=rf"\b{line}\b"):
        worker.run(built)


def test_array_beyond_the_memory_is_one_sentence(worker: Worker, tmp_path: Path):
    with pytest.raises(WorkerError, match="memory; choose a smaller size"):
        worker.run(launch(tmp_path, DOUBLE, (Array((1 << 60,)),)))


def test_endless_kernel_is_cancelled_and_the_next_run_has_a_new_process(worker: Worker, tmp_path: Path):
    before = run(worker, double(tmp_path))
    error = in_thread(worker, double(tmp_path, ENDLESS), lambda process: worker.cancel())
    assert isinstance(error, RunCancelledError)
    assert wait_for_exit(before)
    assert run(worker, double(tmp_path)) != before


def test_cancel_without_a_run_changes_nothing(worker: Worker, tmp_path: Path):
    before = run(worker, double(tmp_path))
    worker.cancel()
    assert run(worker, double(tmp_path)) == before


def test_killed_process_is_reported_and_the_next_run_works(worker: Worker, tmp_path: Path):
    error = in_thread(worker, double(tmp_path, ENDLESS), lambda process: os.kill(process, signal.SIGTERM))
    assert isinstance(error, WorkerError)
    assert "ended unexpectedly" in str(error) and "next run starts a new one" in str(error)
    if os.name == "posix":
        assert f"signal {signal.SIGTERM:d}" in str(error)
    run(worker, double(tmp_path))


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_process_killed_while_idle_is_replaced_silently(worker: Worker, tmp_path: Path):
    before = run(worker, double(tmp_path))
    os.kill(before, signal.SIGKILL)
    assert wait_for_exit(before)
    assert run(worker, double(tmp_path)) != before


def test_segfault_is_reported_and_the_next_run_works(worker: Worker, tmp_path: Path):
    crash = DOUBLE + "import ctypes\nctypes.string_at(0)\n"
    with pytest.raises(WorkerError, match="ended unexpectedly"):
        worker.run(double(tmp_path, crash))
    run(worker, double(tmp_path))


def test_callback_that_raises_ends_the_run_and_not_the_next(worker: Worker, tmp_path: Path):
    def refuse(text: str) -> None:
        raise RuntimeError(text)

    with pytest.raises(RuntimeError, match="pid"):
        worker.run(double(tmp_path), output=refuse)
    run(worker, double(tmp_path))


def test_runs_of_two_threads_do_not_mix(worker: Worker, tmp_path: Path):
    scenario, lengths = find("matmul-naive-col-on-x"), {}

    def work(size: int) -> None:
        trace = worker.run(launch_of(scenario, {"m": size, "k": size, "n": size}))
        lengths[size] = len(trace)

    threads = [threading.Thread(target=work, args=(size,)) for size in (4, 8, 12, 16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert lengths == {n: 2 * n**3 + n**2 for n in (4, 8, 12, 16)}


def test_close_cancels_ends_the_process_and_removes_the_folder(tmp_path: Path):
    worker, numbers = Worker(), []

    def close(process: int) -> None:
        numbers.append(process)
        worker.close()

    assert isinstance(in_thread(worker, double(tmp_path, ENDLESS), close), RunCancelledError)
    assert wait_for_exit(numbers[0])
    assert not worker._folder.exists()
    with pytest.raises(RunCancelledError):
        worker.run(double(tmp_path))
    worker.close()


def test_process_that_can_not_start_is_reported_with_its_last_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(worker_client, "COMMAND", (sys.executable, "-c", "raise SystemExit('no numba here')"))
    worker = Worker()
    with pytest.raises(WorkerError, match="exit code 1: no numba here"):
        worker.run(double(tmp_path))
    worker.close()


def test_missing_program_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_client, "COMMAND", (str(tmp_path / "missing"),))
    worker = Worker()
    worker.start()
    with pytest.raises(WorkerError, match="can't be started"):
        worker.run(double(tmp_path))
    worker.close()


@pytest.mark.parametrize("source", [DOUBLE, ENDLESS])
def test_process_and_its_files_go_when_the_window_is_killed(tmp_path: Path, source: str):
    (tmp_path / "launch.json").write_text(worker_client.encode(double(tmp_path, source)))
    window = f"""
import time
from pathlib import Path
from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.model.launch import decode
worker = Worker()
print(worker._folder, flush=True)
worker.run(decode(Path({str(tmp_path / "launch.json")!r}).read_text()), output=lambda t: print(t, end="", flush=True))
print("idle", flush=True)
time.sleep(100)
"""
    with subprocess.Popen([sys.executable, "-c", window], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder, number = Path(process.stdout.readline().strip()), int(process.stdout.readline().split()[1])
        assert folder.is_dir()
        assert process.stdout.readline() == ("endless\n" if source is ENDLESS else "idle\n")
        process.kill()
    assert wait_for_exit(number)
    assert not folder.exists() or os.name != "posix"


def test_window_process_that_just_ends_leaves_nothing(tmp_path: Path):
    (tmp_path / "launch.json").write_text(worker_client.encode(double(tmp_path)))
    window = f"""
from pathlib import Path
from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.model.launch import decode
import sys
worker = Worker()
worker.run(decode(Path({str(tmp_path / "launch.json")!r}).read_text()), output=lambda text: print(text, end=""))
print(worker._folder)
assert "numba" not in sys.modules
"""
    command = [sys.executable, "-W", "error", "-c", window]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    first, folder = result.stdout.splitlines()
    assert wait_for_exit(int(first.split()[1]))
    assert not Path(folder).exists()
    assert result.stderr == ""


def test_same_launch_gives_the_same_file_to_the_byte(worker: Worker, tmp_path: Path):
    from tilescope.tracer.storage.trace_file import save

    launch = launch_of(find("matmul-naive-row-on-x"), {"m": 8, "k": 8, "n": 8, "tile": 8})
    for name in ("one", "two"):
        save(worker.run(launch), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert np.array_equal(load(tmp_path / "one").index, worker.run(launch).index)


def test_progress_is_reported_at_most_20_times_a_second_and_at_the_end():
    sent: list[WorkerMessage] = []
    now = 0.0
    report = reporter(7, sent.append, lambda: now)
    for done in range(1, 1001):
        now += PERIOD / 10
        report(done, 1000)
    assert sent[-1] == Progress(7, 1000, 1000)
    assert 50 < len(sent) <= 102


def test_lines_are_sent_complete():
    sent: list[WorkerMessage] = []
    stream = Printed(sent.append)
    print("a", "b", file=stream)
    print("c", end="", file=stream)
    assert sent == [Output("a b\n")]
    stream.flush()
    assert sent == [Output("a b\n"), Output("c")]
