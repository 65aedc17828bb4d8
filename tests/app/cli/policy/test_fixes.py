"""`check --diff` and `--fix`: remedies that a trial proved."""

from __future__ import annotations

import json
import subprocess

import pytest

from cuda_cpp import needs_compiler
from programs import COPY, RACE, run_tilescope

SECOND = (
    RACE
    + """
@cuda.jit
def count(out):
    out[0] += 1

count[1, 64](np.zeros(1, np.int32))
"""
)


def test_a_diff_can_be_applied_and_mends_the_program(tmp_path):
    (tmp_path / "race.py").write_text(RACE)
    done = run_tilescope("check", "--diff", "race.py", folder=tmp_path)
    assert done.returncode == 1 and "+    cuda.syncthreads()\n" in done.stdout
    assert (tmp_path / "race.py").read_text() == RACE
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=done.stdout, text=True, check=True)
    assert run_tilescope("check", "race.py", folder=tmp_path).stdout == "no findings\n"


def test_fix_writes_a_remedy_for_each_kernel(tmp_path):
    (tmp_path / "two.py").write_text(SECOND)
    done = run_tilescope("check", "--fix", "two.py", folder=tmp_path)
    assert "tilescope: 2 remedies written into two.py.\n" in done.stderr, done.stdout
    text = (tmp_path / "two.py").read_text()
    assert "    cuda.syncthreads()\n" in text and "cuda.atomic.add(out, 0, 1)" in text
    after = run_tilescope("check", "two.py", folder=tmp_path)
    assert after.returncode == 0, after.stdout


PADDED = """
import numpy as np
from numba import cuda, float32

@cuda.jit
def turn(a, out):
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.grid(2)
    tile[y, x] = a[y, x] * 0.1
    cuda.syncthreads()
    out[y, x] = tile[x, y]

turn[1, (32, 32)](np.ones((32, 32), np.float32), np.zeros((32, 32), np.float32))
"""


def test_a_diff_states_the_counters_before_and_after(tmp_path):
    (tmp_path / "turn.py").write_text(PADDED)
    done = run_tilescope("check", "--diff", "turn.py", folder=tmp_path)
    # 32 stores and 32 loads of warps: each load took 32 wavefronts.
    remedy = "turn.py: make each row of tile 1 element longer on line 7 (shared wavefronts 1,056 -> 64).\n"
    assert done.returncode == 0 and remedy in done.stdout
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=done.stdout, text=True, check=True)
    assert "cuda.shared.array((32, 33), float32)" in (tmp_path / "turn.py").read_text()


def test_remedies_of_advice_are_tried_on_request(tmp_path):
    (tmp_path / "turn.py").write_text(PADDED)
    words = ("check", "--output-format", "json", "--select", "TS802,TS807")
    plain, tried = (
        json.loads(run_tilescope(*words, *more, "turn.py", folder=tmp_path).stdout)["findings"]
        for more in ((), ("--try-advice",))
    )
    assert (
        [finding["rule"] for finding in plain] == [finding["rule"] for finding in tried] == ["TS802", "TS807"]
    )
    assert not any("fix" in finding for finding in plain)
    assert [edit["new"] for finding in tried for edit in finding["fix"]] == [
        ["    tile = cuda.shared.array((32, 33), float32)"], ["    tile[y, x] = a[y, x] * float32(0.1)"],
    ]  # fmt: skip
    assert "or let neighbouring" in plain[0]["remedy"] and "or let" not in tried[0]["message"]


@pytest.mark.parametrize("option", ["--diff", "--fix"])
def test_without_a_proven_remedy_nothing_changes(option, tmp_path):
    (tmp_path / "copies.py").write_text(COPY)
    done = run_tilescope("check", option, "copies.py", folder=tmp_path)
    assert done.returncode == 0 and (tmp_path / "copies.py").read_text() == COPY
    assert "+++" not in done.stdout


def test_an_empty_diff_is_explained(tmp_path):
    between_blocks = COPY.replace("out[i] = a[i]", "a[i] = a[(i + 1) % 40]").replace(
        "copy[2, 32]", "copy[40, 1]"
    )
    (tmp_path / "between.py").write_text(between_blocks)
    done = run_tilescope("check", "--diff", "between.py", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "tilescope: no remedy is proven for these findings, so there is no diff.\n" in done.stderr


REVERSE = """__global__ void reverse(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    out[t] = s[63 - t];
}
int main() {
    int *out;
    cudaMalloc(&out, 256);
    reverse<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""


@needs_compiler
def test_remedies_in_cuda_cpp_are_printed_and_written(tmp_path):
    path = tmp_path / "reverse.cu"
    path.write_text(REVERSE)
    done = run_tilescope("check", "--diff", "reverse.cu", folder=tmp_path)
    assert "+    __syncthreads();\n" in done.stdout, done.stderr
    done = run_tilescope("check", "--fix", "reverse.cu", folder=tmp_path)
    assert "tilescope: 1 remedy written into reverse.cu.\n" in done.stderr, done.stdout
    assert "s[t] = t;\n    __syncthreads();\n" in path.read_text()


def test_line_ends_stay(tmp_path):
    (tmp_path / "race.py").write_bytes(RACE.replace("\n", "\r\n").encode())
    run_tilescope("check", "--fix", "race.py", folder=tmp_path)
    content = (tmp_path / "race.py").read_bytes()
    assert b"cuda.syncthreads()\r\n" in content and content.count(b"\n") == content.count(b"\r\n")


def test_diff_and_fix_together_are_refused(tmp_path):
    (tmp_path / "race.py").write_text(RACE)
    done = run_tilescope("check", "--diff", "--fix", "race.py", folder=tmp_path)
    assert done.returncode == 2 and "--diff prints and --fix writes; use one of them." in done.stderr
