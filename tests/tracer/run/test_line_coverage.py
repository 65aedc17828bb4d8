"""The lines of a kernel that ran, from the lines with accesses."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from tilescope.tracer.run.line_coverage import lines_around

TEXT = """\
def kernel(a, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    v = 2
    if i < 5:
        w = 3
        out[i] = v
    else:
        out[i] = 4
    for k in range(3):
        v += k
        out[
            i
        ] += v
        w = v
    v = 8
    if v > 9:
        v = 10
    return
"""


@pytest.mark.parametrize(
    ("accessed", "expected"),
    [
        ({8}, {2, 3, 5, 6, 7, 8, 11, 17, 18, 20}),
        ({10}, {2, 3, 5, 6, 10, 11, 17, 18, 20}),
        ({14}, {2, 3, 5, 6, 11, 12, 13, 16, 17, 18, 20}),
        ({3}, {2, 3}),
        (set(), set()),
    ],
)
def test_statements_around_an_access_ran(accessed, expected):
    assert lines_around(ast.parse(TEXT), accessed) == expected


PROGRAM = """\
import numpy as np
from numba import cuda

@cuda.jit(device=True)
def twice(x):
    if x < 0:
        return 0
    return 2 * x

@cuda.jit
def kernel(a, out):
    i = cuda.grid(1)
    if i < a.size:
        v = a[i]
        out[i] = twice(v)
    if i > 1_000_000:
        v = 7
        out[i] = 3

kernel[BLOCKS, 64](np.arange(100, dtype=np.int32), np.zeros(100, np.int32))
"""


@pytest.mark.parametrize(
    ("blocks", "engine", "missing"),
    [(2, "simulator", "7, 17-18"), (2, "compiled", "6-8, 17-18"), (2048, "compiled", "6-8, 17-18")],
)
def test_coverage_py_counts_the_lines_of_kernels(tmp_path, blocks, engine, missing):
    path = tmp_path / "measured.py"
    path.write_text(PROGRAM.replace("BLOCKS", str(blocks)))
    coverage = [sys.executable, "-m", "coverage"]
    check = ["run", "--include=measured.py", "-m", "tilescope", "check", "--engine", engine, "measured.py"]
    subprocess.run([*coverage, *check], cwd=tmp_path, capture_output=True, check=True)
    done = subprocess.run(
        [*coverage, "report", "-m"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[2].endswith(f"%   {missing}"), done.stdout
