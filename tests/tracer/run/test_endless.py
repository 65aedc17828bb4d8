"""Kernels that never end: the worker ends them, says at which line they were, and goes on."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from launching import Array, launch
from tilescope.tracer.model.launch import EngineName, Launch
from tilescope.tracer.run import endless
from tilescope.tracer.run.endless import EndlessLaunchError, enclosing_loop, stop_if_endless
from tilescope.tracer.run.engine import run
from tilescope.tracer.run.worker_client import Worker, WorkerError, WorkerTimeoutError

LIMIT = 0.6  # seconds, in place of five
HEAD = "\n@cuda.jit\ndef kernel(a):\n    i = cuda.grid(1)\n"
FOR_EVER = HEAD + "    x = 0\n    while x >= 0:\n        x = (x + 1) & 255\n    a[i] = x\n"
TRUE = HEAD + "    while True:\n        pass\n"
NESTED = HEAD + (
    "    x = 0\n    while x >= 0:\n        for j in range(60000):\n"
    "            for k in range(60000):\n                x = (x + j * k) & 255\n    a[i] = x\n"
)
STORING = HEAD + "    k = 0\n    while a[7] >= 0:\n        a[i] = k & 7\n        k += 1\n"
AT_IMPORT = "\nn = 0\nwhile True:\n    n += 1\n" + HEAD


def launch_of_source(folder: Path, source: str, engine: EngineName = "compiled") -> Launch:
    return launch(
        folder, source, (Array((8,), "int64", "arange"),), grid=(4, 1, 1), block=(2, 1, 1), engine=engine
    )


def line_of(launch: Launch, text: str) -> int:
    return next(n for n, line in enumerate(launch.source.splitlines(), 1) if text in line)


def ended(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> EndlessLaunchError:
    """Run a launch here and return how it was ended."""
    monkeypatch.setattr(endless, "IDLE_LIMIT", LIMIT)
    monkeypatch.setattr(endless, "PERIOD", 0.1)
    file = launch.kernel.rpartition(":")[0]
    with pytest.raises(EndlessLaunchError) as raised, stop_if_endless(file, launch.source, 10.0) as report:
        run(launch, report)
    return raised.value


@pytest.mark.parametrize(("source", "loop"), [(FOR_EVER, "while x"), (NESTED, "for j in")])
def test_compiled_code_that_never_ends_names_its_loop(tmp_path, monkeypatch, source, loop):
    launched = launch_of_source(tmp_path, source)
    output = ended(launched, monkeypatch)
    line = line_of(launched, loop)
    assert re.fullmatch(
        rf"The launch has not ended after \d+ s; it was in the loop of line {line}\.", str(output)
    )
    assert (output.file, output.line) == (launched.kernel.rpartition(":")[0], line)


def test_the_simulator_names_the_line_and_its_loop(tmp_path, monkeypatch):
    launched = launch_of_source(tmp_path, FOR_EVER, "simulator")
    output = ended(launched, monkeypatch)
    assert f" the loop of line {line_of(launched, 'while x')}." in str(output)
    assert output.line in (line_of(launched, "while x"), line_of(launched, "x + 1"))


def test_a_loop_that_only_passes_names_its_line(tmp_path, monkeypatch):
    launched = launch_of_source(tmp_path, TRUE)
    assert line_of(launched, "while True") <= ended(launched, monkeypatch).line <= line_of(launched, "pass")


def test_endless_accesses_are_reported_as_a_block_that_does_not_end(tmp_path, monkeypatch):
    monkeypatch.setattr(endless, "BLOCK_LIMITS", {True: LIMIT, False: LIMIT})
    launched = launch_of_source(tmp_path, STORING)
    output = ended(launched, monkeypatch)
    assert re.match(
        r"The launch made [\d,]+ accesses without ending a block in \d+ s; it was in", str(output)
    )
    assert output.line == line_of(launched, "while a[7]")


def test_a_file_that_never_ends_by_itself_names_its_line(tmp_path, monkeypatch):
    launched = launch_of_source(tmp_path, AT_IMPORT)
    assert ended(launched, monkeypatch).line in (line_of(launched, "while True"), line_of(launched, "n += 1"))


def test_nothing_is_ended_without_a_limit_of_patience(tmp_path):
    launched = launch_of_source(tmp_path, HEAD + "    a[i] = 2 * a[i]\n")
    with stop_if_endless(launched.kernel.rpartition(":")[0], launched.source, None) as report:
        assert len(run(launched, report)) == 16


def test_enclosing_loop_is_the_innermost_with_its_first_line():
    source = "for i in r:\n    while x:\n        y = 1\n    z = 2\nw = 3\n"
    assert [enclosing_loop(source, line) for line in (1, 2, 3, 4, 5)] == [1, 2, 2, 1, 0]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    worker.start()
    yield worker
    worker.close()


def test_the_worker_reports_it_and_stays_warm(worker: Worker, tmp_path: Path):
    worker.run(launch_of_source(tmp_path, HEAD + "    a[i] = 2 * a[i]\n"))
    process = worker.pid
    launched = launch_of_source(tmp_path, FOR_EVER)
    with pytest.raises(
        WorkerTimeoutError, match=r"The launch has not ended after \d+ s; it was in the loop of line"
    ) as raised:
        worker.run(launched, patience=1.0)
    assert raised.value.launch == launched and raised.value.line == line_of(launched, "while x")
    assert worker.run(launch_of_source(tmp_path, HEAD + "    a[i] = 3 * a[i]\n")).value is not None
    assert worker.pid == process


@pytest.mark.parametrize(
    ("source", "words", "line"),
    [
        ("\n\ndef kernel(:\n", "invalid syntax", "def kernel(:"),
        ("\nx = 1\nimport no_such_module\n", "no_such_module", "import no_such"),
        ("\nother = 3\n", "must keep its name", ""),
        ("\ndef kernel(a):\n    pass\n", "write @cuda.jit above it", "def kernel"),
    ],
)
def test_a_file_without_a_launch_reports_the_line(
    worker: Worker, tmp_path: Path, source: str, words: str, line: str
):
    launched = launch_of_source(tmp_path, source)
    with pytest.raises(WorkerError, match=words) as raised:
        worker.run(launched)
    assert raised.value.file == launched.kernel.rpartition(":")[0]
    assert raised.value.line == (line_of(launched, line) if line else 0)


def test_a_kernel_that_raises_reports_the_line(worker: Worker, tmp_path: Path):
    launched = launch_of_source(
        tmp_path, HEAD + "    if i == 5:\n        raise ValueError('no')\n    a[i] = 1\n"
    )
    error = worker.run(launched).error
    assert error is not None
    assert (error.file, error.line) == (launched.kernel.rpartition(":")[0], line_of(launched, "raise"))


def test_a_function_compiled_meanwhile_is_not_mistaken_for_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts accesses is compiled when the first ones are there, which may take longer than the limit."""
    recorder = SimpleNamespace(access_count=lambda: 7, current_loop=lambda: ("kernel.py", 3))
    monkeypatch.setattr(endless.RunRecord, "latest", lambda: SimpleNamespace(recorder=recorder))
    watch = endless.LaunchWatch("kernel.py", "", endless.Bounds(idle=1e-9))
    watch.check(2, None)  # which takes in the accesses
    inside: dict[str, Any] = {
        "__name__": "numba.core.compiler",
        "look": lambda: watch.check(2, sys._getframe()),
    }
    exec("def compiling():\n    look()", inside)
    inside["compiling"]()
    with pytest.raises(EndlessLaunchError, match="in the loop of line 3"):
        watch.check(2, sys._getframe())
