"""The quick look that spares launches the search for races: what it may say, and that it never says too much."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from engines import has_harmful_race, ignore_progress
from launching import Array, launch
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.rows import race_free_check
from tilescope.tracer.compiled.rows.race_free_check import is_race_free, scan_trace
from tilescope.tracer.findings.all_findings import findings_of
from tilescope.tracer.findings.uninitialised import uninitialised_findings
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Trace
from tilescope.tracer.run.engine import has_races, run

SINGLE = {
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
    return compiled.run_compiled(
        launch(folder, source, arrays, grid=(2, 1, 1), block=(64, 1, 1)), ignore_progress
    )


def test_race_free_launches_skip_the_search_for_races():
    trace = run(launch_of(find("matmul-tiled"), {}), ignore_progress)
    assert trace.is_race_free
    known_names, unknown = (
        findings_of(trace, requests_of(trace)) for trace in (trace, replace(trace, is_race_free=False))
    )
    assert list(map(repr, known_names)) == list(map(repr, unknown))


@pytest.mark.parametrize("line", SINGLE.values(), ids=SINGLE)
def test_independent_threads(tmp_path, line):
    trace = traced(tmp_path, line)
    assert is_race_free(trace) and not has_harmful_race(trace) and not has_races(trace)


@pytest.mark.parametrize("line", TOGETHER.values(), ids=TOGETHER)
def test_interacting_threads(tmp_path, line):
    trace = traced(tmp_path, line)
    assert not is_race_free(trace)
    assert has_races(trace) == has_harmful_race(trace)


@pytest.mark.parametrize("line", (SINGLE | TOGETHER).values(), ids=SINGLE | TOGETHER)
def test_of_large_arrays_those_that_are_only_read_are_left_out(tmp_path, line, monkeypatch):
    trace = traced(tmp_path, line)
    expected = is_race_free(trace)
    monkeypatch.setattr(race_free_check, "SMALL_TABLE", 0)
    assert is_race_free(trace) == expected


def test_views_of_the_same_bytes_are_left_to_the_search(tmp_path):
    source = """
@cuda.jit
def kernel(out):
    t = cuda.threadIdx.x
    cuda.shared.array(0, float32)[t] = t
    out[t] = cuda.shared.array(0, int32)[63 - t]
"""
    kernel_launch = launch(tmp_path, source, (Array((64,)),), block=(64, 1, 1), shared_bytes=256)
    trace = compiled.run_compiled(kernel_launch, ignore_progress)
    assert has_harmful_race(trace) and not is_race_free(trace)


@pytest.mark.parametrize("name", ["matmul-tiled", "matmul-tiled-dynamic", "transpose-tile"])
def test_the_lessons_skip_the_search(name):
    values = {"m": 32, "k": 32, "n": 32} if name.startswith("matmul") else {}
    assert is_race_free(compiled.run_compiled(launch_of(find(name), values), ignore_progress))


@pytest.mark.parametrize("line", (SINGLE | TOGETHER).values(), ids=SINGLE | TOGETHER)
def test_several_cores_give_the_same_result_as_one(tmp_path, line, monkeypatch):
    trace = traced(tmp_path, line)
    expected = scan_trace(trace)
    monkeypatch.setattr(race_free_check, "MIN_PARALLEL_ROWS", 0)
    assert [scan_trace(trace, cores) for cores in (2, 3)] == [expected, expected]


FILLED = {
    "stored by itself": "line[t] = 1; out[cuda.grid(1)] = line[t]",
    "stored before a barrier": "line[t] = 1; cuda.syncthreads(); out[cuda.grid(1)] = line[63 - t]",
    "local": "own = cuda.local.array(2, float32); own[1] = t; out[cuda.grid(1)] = own[1]",
    "local, by another number in the other block": (
        "own = cuda.local.array(2, float32); own[cuda.blockIdx.x] = t; out[cuda.grid(1)] = own[cuda.blockIdx.x]"
    ),
}
UNFILLED = {
    "nobody stores": "out[cuda.grid(1)] = line[t]",
    "stored too late": "out[cuda.grid(1)] = line[t]; line[t] = 1",
    "by the first block alone": "if cuda.blockIdx.x == 0: line[t] = 1\n    out[cuda.grid(1)] = line[t]",
    "an atomic begins with it": "cuda.atomic.add(line, t, 1)",
    "local": "own = cuda.local.array(2, float32); own[0] = t; out[cuda.grid(1)] = own[1]",
    "local, by other threads alone": (
        "own = cuda.local.array(2, float32)\n    if t: own[0] = t\n    out[cuda.grid(1)] = own[0]"
    ),
}


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("line", (FILLED | UNFILLED).values(), ids=(FILLED | UNFILLED).keys())
def test_initialised_memory_skips_the_search_for_uninitialised_reads(tmp_path, line, cores, monkeypatch):
    monkeypatch.setattr(race_free_check, "MIN_PARALLEL_ROWS", 0)
    trace = traced(tmp_path, line)
    look = scan_trace(trace, cores)
    findings = uninitialised_findings(replace(trace, is_initialised=False), requests_of(trace))
    known_names = uninitialised_findings(
        trace.with_scan_results(is_race_free=True, is_initialised=look.initialised), requests_of(trace)
    )
    assert look.initialised == (line in FILLED.values())
    assert bool(findings) == (line in UNFILLED.values())
    assert list(map(repr, known_names)) == list(map(repr, findings))
