"""Counters against what Nsight Compute read on an H200 (tests/data), and against a recount of the accesses."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from folders import DATA
from launching import Array, Scalar
from launching import trace as trace_kernel
from tilescope.kernels.scenarios import catalogue
from tilescope.tracer.analysis.counters import Counters, counters_of, totals_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.model.counter_names import NAMES
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.model.trace import Op, Trace
from traces import BUFFERS, Programs, programs, trace_of

H200 = json.loads((DATA / "h200_counters.json").read_text(encoding="utf-8"))
SMALL = {entry["case"]: entry for entry in H200["small"]}

TRANSPOSE = """
WIDTH = {width}

@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array((32, WIDTH), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = a[y, x]
    cuda.syncthreads()
    out[cuda.blockIdx.x * 32 + ty, cuda.blockIdx.y * 32 + tx] = tile[tx, ty]
"""
TRANSPOSE_NAIVE = """
@cuda.jit
def kernel(a, out):
    x, y = cuda.grid(2)
    out[x, y] = a[y, x]
"""
COPY = """
@cuda.jit
def kernel(a, out, stride):
    i = cuda.grid(1)
    out[i] = a[i * stride]
"""
BANKS = """
@cuda.jit
def kernel(out, stride):
    words = cuda.shared.array({length}, {dtype})
    t = cuda.threadIdx.x
    for i in range(t, {length}, cuda.blockDim.x):
        words[i] = i
    cuda.syncthreads()
    out[cuda.grid(1)] = words[t * stride % {length}]
"""
HISTOGRAM = """
@cuda.jit
def kernel(values, bins):
    for k in range(cuda.grid(1), values.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(bins, values[k], 1)
"""
REDUCTION = """
@cuda.jit
def kernel(index, out):
    cuda.atomic.add(out, index[cuda.threadIdx.x], 1)
"""
ATOMIC = """
@cuda.jit
def kernel(index, out, old):
    t = cuda.threadIdx.x
    old[t] = cuda.atomic.add(out, index[t], 1)
"""
SHARED_REDUCTION = """
@cuda.jit
def kernel(index, out):
    bins = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    bins[t] = 0
    bins[t + 32] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, index[t], 1)
    cuda.syncthreads()
    out[t] = bins[t]
"""
OTHER_TYPES = "from numba import complex64, complex128, int16, uint8\n"


def counted(trace: Trace) -> Counters:
    return counters_of(trace, requests_of(trace))


def check(total: dict[str, int], hardware: dict[str, Any]) -> None:
    """Compare every counter but bytes, which were not read; one that a row lacks was 0."""
    expected = {name: hardware.get(name, 0) for name in NAMES if not name.endswith("_bytes")}
    assert {name: total[name] for name in expected} == expected


def matmul(kernel: str, m: int, k: int, n: int) -> Trace:
    from tilescope.tracer.simulator.numba_patch import run

    scenario = catalogue.find("matmul-" + kernel.replace("_", "-"))
    return run(launch_of(scenario, {"m": m, "k": k, "n": n, "tile": 16}), lambda done, total: None)


@pytest.mark.parametrize("size", [(64, 64, 64), (5, 23, 7)])
@pytest.mark.parametrize("kernel", ["naive_row_on_x", "naive_col_on_x"])
def test_naive_matmul_counts_as_the_hardware(kernel: str, size: tuple[int, int, int]):
    check(counted(matmul(kernel, *size)).total, H200["launches"][f"{kernel} {size[0]}x{size[1]}x{size[2]}"])


@pytest.mark.parametrize("size", [(64, 64, 64), (5, 23, 7)])
def test_tiled_matmul_counts_as_the_hardware_but_for_loads_that_the_compiler_merged(
    size: tuple[int, int, int],
):
    """The compiler loads four neighbours of a row of A's tile at once, 16 bytes, in two wavefronts."""
    trace = matmul("tiled", *size)
    requests = requests_of(trace)
    total = counters_of(trace, requests).total
    hardware = H200["launches"][f"tiled {size[0]}x{size[1]}x{size[2]}"]
    merged = [b.name for b in trace.buffers].index("tile_a")
    own = (requests.buffer == merged) & (requests.op == Op.LOAD)
    loads, wavefronts = int(own.sum()), int(requests.wavefronts[own].sum())
    total["shared_load_instructions"] += loads // 4 - loads
    total["shared_load_wavefronts"] += 2 * loads // 4 - wavefronts
    check(total, hardware)


def test_a_tile_of_16_reads_each_element_of_global_memory_16_times_less_often():
    naive, tiled = (matmul(kernel, 32, 32, 32) for kernel in ("naive_row_on_x", "tiled"))
    for number in (0, 1):
        ends = [(counted(t), requests_of(t).end) for t in (naive, tiled)]
        assert [counters.mean_reads(number, end) for counters, end in ends] == [32, 2]


@pytest.mark.parametrize(
    ("case", "source"),
    [
        ("transpose_naive", TRANSPOSE_NAIVE),
        ("transpose_tile", TRANSPOSE.format(width=32)),
        ("transpose_padded", TRANSPOSE.format(width=33)),
    ],
)
def test_transpose_counts_as_the_hardware(tmp_path: Path, case: str, source: str):
    arguments = (Array((64, 64), "float32", "random"), Array((64, 64), "float32"))
    trace = trace_kernel(tmp_path, source, arguments, (2, 2, 1), (32, 32, 1))
    check(counted(trace).total, H200["launches"][f"{case} 64x64"])


@pytest.mark.parametrize("stride", [1, 2, 8, 32])
def test_strided_copy_counts_as_the_hardware(tmp_path: Path, stride: int):
    arguments = (Array((65536,), "float32"), Array((1024,), "float32"), Scalar(stride))
    trace = trace_kernel(tmp_path, COPY, arguments, (4, 1, 1), (256, 1, 1))
    check(counted(trace).total, H200["launches"][f"strided_copy {stride}"])


@pytest.mark.parametrize("stride", [1, 2, 32, 33, 0])
def test_bank_conflicts_count_as_the_hardware(tmp_path: Path, stride: int):
    source = BANKS.format(length=32 * 33, dtype="float32")
    trace = trace_kernel(tmp_path, source, (Array((256,), "float32"), Scalar(stride)), block=(256, 1, 1))
    check(counted(trace).total, H200["launches"][f"bank_stride {stride}"])


def test_histogram_in_one_bin_counts_as_the_hardware(tmp_path: Path):
    arguments = (Array((4096,), "int32"), Array((256,), "int32"))
    trace = trace_kernel(tmp_path, HISTOGRAM, arguments, (8, 1, 1), (256, 1, 1))
    check(counted(trace).total, H200["launches"]["histogram_global all-in-one-bin"])


@pytest.mark.parametrize("case", [c for c in SMALL if c.startswith("bank")])
def test_banks_of_every_type_count_as_the_hardware(tmp_path: Path, case: str):
    _, dtype, stride = case.split()
    source = OTHER_TYPES + BANKS.format(length=1024, dtype=dtype)
    trace = trace_kernel(tmp_path, source, (Array((32,), dtype), Scalar(int(stride))), block=(32, 1, 1))
    check(counted(trace).total, SMALL[case])


@pytest.mark.parametrize("case", [c for c in SMALL if c.startswith("copy")])
def test_copies_of_every_type_count_as_the_hardware(tmp_path: Path, case: str):
    _, dtype, stride = case.split()
    arguments = (Array((128 * int(stride),), dtype, "ones"), Array((128,), dtype), Scalar(int(stride)))
    trace = trace_kernel(tmp_path, COPY, arguments, (2, 1, 1), (64, 1, 1))
    check(counted(trace).total, SMALL[case])


@pytest.mark.parametrize("case", [c for c in SMALL if c.split()[0] in ("red", "atom", "sred")])
def test_atomics_count_as_the_hardware(tmp_path: Path, case: str):
    kind, dtype, _ = case.split()
    np.save(tmp_path / "index.npy", np.array(SMALL[case]["index"], np.int32))
    index = Array((32,), "int32", "file", path=str(tmp_path / "index.npy"))
    source = {"red": REDUCTION, "atom": ATOMIC, "sred": SHARED_REDUCTION}[kind]
    arguments = (index, Array((256,), dtype), Array((32,), dtype))[: 3 if kind == "atom" else 2]
    check(counted(trace_kernel(tmp_path, source, arguments, block=(32, 1, 1))).total, SMALL[case])


examples = settings(max_examples=80, print_blob=True)
KIND = st.sampled_from(["lockstep", "sequential", "random"])


@examples
@given(programs(), KIND)
def test_counters_at_a_moment_cover_the_requests_up_to_it(programs: Programs, kind: str):
    trace = trace_of(programs, kind, 2)
    requests = requests_of(trace)
    counters = counters_of(trace, requests)
    seen: Counter[str] = Counter()
    for moment in range(requests.end + 1):
        for request in np.flatnonzero(requests.moment == moment):
            seen += Counter(one_request(requests, request))
        assert counters.values_at(moment) == {name: seen[name] for name in NAMES}
    assert counters.total == totals_of(trace, requests) == counters.values_at(requests.end + 5)
    assert set(counters.values_at(-1).values()) == {0}


def one_request(requests: Any, r: int) -> dict[str, int]:
    """Compute the counters of one request."""
    buffer, op = BUFFERS[requests.buffer[r]], Op(requests.op[r])
    if buffer.space == "global":
        name = f"global_{op.name.lower()}"
        size = int(requests.lanes[r]) * np.dtype(buffer.dtype).itemsize
        return {f"{name}_requests": 1, f"{name}_sectors": int(requests.sectors[r]), f"{name}_bytes": size}
    if buffer.space == "shared":
        name = f"shared_{op.name.lower() if op < Op.ATOMIC else 'atomic'}"
        return {f"{name}_instructions": 1, f"{name}_wavefronts": int(requests.wavefronts[r])}
    return {}


@examples
@given(programs(), KIND)
def test_reads_and_lines_at_a_moment_cover_the_accesses_up_to_it(programs: Programs, kind: str):
    trace = trace_of(programs, kind)
    requests = requests_of(trace)
    counters = counters_of(trace, requests)
    lines = [trace.sites[s].line for s in requests.site]
    for moment in range(requests.end + 1):
        built = requests.moment[requests.request] <= moment
        for number, buffer in enumerate(BUFFERS):
            loads = int((built & (trace.buffer == number) & (trace.op == Op.LOAD)).sum())
            assert counters.mean_reads(number, moment) == loads / np.prod(buffer.shape)
        expected = Counter(line for line, m in zip(lines, requests.moment, strict=True) if m <= moment)
        assert counters.line_counts(moment) == {("kernel.py", line): expected[line] for line in set(lines)}


@examples
@given(programs())
def test_totals_of_blocks_add_up(programs: Programs):
    complete = trace_of(programs)
    parts: Counter[str] = Counter()
    for block in {b for b, _ in programs}:
        part = trace_of({key: p for key, p in programs.items() if key[0] == block})
        parts.update(totals_of(part, requests_of(part)))
    assert totals_of(complete, requests_of(complete)) == dict(parts)


def test_a_trace_without_all_rows_shows_its_saved_totals():
    trace = trace_of({(0, 0): [[(0, 0, 0, 0)]]})
    trace.totals.update(dict.fromkeys(NAMES, 7))
    counters = counted(trace)
    assert set(counters.total.values()) == {7}
    assert counters.values_at(1)["global_load_requests"] == 1
