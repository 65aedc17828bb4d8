"""What a trace says of results that are only near to a GPU's."""

from __future__ import annotations

import pytest

from engines import run_both
from launching import Array, launch
from tilescope.tracer.nvidia_math.bitcode import available

FLOATS = (Array((8,), "float32", "arange"), Array((8,), "float32"))
SOURCE = "@cuda.jit\ndef kernel(a, out):\n    i = cuda.grid(1)\n    out[i] = {}\n"


def notes(tmp_path, expression):
    return [
        trace.made_by
        for trace in run_both(launch(tmp_path, SOURCE.format(expression), FLOATS, block=(8, 1, 1)))
    ]


def test_functions_that_are_near_are_named(tmp_path):
    if available():
        pytest.skip("libdevice computes all functions as a GPU does")
    for note in notes(tmp_path, "math.exp(a[i]) + math.sqrt(a[i])"):
        assert "last bits may differ from a GPU's after exp" in note


def test_arithmetic_and_exact_functions_are_not_named(tmp_path):
    for note in notes(tmp_path, "math.sqrt(a[i]) * a[i] + math.floor(a[i])"):
        assert "last bits" not in note


def test_libdevices_functions_are_not_named(tmp_path):
    if not available():
        pytest.skip("libdevice is not installed (the extra `nvidia`)")
    for note in notes(tmp_path, "math.sin(a[i]) + math.exp(a[i])"):
        assert "last bits" not in note
