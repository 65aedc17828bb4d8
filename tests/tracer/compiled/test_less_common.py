"""The compiled engine on what courses use less often: functions as arguments, half precision, enums, named tuples."""

from __future__ import annotations

import enum
import linecache
from collections import namedtuple

import numpy as np
import pytest

from engines import assert_engines_agree, assert_same
from launching import Array, launch
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.not_compilable import NotCompilableError
from tilescope.tracer.compiled.rewrite.cuda_names import FUNCTIONS, UPDATES
from tilescope.tracer.compiled.runtime.symbols import SUPPORT
from tilescope.tracer.recording.finish import finish
from tilescope.tracer.recording.run_record import RunRecord
from tilescope.tracer.simulator.execution import Execution

LONGS = (Array((64,), "int64", "arange"), Array((64,), "int64"))
HALVES = (Array((16,), "float16", "arange"), Array((16,), "float16", "twos"), Array((16,), "float16"))

OPERATIONS = """
@cuda.jit(device=True)
def twice(x):
    return x + x

@cuda.jit(device=True)
def same_number(x):
    return x

@cuda.jit(device=True)
def reduced(a, out, operation, cast, dtype, shape, t):
    s = cuda.shared.array(shape, dtype)
    if t < shape:
        s[t] = cast(a[t])
    cuda.syncthreads()
    operation(s, t // 2 % shape, 1)
    cuda.syncthreads()
    out[t] += s[t % shape]

@cuda.jit(device=True)
def apply(operation, a, i, value):
    return operation(a, i, value)

@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
    reduced(a, out, cuda.atomic.add, twice, int32, 32, t)
    reduced(a, out, cuda.atomic.max, same_number, float32, 16, t)
    out[32] += apply(cuda.atomic.add, out, 33, 2) + apply(cuda.atomic.sub, out, 34, 3)
"""


def test_functions_types_and_shapes_as_arguments_of_device_functions(tmp_path):
    assert_engines_agree(launch(tmp_path, OPERATIONS, LONGS, block=(32, 1, 1)))


def test_an_argument_that_its_function_assigns_to_stays_one(tmp_path):
    source = """
    @cuda.jit(device=True)
    def count(n, a):
        total = cuda.local.array(4, int64)
        total[0] = 0
        while n > 0:
            total[0] += a[n]
            n -= 1
        return total[0]

    @cuda.jit
    def kernel(a, out):
        out[0] = count(3, a) + count(5, a)
    """
    assert_engines_agree(launch(tmp_path, source, LONGS))


TWO = ("hadd", "hsub", "hmul", "hdiv", "heq", "hne", "hgt", "hge", "hlt", "hle", "hmax", "hmin")
ONE = (
    "hneg", "habs", "hsin", "hcos", "hlog", "hlog2", "hlog10", "hexp", "hexp2", "hexp10", "hsqrt", "hrsqrt", "hceil",
    "hfloor", "hrcp", "htrunc", "hrint",
)  # fmt: skip


@pytest.mark.parametrize("name", [*TWO, *ONE, "hfma"])
def test_half_precision(tmp_path, name):
    given = "x, y" if name in TWO else "x, y, y" if name == "hfma" else "x"
    source = f"""
    @cuda.jit
    def kernel(a, b, out):
        i = cuda.threadIdx.x
        x, y = a[i], b[i]
        out[i] = cuda.fp16.{name}({given})
    """
    assert_engines_agree(launch(tmp_path, source, HALVES, block=(16, 1, 1)), 2e-3)


def test_numbers_become_half_precision(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, b, out):
        i = cuda.threadIdx.x
        out[i] = np.float16(a[i] / float32(3)) + np.float16(i * 1.1)
    """
    assert_engines_agree(launch(tmp_path, source, HALVES, block=(16, 1, 1)), 2e-3)


def test_attributes_of_cuda_functions_are_defined():
    names = {f"_ts_cuda_{name.replace('.', '_')}" for name in FUNCTIONS}
    assert names == {name for name in SUPPORT if name.startswith("_ts_cuda_")}
    assert {name for name, _ in UPDATES.values()} <= SUPPORT.keys()


def test_the_parts_of_complex_numbers(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        i = cuda.threadIdx.x
        z = a[i] * (1 + 2j)
        out[i] = complex(z.imag, -a[i].real) + abs(z) * z.conjugate()
    """
    assert_engines_agree(
        launch(
            tmp_path, source, (Array((8,), "complex64", "arange"), Array((8,), "complex64")), block=(8, 1, 1)
        ),
        1e-5,
    )


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_the_parts_of_arrays_of_complex_numbers(tmp_path, dtype):
    source = f"""
    @cuda.jit
    def kernel(a, out):
        s = cuda.shared.array((2, 4), np.{dtype})
        t = cuda.threadIdx.x
        s.real[t // 4, t % 4] = a.real[t] * 2
        s[t // 4].imag[t % 4] = a[::-1].imag[t] + t
        cuda.syncthreads()
        out.imag[t] = s[1 - t // 4, t % 4].imag
        out.real[t] += s.real[1 - t // 4, t % 4] + a.real[-1]
        cuda.atomic.add(out.imag, 0, 1)
        out[t] *= a[t] + a.real.real[9 * (t == 3)]
    """
    arguments = (Array((8,), dtype, "arange"), Array((8,), dtype, "ones"))
    assert_engines_agree(launch(tmp_path, source, arguments, block=(8, 1, 1)), 1e-6)


