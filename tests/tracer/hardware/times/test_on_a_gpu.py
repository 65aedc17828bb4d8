"""Kernels on a real GPU, measured by the project's own command: what they compute, and what is kept of it."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys

import pytest

from integer_program import MEASURED, PROGRAM
from tilescope.kernels.scenarios.catalogue import find, scenarios
from tilescope.tracer.hardware.times.measurement import load

WRONG = {
    "matmul-tiled-row-on-x": "m=32,k=40,n=32",
    "matmul-tiled-early-return": "m=33,k=64,n=33",
    "vector-too-few-threads": "count=100000",
}


# Bytes of local memory that each rung takes a thread, in the shape in which it is measured.
SPILLED = """
import json
from tilescope.kernels.scenarios.matmul_ladder_scenarios import LADDER
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.recording.kernel_loader import create_arguments, load_kernel, set_constants

found = {}
for scenario in LADDER:
    launch = launch_of(scenario, scenario.timed[0])
    module, kernel = load_kernel(launch)
    set_constants(module, launch)
    kernel[launch.grid, launch.block](*create_arguments(launch, kernel)[0])
    found[scenario.name.removeprefix("matmul-")] = max(kernel.get_local_mem_per_thread().values())
print(json.dumps(found))
"""


def has_device():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not has_device(), reason="there is no CUDA device")]


@pytest.fixture(scope="module")
def measure(tmp_path_factory):
    """Return a function that measures scenarios in a separate process: measure(*scenarios) -> Measurement."""

    def run(*wanted):
        path = tmp_path_factory.mktemp("measured") / "measured.json"
        command = [sys.executable, "-m", "tilescope", "measure", *wanted, "--json", str(path)]
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
        done = subprocess.run(
            [*command, "--time-limit", "0.02"], capture_output=True, text=True, env=environment, timeout=600
        )
        assert done.returncode == 0, done.stderr
        return load(path)

    return run


@pytest.fixture(scope="module")
def sound(measure):
    """Return the rows of every kernel outside the pitfalls, at one size each."""
    names = [scenario.name for scenario in scenarios() if not scenario.pitfall and scenario.parameters]
    first = {name: find(name).parameters[0] for name in names}
    return measure(*(f"{name}:{p.name}={p.default}" for name, p in first.items())).rows


def test_every_kernel_outside_the_pitfalls_equals_numpy(sound):
    assert {row.engine for row in sound} >= {"numba-cuda", "cuda-c"}
    wrong = {row.title: row.problem or row.result for row in sound if not (row.result and row.result.equal)}
    assert not {title for title, why in wrong.items() if not str(why).startswith("cuBLAS can't be used here")}


def test_the_rungs_of_the_ladder_keep_their_local_arrays_in_registers():
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    done = subprocess.run(
        [sys.executable, "-c", SPILLED], capture_output=True, text=True, env=environment, timeout=600
    )
    assert json.loads(done.stdout) == {"column": 0, "square": 0, "wide": 0, "two-buffers": 0}, done.stderr


def test_each_kind_of_time_is_kept_with_its_samples(sound):
    for row in sound:
        if row.engine in ("numba-cuda", "cuda-c"):
            kinds = {timing.kind: timing.microseconds for timing in row.timings}
            assert kinds.keys() >= {"first-call", "kernel-cold", "kernel-warm", "call", "launch"}, row.title
            assert all(len(samples) and min(samples) > 0 for samples in kinds.values()), row.title


def test_a_wrong_kernel_is_reported_and_not_timed(measure):
    rows = [row for row in measure(*(f"{n}:{p}" for n, p in WRONG.items())).rows if not row.baseline]
    assert {row.scenario for row in rows} == WRONG.keys()
    for row in rows:
        assert row.result and not row.result.equal and not row.timings
        assert row.problem.startswith("It differs from NumPy")


def test_a_race_loses_updates_and_an_atomic_counter_none(measure):
    racing, atomic = (measure(f"{name}:num_blocks=32").rows[0] for name in ("count-racing", "count-atomic"))
    assert racing.outcomes and all(1 <= outcome < 1024 for outcome in racing.outcomes)
    assert atomic.result and atomic.result.equal


def test_the_file_names_the_device_and_its_ceilings(measure):
    measured = measure("vector-double:count=1000")
    assert measured.device.name and measured.device.driver
    assert measured.ceilings.copy_gb_per_s > 0
    assert {peak.dtype for peak in measured.ceilings.peaks} >= {"float32"}


def test_integers_match_the_measurements():
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], capture_output=True, text=True, env=environment, timeout=600
    )
    assert json.loads(done.stdout) == {k: v for k, v in MEASURED.items() if k != "device"}
