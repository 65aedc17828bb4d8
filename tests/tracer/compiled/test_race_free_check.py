"""The quick look that spares launches the search for races: what it may say, and that it never says too much."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines import nothing, racing
from launching import Array, launch
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.rows.race_free_check import keep_apart
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.run.engine import has_races

ALONE = {
    "each its own": "out[cuda.grid(1)] = a[cuda.grid(1)]",
    "all read one": "out[cuda.grid(1)] = a[0]",
    "after a barrier": "line[t] = a[t]; cuda.syncthreads(); out[cuda.grid(1)] = line[63 - t]",
    "written by another in the next phase": "line[t] = 1; cuda.syncthreads(); line[63 - t] = 2",
    "added to its own": "out[cuda.grid(1)] += 1",
}
TOGETHER = {
    "no barrier": "line[t] = a[t]; out[cuda.grid(1)] = line[63 - t]",
    "one for all": "out[0] = t",
    "read by all, then written by one": "out[cuda.grid(1)] = a[0]; a[t // 63] = 1",
    "written by one, then read by all": "a[t + 1] = 1; out[cuda.grid(1)] = a[40]",
    "two blocks": "out[t] = t",
}


def traced(folder: Path, line: str) -> Trace:
    source = f"""
@cuda.jit
def kernel(a, out):
    line = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    {line}
"""
    arrays = (Array((65,), fill="arange"), Array((128,), fill="zeros"))
    return compiled.run_compiled(launch(folder, source, arrays, grid=(2, 1, 1), block=(64, 1, 1)), nothing)


@pytest.mark.parametrize("line", ALONE.values(), ids=ALONE)
def test_threads_that_keep_apart(tmp_path, line):
    trace = traced(tmp_path, line)
    assert keep_apart(trace) and not racing(trace) and not has_races(trace)


@pytest.mark.parametrize("line", TOGETHER.values(), ids=TOGETHER)
def test_threads_that_meet(tmp_path, line):
    trace = traced(tmp_path, line)
    assert not keep_apart(trace)
    assert has_races(trace) == racing(trace)


def test_views_of_the_same_bytes_are_left_to_the_search(tmp_path):
    source = """
@cuda.jit
def kernel(out):
    t = cuda.threadIdx.x
    cuda.shared.array(0, float32)[t] = t
    out[t] = cuda.shared.array(0, int32)[63 - t]
"""
    made = launch(tmp_path, source, (Array((64,)),), block=(64, 1, 1), shared_bytes=256)
    trace = compiled.run_compiled(made, nothing)
    assert racing(trace) and not keep_apart(trace)


@pytest.mark.parametrize("name", ["matmul-tiled", "matmul-tiled-dynamic", "transpose-tile"])
def test_the_lessons_are_spared_the_search(name):
    values = {"m": 32, "k": 32, "n": 32} if name.startswith("matmul") else {}
    assert keep_apart(compiled.run_compiled(launch_of(find(name), values), nothing))