def test_the_numbers_and_elements_of_an_array(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        for i, value in enumerate(a[:5]):
            out[i + 1] += value
        for i, out[20 + i] in enumerate(a[::16]):
            pass
    """
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(2, 1, 1)))


def test_enums_of_the_module(tmp_path):
    source = """
    import enum

    class Colour(enum.Enum):
        RED = 1
        BLUE = 2

    class Level(enum.IntEnum):
        LOW = 3
        HIGH = 7

    @cuda.jit
    def kernel(a, out):
        mine = Colour.RED if cuda.threadIdx.x else Colour.BLUE
        out[cuda.threadIdx.x] = a[Level.HIGH.value] * Level.LOW + Colour.BLUE.value + (mine == Colour.RED)
    """
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(2, 1, 1)))


class Colour(enum.Enum):
    """An argument."""

    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    """An argument that is a number too."""

    LOW = 3


Pair = namedtuple("Pair", ["first", "second"])
TAKING = """
def kernel(pair, colour, level, out):
    if colour == Colour.BLUE:
        out[0] = pair.first[1] + pair.second * level
    out[1] = pair[0][2]
"""


def trace_of(tmp_path, engine, *given):
    """Return the trace of TAKING by an engine's own `execute`, and the array that it writes."""
    out = np.zeros(2)
    run_record = RunRecord(
        launch(tmp_path, "", schedule="sequential"),
        ("pair", "colour", "level", "out"),
        lambda done, total: None,
    )
    linecache.cache["taking.py"] = (len(TAKING), None, TAKING.splitlines(keepends=True), "taking.py")
    names = {"Colour": Colour}
    exec(compile(TAKING, "taking.py", "exec"), names)
    if engine == "compiled":
        compiled.execute(run_record, names["kernel"], (*given, out))
    else:
        Execution(run_record).execute(names["kernel"], (1, 1, 1), (1, 1, 1), (*given, out), debug=False)
    return finish(run_record, "taking.py", ""), out


def test_named_tuples_and_enums_as_arguments(tmp_path):
    given = (Pair(np.arange(4.0), np.int32(5)), Colour.BLUE, Level.LOW)
    (ours, own), (theirs, other) = (
        trace_of(tmp_path, engine, *given) for engine in ("compiled", "simulator")
    )
    assert own.tolist() == other.tolist() == [16, 2]
    assert_same(ours, theirs, 0)
    assert trace_of(tmp_path, "compiled", given[0], Colour.RED, 4)[1].tolist() == [0, 2]


@pytest.mark.parametrize("n", [0, "'x'"])
def test_unexpected_errors_are_refusals_too(tmp_path, n):
    source = (
        f"@cuda.jit\ndef kernel(a, out):\n    s = cuda.shared.array(8 // {n}, int64)\n    out[0] = s[0]\n"
    )
    with pytest.raises(NotCompilableError, match="Error while compiling: "):
        compiled.run_compiled(launch(tmp_path, source, LONGS), lambda done, total: None)


GLOBALS = """
MASK = np.array([[1, 2], [3, 4]], np.float32)
WEIGHTS, TRACED = np.arange(5), True

@cuda.jit
def kernel(a, out):
    t: int64 = cuda.threadIdx.x
    for row in range(MASK.shape[0]):
        out[t] += MASK[row, t % 2] * WEIGHTS[-1 - t % len(WEIGHTS)]
    if TRACED:
        out[t] += INDEX
"""


def test_global_arrays_have_their_values_at_launch(tmp_path):
    trace = assert_engines_agree(launch(tmp_path, GLOBALS.replace("INDEX", "1"), LONGS, block=(8, 1, 1)))
    assert [b.name for b in trace.buffers] == ["a", "out"]  # part of the code, as on the GPU


@pytest.mark.parametrize("index", ["WEIGHTS[t]", "MASK[t, 0]", "MASK[0, -t]"])
def test_an_index_outside_a_global_array_is_left_to_the_simulator(tmp_path, index):
    with pytest.raises(NotCompilableError, match="outside a NumPy array"):
        compiled.run_compiled(
            launch(tmp_path, GLOBALS.replace("INDEX", index), LONGS, block=(8, 1, 1)), lambda d, o: None
        )
