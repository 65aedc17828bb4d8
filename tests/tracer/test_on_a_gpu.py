"""The recorded cases launched again on a real GPU: the same bits as in the file, so that the file is of such a GPU."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
ARCHITECTURE = "sm_90"  # of the GPU of the file; others round some functions in another way
ASKED = "from numba import cuda; print('sm_%d%d' % cuda.get_current_device().compute_capability)"


def has_device():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not has_device(), reason="there is no CUDA device")]


def on_gpu(*command):
    environment = {n: v for n, v in os.environ.items() if n != "NUMBA_ENABLE_CUDASIM"}
    environment |= {"NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_gpu_computes_the_bits_that_were_recorded(tmp_path):
    if on_gpu("-c", ASKED).strip() != ARCHITECTURE:
        pytest.skip(f"the cases were recorded on {ARCHITECTURE}")
    on_gpu(str(DATA / "gpu_truth" / "record.py"), "--launch", str(tmp_path))
    launched = {case["case"]: case for case in json.loads((tmp_path / "launched.json").read_text())}
    recorded = json.loads((DATA / "h100_more.json").read_text())
    differing = [case["case"] for case in recorded if case.get("out") != launched[case["case"]].get("out")]
    assert differing == []
