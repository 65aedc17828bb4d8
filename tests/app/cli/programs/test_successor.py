"""Programs that import numba-cuda's successor, numba_cuda_mlir, which has no simulator."""

from __future__ import annotations

import pytest

from programs import run_tilescope

HEAD = """
import numpy as np
from numba_cuda_mlir import cuda, types
import numba_cuda_mlir as whole
import numba_cuda_mlir.cuda as again
from numba_cuda_mlir.cuda.random import create_xoroshiro128p_states

assert again is cuda and whole.jit is cuda.jit and cuda.__spec__.name == "numba.cuda"
assert len(create_xoroshiro128p_states(4, 1)) == 4
"""
KERNEL = """
@{module}.jit
def shift(a, out):
    tile = {module}.shared.array(64, types.int32)
    t = {module}.threadIdx.x
    tile[t] = a[t]
    out[t] = tile[63 - t]


shift[{blocks}, 64](np.arange(64, dtype=np.int32), np.zeros(64, np.int32))
"""


@pytest.mark.parametrize("module", ["cuda", "whole", "again"])
@pytest.mark.parametrize("blocks", [1, 1024], ids=["simulated", "compiled"])
def test_its_kernels_are_checked_and_mended(tmp_path, module, blocks):
    (tmp_path / "race.py").write_text(HEAD + KERNEL.format(module=module, blocks=blocks))
    done = run_tilescope("check", "--output-format", "concise", "race.py", folder=tmp_path)
    assert done.returncode == 1 and "[TS101 possible]" in done.stdout, done.stderr
    assert ("ran compiled" in done.stderr) == (blocks > 1)
    if blocks == 1:
        assert "put cuda.syncthreads() between line 15 and line 16" in done.stdout


def test_a_module_that_numba_lacks_is_named(tmp_path):
    (tmp_path / "missing.py").write_text("import numba_cuda_mlir.mlir.dialects\n")
    done = run_tilescope("check", "missing.py", folder=tmp_path)
    sentence = "ModuleNotFoundError: Numba has no module numba_cuda_mlir.mlir under Tilescope"
    assert done.returncode == 2 and sentence in done.stderr
