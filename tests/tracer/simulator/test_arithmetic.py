"""A kernel computes as Numba types it and a GPU does, whichever engine runs it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from folders import DATA
from random_arithmetic import program

ENGINES = ["simulator", "compiled"]
MEASURED = (DATA / "arithmetic_h200.txt").read_text().splitlines()
H200 = {line.partition(":")[0]: line for line in MEASURED if ": " in line}
# Those whose operations the compiled engine has of its own; to compile all takes half a minute.
COMPILED = (
    "smallest", "floats_divided_by_zero", "shifted_too_far", "not_integers", "not_bytes", "nan_among",
)  # fmt: skip
PRINTED = {
    "f32_accumulate": "16777217.0", "uint64_minus": "[-1  0  1  2]", "uint64_range": "[ 0  5 10 15]",
    "math_domain": "[ nan -inf  inf  inf]",
}  # fmt: skip


def run(engine, path, *words):
    command = [sys.executable, "-m", "tilescope", "run", "--quiet", "--engine", engine, str(path), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(("engine", "kernels"), [("simulator", ()), ("compiled", COMPILED)])
def test_kernels_compute_the_results_of_an_h200(engine, kernels):
    printed = {line.partition(":")[0]: line for line in run(engine, DATA / "arithmetic_program.py", *kernels)}
    assert len(printed) == len(kernels or H200)
    for name, line in printed.items():
        # An H200 leaves 16 bits in a uint8 that a float does not fit.
        skipped = 10 if name == "undefined neither_integers" else 0
        assert line.split()[skipped:] == H200[name].split()[skipped:]


@pytest.mark.parametrize(
    ("engine", "name"), [*(("simulator", name) for name in PRINTED), ("compiled", "f32_accumulate")]
)
def test_programs_print_the_output_of_a_gpu(engine, name):
    assert run(engine, DATA / "programs" / f"{name}.py") == [PRINTED[name]]


@pytest.mark.parametrize(("engine", "seed", "count"), [("simulator", 11, 18), ("compiled", 12, 9)])
def test_random_arithmetic_is_numbas(tmp_path, engine, seed, count):
    path = tmp_path / "random_arithmetic_program.py"
    path.write_text(program(seed, count))
    assert run(engine, path) == [f"compared {count}"], f"of seed {seed}"


FROZEN = """
from types import ModuleType
import numba
import numpy as np
from numba import cuda

K, TABLE, PAIR = 3, np.array([1, 2, 3], np.int32), (1, 2)

config = ModuleType("config")
config.N = 0

@cuda.jit(device=True)
def times(x):
    return x * K

@cuda.jit
def kernel(a):
    i = cuda.grid(1)
    a[i] = times(a[i]) + K + TABLE[0] + PAIR[0] + config.N + numba.cuda.warpsize - 32

def adding(m):
    def later(value):
        nonlocal m
        m = value

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        a[i] += m

    return kernel, later

def launch(kernel, dtype):
    a = np.ones(4, dtype)
    kernel[1, 4](a)
    print(a[0])

launch(kernel, np.float64)
K, PAIR = 100, (7, 8)
TABLE[0], config.N = 50, 1000
launch(kernel, np.float64)
launch(kernel, np.float32)
closure, later = adding(1)
launch(closure, np.float64)
later(5)
launch(closure, np.float64)
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_globals_and_closures_are_frozen_for_each_types_of_arguments(tmp_path, engine):
    path = tmp_path / "frozen.py"
    path.write_text(FROZEN)
    assert run(engine, path) == ["8.0", "8.0", "1257.0", "2.0", "2.0"]


def test_changing_a_frozen_global_is_reported_once(tmp_path):
    path = tmp_path / "frozen.py"
    path.write_text(FROZEN + "launch(kernel, np.float64)\n")
    command = [sys.executable, "-m", "tilescope", "run", "--quiet", str(path)]
    output = subprocess.run(command, capture_output=True, text=True, timeout=300).stderr.splitlines()
    assert "note: K was 3 when kernel was first compiled; on a GPU it stays 3." in output
    assert "note: TABLE was other numbers when kernel was first compiled; on a GPU it stays so." in output
    assert len(output) == len(set(output))


ATOMICS = """
import numpy as np
from numba import cuda

@cuda.jit
def kernel(f, d, floats, doubles, ints, unsigned):
    doubles[1] = cuda.atomic.add(doubles, 0, f[0])
    cuda.atomic.add(doubles, 0, f[0])
    cuda.atomic.sub(floats, 0, d[0])
    cuda.atomic.max(doubles, 2, f[0])
    cuda.atomic.max(floats, 1, d[0])
    floats[2] = cuda.atomic.max(floats, 1, 5)
    ints[2] = cuda.atomic.cas(ints, 2, d[0], 9)
    cuda.atomic.add(ints, 0, d[1])
    cuda.atomic.add(ints, 1, -7)
    cuda.atomic.exch(ints, 2, f[1])
    cuda.atomic.add(unsigned, 0, 5)
    cuda.atomic.inc(unsigned, 1, 3)
    cuda.atomic.dec(unsigned, 2, 3)

outs = np.zeros(3, np.float32), np.zeros(3), np.zeros(3, np.int32), np.full(3, 0xFFFFFFFE, np.uint32)
kernel[1, 1](np.array([0.1, 3.7], np.float32), np.array([0.1, 2.9]), *outs)
for out in outs:
    print(out.tolist())
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_operands_of_an_atomic_are_converted_to_the_arrays_type(tmp_path, engine):
    path = tmp_path / "atomics.py"
    path.write_text(ATOMICS)
    single = float(np.float32(0.1))
    assert [json.loads(line) for line in run(engine, path)] == [
        [-single, 5.0, single], [2 * single, 0.0, single], [2, -7, 3], [3, 0, 3],
    ]  # fmt: skip
