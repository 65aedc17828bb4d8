"""Counters as compiled against those that Nsight Compute had on an H100 (tests/data/h100_more.json)."""

from pathlib import Path

import numpy as np
import pytest

from compiled_counts import (
    count_launches,
    launch_of_text,
    nonzero_counters,
    recorded_counters,
    recorded_launches,
)
from tilescope.tracer.recording import nvidia_files

KERNELS = [
    "jacobi float32", "jacobi_by_x float64", "twice float32", "stencil_global float32", "matmul_naive float64",
    "strided float32", "in_place", "dead_load", "dead_store", "both_arms", "one_arm", "accumulate_global",
    "accumulate_register", "invariant", "invariant_with_store", "constant_rounds", "shared_column", "shared_conflicts",
    "shared_padded", "shared_double", "chi2", "reduce_shared", "reduce_divergent", "reduce_shuffle", "stencil_shared",
    "histogram_shared", "transpose_global", "gather", "scatter", "local_array", "local_dynamic", "bisect", "mandelbrot",
    "pairwise", "convolve", "life", "scan_block", "early_return", "complex_kernel complex64", "softmax_row",
    "volume", "grid_stride", "vote", "dynamic_shared", "row_view", "bytes_kernel", "lists",
]  # fmt: skip
JOINED = ["shared_row", "matmul_tiled", "matmul_tiled whole", "matmul_tiled_double", "pairwise_shared"]
ATOMICS = [
    f"{space} {operation} {kind}"
    for operation, kind in (
        ("add", "int32"), ("max", "uint32"), ("exch", "int64"), ("and_", "int32"), ("inc", "uint32"), ("cas", "uint64"),
    )
    for space in ("global", "used", "shared")
]  # fmt: skip
# Loops of compare-and-swap: how often a GPU goes round, other warps decide.
CONTENDED = ["global sub float32", "global max float32", "shared add float32", "shared max int64"]


def is_counted(name: str) -> bool:
    """Check whether Nsight Compute measured a counter."""
    space, _, rest = name.partition("_")
    kind, _, measure = rest.partition("_")
    if space == "global":
        return measure in ("requests", "sectors")
    return space == "shared" and kind in ("load", "store")


def compared(results: dict[str, int], measured: dict[str, int]) -> dict[str, tuple[int, int]]:
    names = [name for name in {**results, **measured} if is_counted(name)]
    pairs = {name: (results.get(name, 0), measured.get(name, 0)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def differing(names: list[str], folder: Path, *options: str) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the counters that differ, by case, as (counted, measured)."""
    measured, answers = recorded_counters(), count_launches([*recorded_launches(names, folder)], *options)
    results = {
        name: compared(nonzero_counters(answer), measured[name])
        for name, answer in zip(names, answers, strict=True)
    }
    return {name: pairs for name, pairs in results.items() if pairs}


def test_llvm_leaves_the_accesses_that_an_h100_counted(tmp_path):
    assert differing(KERNELS + ATOMICS, tmp_path, "--without-nvidia") == {}


@pytest.mark.skipif(
    None in (nvidia_files.ptxas(), nvidia_files.libnvvm(), nvidia_files.nvdisasm()),
    reason="needs tilescope[nvidia]",
)
def test_ptxas_joins_the_accesses_that_it_joined_for_an_h100(tmp_path):
    assert differing(JOINED + KERNELS[::6], tmp_path) == {}


def test_lanes_of_one_warp_repeat_a_swap_as_often_as_on_an_h100(tmp_path):
    measured = recorded_counters("h100_contended.json")
    answers = count_launches([*recorded_launches([*measured], tmp_path)], "--without-nvidia")
    results = {
        name: compared(nonzero_counters(answer), measured[name])
        for name, answer in zip(measured, answers, strict=True)
    }
    assert {name: pairs for name, pairs in results.items() if pairs} == {}
    assert [answer.at_least for answer in answers] == [()] * len(answers)


def test_counters_are_lower_bounds_where_several_warps_swap_one_element(tmp_path):
    measured = recorded_counters()
    answers = count_launches([*recorded_launches(CONTENDED, tmp_path)], "--without-nvidia")
    for name, answer in zip(CONTENDED, answers, strict=True):
        assert any("only a GPU shows" in note for note in answer.notes)
        different = compared(nonzero_counters(answer), measured[name])
        assert different and different.keys() <= {*answer.at_least}, name
        assert all(amount <= measured_amount for amount, measured_amount in different.values()), name


def test_a_float64_that_is_stored_as_a_float16_is_counted(tmp_path):
    text = "@cuda.jit\ndef kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = x[i] * 2.5 + 1\n"
    job = launch_of_text(text, np.ones(32, np.float16), np.zeros(32, np.float16), folder=tmp_path)
    (answer,) = count_launches([job], "--without-nvidia")
    assert nonzero_counters(answer)["global_load_requests"] == 1
