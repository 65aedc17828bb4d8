"""Results of both engines equal those of an H100 bit for bit, in the cases of `h100_more.json`.

Where libdevice is not installed, the cases that call it are skipped.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from folders import DATA
from tilescope.tracer.nvidia_math.bitcode import available
from tilescope.tracer.recording.nvidia_files import libdevice

ENGINES = ("simulator", "compiled")
RECORDED = [case for case in json.loads((DATA / "h100_more.json").read_text()) if "out" in case]
# Computed without libdevice, or exactly by any library.
PLAIN = {
    "floor", "ceil", "trunc", "fabs", "sqrt", "fmod", "copysign", "degrees", "radians", "modf", "frexp", "ldexp",
    "remainder",
}  # fmt: skip
# The cases were recorded with the libdevice of CUDA 13.0; that of 13.5 computes these functions in another way.
RECORDED_WITH, CHANGED_SINCE = (
    "91334d6e12748f6cb5bbf0a1cd965a56bcd93dc4f496d2e5c5f8c6e523094356",
    {"erff", "expm1f"},
)
OTHER_NAMES = {"gamma": "tgamma"}
PROGRAM = """
import json, math, sys
import numpy as np
from numba import cuda, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64
"""
KERNEL = """
@cuda.jit
def kernel_{number}(x, y, w, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = {expression}
"""
LAUNCHES = """
results = []
for number, case in enumerate(json.load(open(sys.argv[1]))):
    given = [np.frombuffer(bytes.fromhex(case[name]), case["dtype"]).copy() for name in "xyw"]
    out = np.zeros(len(case["out"]) // 2 // np.dtype(case["out_dtype"]).itemsize, case["out_dtype"])
    globals()[f"kernel_{number}"][1, 64](*given, out)
    results.append(out.tobytes().hex())
json.dump(results, open(sys.argv[2], "w"))
"""


def group(case):
    """Return the group of a case: one program runs all of a group."""
    functions = "functions" if functions_of(case) else "arithmetic"
    return f"{functions} of {case['dtype']}"


def functions_of(case):
    """Return the functions of libdevice that a case calls."""
    expression, single = case["case"], case["dtype"] != "float64"
    names = [name for name in re.findall(r"math\.(\w+)", expression) if name not in PLAIN]
    names += re.findall(r"cuda\.(cbrt)", expression)
    names += re.findall(r"fp16\.h(sin|exp|log)", expression)
    names += (
        ["pow"]
        if "** y[i]" in expression
        else ["hypot"]
        if expression.startswith("abs(x[i]) complex")
        else []
    )
    results = [OTHER_NAMES.get(name, name) + ("f" if single else "") for name in names]
    return results + re.findall(r"libdevice\.(\w+)", expression)


GROUPS = sorted({group(case) for case in RECORDED})


@cache
def results(engine, name, folder):
    """Compute the results of the cases of a group."""
    cases = [case for case in RECORDED if group(case) == name]
    text = PROGRAM
    for number, case in enumerate(cases):
        expression = re.sub(r" \S+->\S+$", "", case["case"])
        text += KERNEL.format(number=number, expression=expression)
    program, given, built = folder / "program.py", folder / "cases.json", folder / "results.json"
    program.write_text(text + LAUNCHES)
    given.write_text(json.dumps(cases))
    command = [sys.executable, "-m", "tilescope", "run", "--quiet", "--engine", engine, program, given, built]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return zip(cases, json.loads(built.read_text()), strict=True)


def is_of_another_libdevice(case):
    """Check for a case that the installed libdevice computes in another way."""
    return bool(CHANGED_SINCE & set(functions_of(case))) and libdevice_sum() != RECORDED_WITH


@cache
def libdevice_sum():
    return hashlib.sha256(libdevice().read_bytes()).hexdigest()


def as_numbers(text, dtype):
    return np.frombuffer(bytes.fromhex(text), dtype)


def differing(results, expected):
    """Find the results with different bits; all nans are equal."""
    if results.dtype.kind not in "fc":
        return results != expected
    bits = f"V{results.dtype.itemsize}"
    return (results.view(bits) != expected.view(bits)) & ~(np.isnan(results) & np.isnan(expected))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", GROUPS)
def test_results_are_an_h100s_bit_for_bit(tmp_path, engine, name):
    if name.startswith("functions") and not available():
        pytest.skip("libdevice is not installed (the extra `nvidia`)")
    wrong = []
    for case, built in results(engine, name, tmp_path):
        if is_of_another_libdevice(case):
            continue
        matches, expected = (as_numbers(text, case["out_dtype"]) for text in (built, case["out"]))
        different = differing(matches, expected)
        if different.any():
            wrong.append(case["case"])
    assert wrong == []
