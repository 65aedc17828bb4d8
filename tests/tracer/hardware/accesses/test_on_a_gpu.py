"""The accesses of launches on a real GPU, recorded by the project's own command."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

from tilescope.kernels.scenarios.catalogue import scenarios
from tilescope.tracer.model.trace import Op
from tilescope.tracer.storage.trace_file import load

SMALL = {
    "m": 20,
    "k": 24,
    "n": 17,
    "count": 200,
    "num_blocks": 3,
    "threads": 64,
    "rows": 40,
    "cols": 33,
    "bins": 16,
}
FITTING = SMALL | {"m": 32, "k": 16, "n": 32}  # of kernels that check nothing against the edges
EQUAL = ("accesses", "values", "counters", "results")


def has_device():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not has_device(), reason="there is no CUDA device")]


def record(specs, folder):
    """Run `measure --accesses`; return its output by scenario, and the traces that it writes."""
    command = [sys.executable, "-m", "tilescope", "measure", "--accesses", *specs, "--output", str(folder)]
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900)
    assert done.returncode == 0, done.stderr
    results = {}
    for part in done.stdout.strip().split("\n\n"):
        head, *lines = part.splitlines()
        results[head.partition(":")[0]] = {line.split()[0]: " ".join(line.split()[1:]) for line in lines}
    return results, {name: load(lines["saved"].removeprefix("as ")) for name, lines in results.items()}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Measure every Numba kernel outside the pitfalls; return the reports and the traces."""
    chosen = [
        scenario
        for scenario in scenarios()
        if not scenario.pitfall and scenario.engine == "cuda" and scenario.cuda_c is None
    ]
    specs = []
    for item in chosen:
        sizes = FITTING if "side" in (p.name for p in item.parameters) else SMALL
        values = ",".join(f"{p.name}={sizes[p.name]}" for p in item.parameters if p.name in sizes)
        specs.append(f"{item.name}:{values}" if values else item.name)
    return record(specs, tmp_path_factory.mktemp("accesses"))


def test_every_kernel_outside_the_pitfalls_behaves_on_a_gpu_as_in_the_simulator(sound):
    output, _ = sound
    differing = {
        (name, label): lines[label]
        for name, lines in output.items()
        for label in EQUAL
        if not lines[label].startswith("equal")
    }
    assert differing == {}
    assert all(lines["NumPy"].startswith("equals NumPy") for lines in output.values())


def test_stores_in_the_measured_order_leave_the_memory_of_the_gpu(sound):
    output, _ = sound
    assert {
        name
        for name, lines in output.items()
        if not lines["replayed"].startswith("the stores in this order give the GPU's results")
    } == set()


def test_a_counter_of_atomics_rises_by_one_at_each_of_them(sound):
    trace = sound[1]["count-atomic"]
    assert trace.value.tolist() == list(range(1, len(trace) + 1))


def test_barriers_part_the_phases_of_a_block(sound):
    trace = sound[1]["sum-sequential"]
    for block in np.unique(trace.block):
        phases = trace.phase[trace.block == block]
        assert (np.diff(phases.astype(int)) >= 0).all()


def test_a_racing_counter_loses_additions_and_is_named_as_a_race(tmp_path):
    output, traces = record(["count-racing"], tmp_path)
    lines, trace = output["count-racing"], traces["count-racing"]
    assert lines["accesses"].startswith("equal")
    assert lines["NumPy"].startswith("differs from NumPy")
    assert lines["results"].startswith("equal") or "It is a race" in lines["results"]
    stores = trace.value[trace.op == Op.STORE]
    assert 1 <= stores.max() < 1024 and len(stores) == 1024
