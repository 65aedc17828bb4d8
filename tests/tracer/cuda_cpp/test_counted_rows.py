"""Launches in CUDA C++ whose accesses are counted instead of kept: equal counters, whatever is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cuda_cpp import needs_compiler, run_file, run_text
from tilescope.tracer.analysis.counters import counters_of, totals_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.model.launch import Limits, Schedule
from tilescope.tracer.model.trace import Trace

pytestmark = needs_compiler
HOMEWORK = Path(__file__).parent / "homework"
PROGRAMS = Path(__file__).parent / "programs"
NAMES = [
    *(HOMEWORK / f"{name}.cu" for name in ("matmul", "histogram", "reduction", "warp_sum", "scan", "copies", "queue")),
    *(PROGRAMS / f"{name}.cu" for name in ("groups", "vectors", "tensors", "collectives", "references", "registers")),
]  # fmt: skip
ORDERS = (Schedule("lockstep"), Schedule("sequential"), Schedule("random", 3))

# Blocks that differ in length, diverging warps, shared and constant memory, two sizes of access, and reductions.
MIXED = """
__constant__ float weights[4] = {1, 2, 3, 4};
__global__ void mixed(float* a, double* b, int* count, int rounds) {
    __shared__ float tile[96];
    int i = blockIdx.x * 96 + threadIdx.x;
    for (int k = 0; k < rounds * (1 + blockIdx.x % 3) / 3; k++) {
        tile[threadIdx.x] = a[(i + k) % 768] * weights[k % 4];
        __syncthreads();
        if ((threadIdx.x + k) % 3) b[i] += tile[(threadIdx.x * 5) % 96];
        for (int n = 0; n < threadIdx.x % 4; n++) a[i] += 1;
        __syncthreads();
    }
    atomicAdd(count, 1);
}
int main() {
    float* a;
    double* b;
    int* count;
    cudaMalloc(&a, 768 * 4);
    cudaMalloc(&b, 768 * 8);
    cudaMalloc(&count, 4);
    cudaMemset(a, 0, 768 * 4);
    cudaMemset(b, 0, 768 * 8);
    cudaMemset(count, 0, 4);
    mixed<<<8, 96>>>(a, b, count, ROUNDS);
    cudaDeviceSynchronize();
}
"""


def total(trace: Trace) -> dict[str, int]:
    return {name: int(number) for name, number in counters_of(trace, requests_of(trace)).total.items()}


@pytest.mark.parametrize("schedule", ORDERS, ids=lambda schedule: schedule.kind)
@pytest.mark.parametrize("path", NAMES, ids=lambda path: path.stem)
def test_counted_launches_have_the_counters_of_kept_ones(path, schedule):
    kept, counted = run_file(path, schedule=schedule), run_file(path, schedule=schedule, limits=Limits(0))
    assert counted.output == kept.output or path.stem == "queue"
    assert len(counted.traces) == len(kept.traces) > 0
    for ours, theirs in zip(counted.traces, kept.traces, strict=True):
        assert len(ours) == 0 and ours.kernel == theirs.kernel
        if theirs.error is None and path.stem != "queue":  # the order decides its accesses
            assert ours.accesses == theirs.accesses
            assert total(ours) == total(theirs)


@pytest.mark.parametrize("schedule", ORDERS, ids=lambda schedule: schedule.kind)
def test_the_cap_changes_no_counter(tmp_path, schedule):
    text = MIXED.replace("ROUNDS", "300")
    (kept,) = run_text(tmp_path, text, schedule=schedule).traces
    assert kept.accesses == len(kept) > 300_000
    for accesses in (0, 70_000, 200_000, 300_000, 10_000_000):
        (capped,) = run_text(tmp_path, text, schedule=schedule, limits=Limits(accesses)).traces
        assert len(capped) <= accesses
        assert capped.accesses == kept.accesses
        assert total(capped) == totals_of(kept, requests_of(kept))
        assert np.array_equal(capped.blocks, kept.blocks)
        is_recorded = np.isin(kept.block, capped.recorded)
        for name in ("block", "thread", "phase", "op", "site", "index"):
            ours, theirs = [
                getattr(trace, name)[order_of(trace, mask)]
                for trace, mask in ((capped, None), (kept, is_recorded))
            ]
            assert np.array_equal(ours, theirs), f"{name}, at most {accesses}"


@pytest.mark.parametrize("accesses", [0, 100_000])
def test_an_error_ends_a_launch_that_is_counted(tmp_path, accesses):
    text = MIXED.replace("ROUNDS", "300").replace("atomicAdd(count, 1);", "__trap();")
    (trace,) = run_text(tmp_path, text, limits=Limits(accesses)).traces
    assert trace.error is not None and trace.error.type == "Trap"
    assert len(trace) <= accesses


def order_of(trace: Trace, mask: np.ndarray | None) -> np.ndarray:
    """The accesses by block and thread, in the order of each thread."""
    rows = np.arange(len(trace)) if mask is None else np.flatnonzero(mask)
    return rows[np.lexsort((rows, trace.thread[rows], trace.block[rows]))]
