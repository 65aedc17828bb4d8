"""Integers of small types: both engines compute with them in 64 bits, as the GPU does."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from engines import assert_engines_agree
from integer_program import MEASURED, PROGRAM
from launching import Array, final_contents, launch

SMALL = {
    "the mean of bytes": ("uint8", "out[i] = (a[i] + a[i - 1] + a[i - 2]) // 3"),
    "a brighter image": ("uint8", "out[i] = min(a[i] + 50, 255) - a[i - 1]"),
    "shifts": ("int32", "out[i] = (a[i] << 40) + (a[i] >> 1)"),
    "squares": ("int16", "out[i] = a[i] * a[i] * 30000"),
    "a hash": ("uint32", "h = uint32(a[i] + 3)\nh = uint32((h ^ (h >> 16)) * 0x45D9F3B)\nout[i] = h ^ (h >> 16)"),
    "casts": ("int32", "out[i] = int32(70000) * int32(70000) + uint8(300) + int8(200) + a[i]"),
    "a division by zero": ("int32", "out[i] = 5 // a[i] + 5 % a[i]"),
    "bits": ("int32", "out[i] = cuda.popc(a[i] - 1) + cuda.clz(a[i]) + cuda.ffs(a[i]) + cuda.brev(a[i])"),
    "bits of longs": ("int64", "out[i] = cuda.popc(a[i] - 9) + 100 * cuda.clz(a[i]) + cuda.ffs(a[i] << 35)"),
    "what an atomic gives": ("uint32", "out[i] = cuda.atomic.add(a, i, 200) * 2**31"),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_both_engines_compute_in_64_bits(tmp_path, name):
    dtype, body = SMALL[name]
    lines = "\n    ".join(body.split("\n"))
    source = (
        f"from numba import int8, uint32\n@cuda.jit\ndef kernel(a, out):\n    i = cuda.grid(1)\n    {lines}\n"
    )
    assert_engines_agree(
        launch(tmp_path, source, (Array((250,), dtype, "arange"), Array((250,), "int64")), block=(250, 1, 1))
    )


def test_bytes_do_not_wrap(tmp_path):
    source = "@cuda.jit\ndef kernel(a, out):\n    i = cuda.grid(1)\n    out[i] = (a[i] + a[i - 1]) * a[i]\n"
    trace = assert_engines_agree(
        launch(
            tmp_path, source, (Array((250,), "uint8", "arange"), Array((250,), "int64")), block=(250, 1, 1)
        )
    )
    a = np.arange(250)
    assert final_contents(trace, "out").tolist() == ((a + np.roll(a, 1)) * a).tolist()


@pytest.mark.parametrize("engine", ["simulator", "compiled"])
def test_a_program_prints_the_output_of_an_h200(engine):
    command = [sys.executable, "-m", "tilescope", "run", "--quiet", "--engine", engine, str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    printed, measured = json.loads(done.stdout), {k: v for k, v in MEASURED.items() if k != "device"}
    assert printed == measured
