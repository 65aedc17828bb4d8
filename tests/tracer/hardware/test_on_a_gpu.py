"""Timelines of a real GPU, recorded by the project's own command: what clocks say agrees with what else is known."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

from gpu_clocks import check_blocks_at_once, check_order, check_span, check_sums
from tilescope.tracer.hardware.timeline_file import load

SCENARIOS = {
    "matmul-tiled:m=64,k=64,n=64": "all",
    "matmul-tiled:m=1024,k=1024,n=1024": "all",
    "matmul-naive-col-on-x:m=1024,k=1024,n=1024": "all",
    "transpose-padded:rows=2048,cols=2048": None,
    "sum-sequential:count=1000000": None,
    "histogram-private:count=1000000,num_blocks=264,threads=256": None,
}


def has_device() -> bool:
    try:
        return bool(ctypes.CDLL("libcuda.so.1").cuInit(0) == 0)
    except OSError:
        return False


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not has_device(), reason="there is no CUDA device")]


def measure(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    command = [sys.executable, "-m", "tilescope", "measure", "--timeline", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return the timelines of SCENARIOS, by their specs, and what was printed."""
    folder = tmp_path_factory.mktemp("timelines")
    done = measure(*SCENARIOS, "--output", str(folder))
    assert done.returncode == 0, done.stderr
    results = {path: load(path) for path in folder.iterdir()}
    by_spec = {spec: next(t for p, t in results.items() if _names(t, spec)) for spec in SCENARIOS}
    return by_spec, done.stdout


def _names(timeline, spec):
    name, _, rest = spec.partition(":")
    given = dict(part.split("=") for part in rest.split(","))
    return timeline.head.scenario == name and all(
        str(timeline.head.values[key]) == value for key, value in given.items()
    )


@pytest.mark.parametrize("spec", SCENARIOS)
def test_clocks_agree(recorded, spec):
    timeline = recorded[0][spec]
    check_order(timeline)
    check_sums(timeline)
    check_blocks_at_once(timeline)
    check_span(timeline)
    if SCENARIOS[spec]:
        assert timeline.head.detail == SCENARIOS[spec]


def test_all_blocks_of_a_small_launch_have_segments_and_some_of_a_large_one(recorded):
    small = recorded[0]["matmul-tiled:m=64,k=64,n=64"]
    large = recorded[0]["matmul-tiled:m=1024,k=1024,n=1024"]
    assert len(small.detailed_blocks()) == small.blocks == 16
    assert 0 < len(large.detailed_blocks()) < large.blocks == 4096
    assert any(note.startswith("Segments are kept of") for note in large.head.notes)


def test_warps_of_a_tiled_product_wait_twice_a_tile(recorded):
    small = recorded[0]["matmul-tiled:m=64,k=64,n=64"]
    assert small.segments.phase.max() == 8  # four tiles, two barriers each
    waits = np.bincount(small.segments.block[small.segments.kind == 2].astype(int))
    assert (waits == 8 * 8).all()  # eight warps


def test_the_table_shows_registers_and_times_with_and_without_marks(recorded):
    assert "multiprocessors" in recorded[1] and " -> " in recorded[1]


def test_kernels_without_a_timeline_are_reported_and_the_rest_recorded(tmp_path):
    done = measure("cuda-c-naive:m=64", "count-racing", "--output", str(tmp_path))
    assert done.returncode == 1
    assert "written in CUDA C" in done.stderr
    (path,) = tmp_path.iterdir()
    assert any("differs from NumPy" in note for note in load(path).head.notes)
