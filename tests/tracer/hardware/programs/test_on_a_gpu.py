"""Times and timelines of a program in CUDA C++ on a GPU, by the project's own command."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tilescope.tracer.hardware.timeline_file import load

PROGRAM = """#include <cstdio>
template <int N> __global__ void spin(float *a, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    if (rounds < 0) return;
    for (int k = 0; k < rounds; ++k) x = x * 0.5f + N;
    a[i] = x;
}
__global__ void unused(float *a) { a[0] = 1; }
int main(int argc, char **argv) {
    int blocks = atoi(argv[1]), threads = 256;
    float *a, first = 0;
    cudaMalloc(&a, blocks * threads * 4);
    cudaMemset(a, 0, blocks * threads * 4);
    for (int k = 0; k < 3; ++k) spin<2><<<blocks, threads>>>(a, 20000);
    cudaMemcpy(&first, a, 4, cudaMemcpyDeviceToHost);
    printf("first %g\\n", first);
    cudaFree(a);
}
"""


def has_device() -> bool:
    try:
        return bool(ctypes.CDLL("libcuda.so.1").cuInit(0) == 0)
    except OSError:
        return False


pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not has_device(), reason="there is no CUDA device"),
    pytest.mark.skipif(
        shutil.which("nvcc") is None and not Path("/usr/local/cuda/bin/nvcc").exists(),
        reason="there is no nvcc",
    ),
]


def measure(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "spin.cu").write_text(PROGRAM)
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    command = [sys.executable, "-m", "tilescope", "measure", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=300)


def test_kernels_are_timed_and_the_program_prints_once(tmp_path):
    done = measure(tmp_path, "spin.cu", "500", "--json", "times.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("first 4") == 1
    times = json.loads((tmp_path / "times.json").read_text())["times"]
    [kernel] = times["kernels"]
    assert kernel["name"].startswith("void spin<2>") and kernel["launches"] == 3
    assert kernel["grid"] == [500, 1, 1] and len(kernel["microseconds"]) == 3 * times["runs"]
    # 20,000 rounds of a multiplication with addition, each of which waits for the one before: at least 2 cycles.
    assert all(20_000 * 2 / 2_500 < time < 100_000 for time in kernel["microseconds"])
    assert [(copy["kind"], copy["bytes"]) for copy in times["copies"]] == [("device to host", 4)]


def test_blocks_run_in_waves_within_the_time_of_the_kernel(tmp_path):
    done = measure(tmp_path, "spin.cu", "5000", "--timeline", "--output", "lines")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("first 4") == 1
    [file] = (tmp_path / "lines").iterdir()
    timeline = load(file)
    spans, head = timeline.spans, timeline.head
    assert len(spans.start) == 5000 and head.kernel.endswith("spin.cu:spin")
    assert spans.multiprocessor.max() < head.device.multiprocessors
    assert timeline.nanoseconds / 1000 == pytest.approx(head.launch_microseconds, rel=0.1)
    assert head.warps_at_once <= 64
    assert spans.start.max() > spans.end.min()  # 5,000 blocks of 8 warps don't run at once
