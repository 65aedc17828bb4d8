"""Python programs with kernels in CUDA C++, in the style of the packages' documentation, without a GPU."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cuda_cpp import needs_compiler
from programs import run_tilescope

pytestmark = needs_compiler
PROGRAMS = Path(__file__).parent / "programs"
# The errors of each program: the kind, the file, and the text of the line.
ERRORS = {
    "cupy_add": [],
    "cupy_templates": [],
    "cupy_variables": [],
    "cupy_tiles": [
        ("race", "cupy_tiles.py", "out[y * n + x] = tile[threadIdx.x * blockDim.x + threadIdx.y];")
    ],
    "cupy_elementwise": [],
    "cupy_histogram": [],
    "cupy_types": [("launch", "cupy_types.py", "axpy((2,), (32,), (2.0, x, y, 64))")],
    "cupy_bounds": [("bounds", "shift.cu", "out[i] = a[i + 1];")],
    "pycuda_multiply": [],
    "pycuda_structures": [],
    "pycuda_formatted": [("race", "pycuda_formatted.py", "sum += rows[ty][k] * b[k * %(WIDTH)s + tx];")],
    "cuda_core_saxpy": [],
    "torch_matmul": [],
    "torch_reverse": [("race", "torch_reverse.py", "a[threadIdx.x] = s[n - 1 - threadIdx.x];")],
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_program_runs_and_check_reports_its_errors(name, tmp_path):
    for file in (f"{name}.py", "shift.cu"):
        shutil.copy(PROGRAMS / file, tmp_path)
    done = run_tilescope("check", "--output-format", "json", f"{name}.py", folder=tmp_path)
    assert "passed" in done.stderr, done.stderr
    report = json.loads(done.stdout)
    errors = [
        (finding["kind"], finding["file"], _line(tmp_path, finding))
        for finding in report["findings"]
        if finding["severity"] == "error"
    ]
    assert errors == ERRORS[name]
    assert done.returncode == bool(errors)


def _line(folder: Path, finding: dict) -> str:
    return (folder / finding["file"]).read_text().splitlines()[finding["line"] - 1].strip()


def test_every_program_is_named():
    assert {path.stem for path in PROGRAMS.glob("*.py")} == set(ERRORS)
