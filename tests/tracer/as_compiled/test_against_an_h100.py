"""Counters as compiled against those that Nsight Compute had on an H100 (tests/data/h100_more.json)."""

from pathlib import Path

import pytest

from compiled_counts import count_launches, nonzero_counters, recorded_counters, recorded_launches
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


def test_contended_loops_report_unknown_rounds(tmp_path):
    for answer in count_launches([*recorded_launches(CONTENDED, tmp_path)], "--without-nvidia"):
        assert any("only a GPU shows how often" in note for note in answer.notes)


def test_no_more_rounds_are_counted_than_a_gpu_needs(tmp_path):
    measured = recorded_counters()
    for name, answer in zip(
        CONTENDED, count_launches([*recorded_launches(CONTENDED, tmp_path)], "--without-nvidia"), strict=True
    ):
        for counter, amount in nonzero_counters(answer).items():
            if is_counted(counter):
                assert amount <= measured[name][counter], (name, counter)
