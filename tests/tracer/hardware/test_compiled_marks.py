"""Marked kernels in Numba's own compiler for GPUs, as far as it goes without NVIDIA's libraries: up to LLVM's IR."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed"
)
# Compiles the marked copy of each kernel of the catalogue, and says which marks stand in its IR.
PROGRAM = """
import json, re
import numpy as np
from numba import types, typeof
from numba.cuda import compiler
from tilescope.kernels.scenarios.catalogue import scenarios
from tilescope.tracer.hardware.marks.marked_kernel import Room, marked_kernel, marked_source_of
from tilescope.tracer.model.launch import Array
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.recording.kernel_loader import load_kernel, set_constants
from tilescope.tracer.type_inference.process import _stand_in_for_gpu

_stand_in_for_gpu()
found = {}
for scenario in scenarios():
    if scenario.engine != "cuda" or scenario.cuda_c or scenario.kernel in found:
        continue
    launch = launch_of(scenario, {})
    module, kernel = load_kernel(launch)
    set_constants(module, launch)
    source = marked_source_of(launch, kernel, "all")
    given = [
        types.Array(typeof(np.zeros(1, a.dtype)).dtype, len(a.shape), "C") if isinstance(a, Array) else typeof(a.value)
        for a in launch.arguments
    ]
    function = marked_kernel(source, kernel, Room(8, 64, 1 << 20, 2)).py_func
    made = compiler.compile_cuda(function, types.void, (*given, *[types.int64] * 2), cc=(9, 0))
    asm = re.findall(r'asm (sideeffect )?"([^"]*)",\\s*"([^"]*)"', made.library.get_llvm_str())
    found[scenario.kernel] = {
        "marks": len(source.marks),
        "written": sum("[place]" in text for _, text, _ in asm),
        "rows": sum("[row" in text for _, text, _ in asm),
        "ordered": all(effect and "~{memory}" in bounds for effect, text, bounds in asm if "%clock" in text),
    }
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def compiled_marks():
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        capture_output=True, text=True, env=environment, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_marks_of_all_kernels_compile(compiled_marks):
    assert len(compiled_marks) > 20
    for kernel, item in compiled_marks.items():
        assert item["written"] == item["marks"] - 1, kernel  # the first is where a warp starts


def test_a_warp_writes_its_start_once_and_its_end_before_each_return(compiled_marks):
    assert all(item["rows"] >= 2 for item in compiled_marks.values())
    assert compiled_marks["tilescope.kernels.matmul:tiled"]["rows"] == 2
    assert compiled_marks["tilescope.kernels.matmul_pitfalls:tiled_early_return"]["rows"] == 3


def test_no_access_may_be_carried_past_a_mark(compiled_marks):
    assert all(item["ordered"] for item in compiled_marks.values())
