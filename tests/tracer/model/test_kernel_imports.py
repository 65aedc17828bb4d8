"""Modules next to a kernel's file are imported as for a script, and a change of one gives another launch."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from launching import Array, final_contents
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.kernel_imports import imported_texts, imports_digest
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.storage.trace_cache import TraceCache

KERNEL = """
from numba import cuda
import helping
@cuda.jit
def kernel(out):
    out[0] = helping.value(2)
"""
HELPING = "from numba import cuda\nfrom deeper import power\n@cuda.jit(device=True)\ndef value(x):\n    return x * 10\n"
DEEPER = "def power(x):\n    return x\n"


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.close()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNEL)
    (tmp_path / "helping.py").write_text(HELPING)
    (tmp_path / "deeper.py").write_text(DEEPER)
    return tmp_path


def planned(folder: Path):
    """Return the launch of the kernel in a folder, as the window plans it."""
    scenario = replace(find("vector-double"), kernel=f"{folder / 'kernels.py'}:kernel")
    launch = launch_of(scenario, {})
    item = (1, 1, 1)
    return replace(launch, arguments=(Array((1,)),), scenario="", grid=item, block=item, constants={})


def test_modules_next_to_a_file_are_imported(folder):
    (folder / "unused.py").write_text("")
    assert [p.name for p in imported_texts(folder / "kernels.py", KERNEL)] == ["helping.py", "deeper.py"]
    assert imports_digest(folder / "kernels.py", "import numpy\n") == ""


@pytest.mark.parametrize("engine", ["compiled", "simulator"])
@pytest.mark.parametrize(
    ("name", "old", "new"), [("helping.py", "* 10", "* 11"), ("helping.py", "x *", "(x + 1) *")]
)
def test_a_warm_worker_sees_a_change_of_an_imported_module(worker, folder, engine, name, old, new):
    first = worker.run(replace(planned(folder), engine=engine))
    path = folder / name
    path.write_text(path.read_text().replace(old, new))
    second = worker.run(replace(planned(folder), engine=engine))
    assert final_contents(first, "out").tolist() == [20]
    assert final_contents(second, "out").tolist() == [22 if new == "* 11" else 30]


def test_a_change_of_an_imported_module_is_another_trace_for_the_cache(worker, folder, tmp_path):
    built = planned(folder)
    trace = worker.run(built)
    cache = TraceCache(tmp_path / "cache")
    cache.put(built, trace)
    assert cache.get(planned(folder)) is not None
    (folder / "deeper.py").write_text(DEEPER + "\n")
    assert cache.get(planned(folder)) is None


def test_two_folders_have_separate_modules(worker, folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    for path in folder.glob("*.py"):
        (other / path.name).write_text(path.read_text().replace("* 10", "* 7"))
    results = [final_contents(worker.run(planned(f)), "out").tolist() for f in (folder, other, folder)]
    assert results == [[20], [14], [20]]
