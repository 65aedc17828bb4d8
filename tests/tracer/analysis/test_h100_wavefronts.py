"""Wavefronts of shared memory, of kernels as they are written, against those of an H100 (tests/data/h100_more.json)."""

from __future__ import annotations

import pytest

from compiled_counts import recorded_counters, recorded_launches
from engines import ignore_progress, limit_accesses
from tilescope.tracer.analysis.counters import counters_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.compiled.driver import engine
from tilescope.tracer.model.launch import Launch
from tilescope.tracer.simulator import numba_patch

MEASURED = recorded_counters()
# The compiler left the loads, the stores or both as they are written.
KERNELS = [
    "shared_row", "shared_column", "shared_conflicts", "shared_padded", "shared_double", "matmul_tiled",
    "matmul_tiled whole", "matmul_tiled_double", "reduce_shared", "reduce_divergent", "stencil_shared", "scan_block",
    "dynamic_shared",
]  # fmt: skip


def simulated(launch: Launch) -> dict[str, int]:
    trace = numba_patch.run(launch, ignore_progress)
    return counters_of(trace, requests_of(trace)).total


def compiled(launch: Launch) -> dict[str, int]:
    trace = engine.run_compiled(launch, ignore_progress)
    return counters_of(trace, requests_of(trace)).total


def compiled_without_a_trace(launch: Launch) -> dict[str, int]:
    return engine.run_compiled(limit_accesses(launch, 0), ignore_progress).totals


@pytest.mark.parametrize("count", [simulated, compiled, compiled_without_a_trace])
@pytest.mark.parametrize("name", KERNELS)
def test_shared_memory_takes_the_wavefronts_that_an_h100_counted(tmp_path, name, count):
    total, measured = count(recorded_launches([name], tmp_path)[0].launch), MEASURED[name]
    counters = [(f"shared_{kind}_instructions", f"shared_{kind}_wavefronts") for kind in ("load", "store")]
    left = [wavefronts for counter, wavefronts in counters if total[counter] == measured[counter]]
    assert left
    assert {name: total[name] for name in left} == {name: measured[name] for name in left}
