"""Launches with infinities and NaN, which JSON lacks: as JSON, as keys, in files and in programs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from programs import run_tilescope
from tilescope.tracer.model.launch import Launch, Scalar, decode, encode

SPECIAL = [math.inf, -math.inf, math.nan]


def launch_with(number: float, constant: float = 1.0) -> Launch:
    return Launch(
        "k.py:k", "", (Scalar(number, "float32"),), (1, 1, 1), (1, 1, 1), {"LIMIT": constant, "N": 4}
    )


@pytest.mark.parametrize("number", SPECIAL)
def test_json_keeps_special_numbers(number: float):
    read = decode(encode(launch_with(number, number)))
    argument = read.arguments[0]
    assert isinstance(argument, Scalar) and repr(argument.value) == repr(number)
    assert repr(read.constants) == repr({"LIMIT": number, "N": 4})


def test_special_numbers_have_keys_of_their_own():
    launches = [launch_with(number, constant) for number in SPECIAL for constant in SPECIAL]
    assert len({launch.key() for launch in launches}) == 9


def test_json_of_other_numbers_is_as_before():
    assert "special" not in encode(launch_with(1.5))


def test_check_traces_a_program_with_infinities(tmp_path: Path):
    (tmp_path / "least.py").write_text(
        "import numpy as np\nfrom numba import cuda\nFAR = np.inf\n@cuda.jit\ndef least(a, out, low):\n"
        "    i = cuda.grid(1)\n    best = FAR\n    if low < a[i]:\n        best = min(best, a[i])\n"
        "    cuda.atomic.min(out, 0, best)\n"
        "out = np.full(1, np.inf, np.float32)\nleast[1, 64](np.arange(64, dtype=np.float32), out, -np.inf)\n"
        "print(out[0])\n"
    )
    done = run_tilescope("check", "least.py", folder=tmp_path)
    assert done.returncode == 0 and done.stderr.startswith("0.0\n"), done.stdout + done.stderr
    assert "1 launch of 1 kernel traced: 1 block, lockstep." in done.stderr
