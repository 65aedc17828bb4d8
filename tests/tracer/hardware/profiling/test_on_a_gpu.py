"""Occupancy against the driver of the GPU that is there, and the list of GPUs."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys

import pytest

from tilescope.tracer.hardware.occupancy import occupancy

ANSWERS = """
import msgspec
from tilescope.tracer.hardware.profiling.kernel_recording import cases_to_compile, driver_answers, loaded_case
from tilescope.tracer.hardware.times.gpu import open_gpu

gpu = open_gpu()
answers = list(driver_answers(gpu, [(case, loaded_case(case, gpu)) for case in cases_to_compile()[::8]]))
print(msgspec.json.encode((gpu.describe().compute_capability, answers)).decode())
"""


def has_device():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not has_device(), reason="there is no CUDA device")]


def output_of(*command):
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "0"}
    done = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_occupancy_is_the_drivers_answer_for_the_catalogue_and_for_a_sweep():
    capability, answers = output_of("-c", ANSWERS)
    assert len(answers) > 10_000
    differing = [
        answer
        for answer in answers
        if occupancy(tuple(capability), answer[0], answer[1] + answer[2], answer[3]).blocks != answer[4]
    ]
    assert not differing, (len(differing), differing[:20])


def test_the_gpu_is_listed():
    results = output_of("-m", "tilescope", "devices", "--json")
    first = results["devices"][0]
    assert first["name"] and first["memory_bytes"] > 1 << 30 and first["multiprocessors"] > 0
    assert not first["problem"] and not results["reason"]
    assert len(first["compute_capability"]) == 2 and len(first["pci"]) == 3
