"""Kernels compiled ahead: nothing of them runs, a run that comes needs to compile nothing, and none can do harm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from launching import Array, launch
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.compiled.driver import compile as compiling
from tilescope.tracer.model.launch import Launch
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.run import precompile
from tilescope.tracer.run.engine import run
from tilescope.tracer.run.precompile import MAX_WAITING, REST, PrecompileQueue
from tilescope.tracer.run.worker_client import Worker

KERNEL = "\n@cuda.jit\ndef kernel(a):\n    i = cuda.grid(1)\n    a[i] = {} * a[i]\n"


def launch_of_source(folder: Path, source: str) -> Launch:
    text = launch(folder, source, (Array((8,), fill="arange"),), block=(8, 1, 1), engine="compiled")
    return msgspec.structs.replace(text, kernel=f"{folder / 'kernels.py'}:kernel")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that Numba has compiled since, by the text of their entries."""
    results: list[str] = []
    compile_anew = compiling._compile

    def noted(program, arguments, entry, path):
        results.append(path.stem)
        return compile_anew(program, arguments, entry, path)

    monkeypatch.setattr(compiling, "_compile", noted)
    return results


def used() -> PrecompileQueue:
    """Return one of a worker that has run something."""
    built = PrecompileQueue()
    built.has_run_nothing = False
    return built


def test_a_catalogue_kernel_is_precompiled_once_when_the_worker_is_idle(compiled):
    ahead = PrecompileQueue()
    assert ahead.idle_delay() == REST
    ahead.run_next()
    assert ahead.idle_delay() is None
    del compiled[:]
    run(launch_of(find("matmul-tiled"), {"m": 32, "k": 8, "n": 8, "tile": 8}), lambda done, total: None)
    assert not compiled and used().idle_delay() is None


def test_a_run_uses_precompiled_code(tmp_path, compiled):
    ahead, (first, other) = used(), (launch_of_source(tmp_path, KERNEL.format(n)) for n in (101, 102))
    ahead.add([first, other])
    while len(ahead):
        ahead.run_next()
    assert len(compiled) == 3 and compiled[0] == ""  # the first is not kept
    trace = run(other, lambda done, total: None)
    assert len(compiled) == 3
    assert trace.value is not None and trace.value[trace.op == 1].tolist() == [102 * n for n in range(8)]


def test_cached_kernels_are_not_precompiled(tmp_path, compiled):
    first, other = (launch_of_source(tmp_path, KERNEL.format(n)) for n in (108, 109))
    run(first, lambda done, total: None)
    ahead = used()
    ahead.add([first, other])
    ahead.run_next()
    assert len(ahead) == 1 and len(compiled) == 1
    ahead.run_next()
    assert len(ahead) == 1 and compiled[1:] == [""]
    ahead.run_next()
    assert not len(ahead) and len(compiled) == 3


def test_a_newer_request_precedes_older_ones_and_the_oldest_are_dropped(tmp_path, monkeypatch):
    order: list[Launch] = []
    monkeypatch.setattr(precompile, "_compile", lambda wish, *, keep: order.append(wish))
    ahead, wishes = (
        used(),
        [launch_of_source(tmp_path, KERNEL.format(103 + n)) for n in range(MAX_WAITING + 2)],
    )
    ahead.add(wishes[:-2])
    ahead.add([wishes[-1], wishes[2], wishes[-2]])
    assert len(ahead) == MAX_WAITING
    for _ in range(5):
        ahead.run_next()
    assert order[1:] == [wishes[n] for n in (-1, 2, -2, 0)]  # after one that is not kept
    ahead.add([])
    assert not len(ahead)


@pytest.mark.parametrize(
    "source",
    ["def kernel(:\n", "raise SystemExit(3)\n", "while True:\n    pass\n", "other = 3\n", "print('loud')\n"],
)
def test_a_file_without_a_kernel_does_no_harm(tmp_path, capsys, source):
    ahead = used()
    ahead.add([launch_of_source(tmp_path, source)])
    while len(ahead):
        ahead.run_next()
    assert capsys.readouterr() == ("", "")


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    worker.start()
    yield worker
    worker.close()


def test_a_worker_answers_runs_as_before(worker: Worker, tmp_path: Path):
    worker.compile_ahead(
        [launch_of_source(tmp_path, KERNEL.format(n)) for n in (105, 106)]
        + [launch_of_source(tmp_path, "x = (\n")]
    )
    launched = launch_of_source(tmp_path, KERNEL.format(106))
    trace = worker.run(launched)
    assert trace.value is not None and trace.value[trace.op == 1].tolist() == [106 * n for n in range(8)]
    worker.compile_ahead([])
    assert len(worker.run(launch_of_source(tmp_path, KERNEL.format(107)))) == 16
