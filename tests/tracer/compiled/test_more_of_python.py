"""The compiled engine on what Python and Numba have beyond loops and arrays: print, functions, recursion, zip, *."""

from __future__ import annotations

import pytest

from engines import LONGS, same
from launching import Array, launch
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.not_compilable import NotCompilable
from tilescope.tracer.simulator.numba_patch import run as run_simulator

FLOATS = (Array((64,), "float32", "arange"), Array((64,), "float32"))


def test_functions_in_kernels(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        i, factor = cuda.grid(1), 3
        scaled = lambda x: x * factor + a[(i + 1) % 64]

        def put(k, value):
            if value % 2:
                out[k] = value
            else:
                out[k] = -value
            return k

        last = put(i, scaled(a[i]))
        out[last] += (lambda i: i * 2)(i)
    """
    same(launch(tmp_path, source, LONGS, block=(32, 1, 1)))


def test_lambdas_as_device_functions(tmp_path):
    source = """
    three = 3
    both = [cuda.jit(device=True)(f) for f in (lambda x, y: x * three + y, lambda x, y: x - y)]
    first, second = both

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = first(a[i], second(i, 5))
    """
    same(launch(tmp_path, source, LONGS, block=(32, 1, 1)))


def test_a_function_that_is_passed_on(tmp_path):
    source = """
    @cuda.jit(device=True)
    def applied(function, *values):
        return function(*values)

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = applied(lambda x, y: x - 2 * y, a[i], 5)
    """
    same(launch(tmp_path, source, LONGS, block=(32, 1, 1)))


def test_functions_with_any_number_of_arguments(tmp_path):
    source = """
    @cuda.jit(device=True)
    def total(first, *others):
        for other in others:
            first += other
        return first * len(others)

    @cuda.jit(device=True)
    def moved(place, *arrays):
        arrays[1][place] = arrays[0][place]

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        pair = (a[i], a[63 - i])
        moved(i, a, out)
        out[i] += total(i, 2, 3) + total(*pair) + total(4, *pair)
    """
    same(launch(tmp_path, source, LONGS, block=(64, 1, 1)))


def test_zip_takes_from_each_array_until_one_has_no_more(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        for x, y in zip(a[:5], a[i:8]):
            out[i] += x * y
        for k, (pair) in enumerate(zip(range(3), range(4))):
            out[i] += k * pair[0] + pair[1]
        for pair in zip(a[i:i + 2], a[:3], a):
            if pair[2] > 0:
                continue
            out[i] += pair[0]
        for k, (x, y, z) in enumerate(zip(a[:i], range(3, 9), range(9, 0, -2)), 5):
            out[i] += k * x + y * z
        for (k, x), y in zip(enumerate(a[i:]), a):
            out[i] += k * x - y
    """
    same(launch(tmp_path, source, LONGS, block=(10, 1, 1)))


def test_arrays_of_the_type_of_another(tmp_path):
    source = """
    @cuda.jit(device=True)
    def turned(cells, t):
        own = cuda.local.array(2, cells.dtype)
        own[0] = cells[t]
        own[1] = own[0] / 3
        return own[1]

    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(64, dtype=a.dtype)
        row = tile[:32]
        more = cuda.shared.array(4, row.dtype)
        tile[t] = a[t]
        more[t % 4] = 1
        cuda.syncthreads()
        out[t] = turned(tile, 63 - t) + more[0]
    """
    same(launch(tmp_path, source, FLOATS, block=(64, 1, 1)))
    same(launch(tmp_path, source, (LONGS[0], FLOATS[1]), block=(64, 1, 1)))


def test_integers_that_are_reduced(tmp_path):
    source = """
    @cuda.jit(device=True)
    def larger(a, b):
        return a if a > b else b

    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(64, a.dtype)
        tile[t] = a[t] * (t % 5)
        cuda.syncthreads()
        width = 32
        while width:
            if t < width:
                tile[t] = larger(tile[t], tile[t + width])
            cuda.syncthreads()
            width //= 2
        if t == 0:
            out[0] = tile[0]
        cuda.atomic.add(out, 1, a[t])
        cuda.atomic.max(out, 2, -a[t])
        cuda.atomic.xor(out, (t % 3 + 3,), a[t])
    """
    for dtype in ("int8", "uint16", "int32", "uint64"):
        same(launch(tmp_path, source, (Array((64,), dtype, "arange"), Array((64,), dtype)), block=(64, 1, 1)))


def test_alignment_changes_nothing_that_is_seen(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(64, float32, alignment=64)
        own = cuda.local.array(shape=(1, 2), dtype=int32, alignment=None)
        own[0, 1], tile[t] = t, a[t]
        cuda.syncthreads()
        out[t] = tile[63 - t] + own[0, 1]
    """
    same(launch(tmp_path, source, FLOATS, block=(64, 1, 1)))


@pytest.mark.parametrize("alignment", ["3", "4", "-8", "'wide'"])
def test_an_alignment_that_numba_refuses(tmp_path, alignment):
    source = f"""
    @cuda.jit
    def kernel(a, out):
        tile = cuda.shared.array(64, float32, alignment={alignment})
        tile[0] = 1
    """
    made = launch(tmp_path, source, FLOATS)
    with pytest.raises(NotCompilable, match="Alignment must be"):
        compiled.run_compiled(made, lambda done, of: None)


PRINTING = """
@cuda.jit
def kernel(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i]
    print("thread", i, a[i] / 3, b[i] * b[1], b[i] > 2, -42)
    if i % 2:
        print()
        out[i] += 1
        print((i, (a[i], True)), 1.5, 2j)
"""


@pytest.mark.parametrize("schedule", ["sequential", "lockstep", "random"])
def test_kernels_print_in_the_order_of_turns_as_the_simulator_does(tmp_path, capsys, schedule):
    arguments = (
        Array((64,), "float64", "arange"),
        Array((64,), "float32", "arange"),
        Array((64,), "float64"),
    )
    made = launch(tmp_path, PRINTING, arguments, (2, 1, 1), (3, 1, 1), schedule, 1)
    compiled.run_compiled(made, lambda done, of: None, turns=schedule != "sequential")
    ours = capsys.readouterr().out
    run_simulator(made, lambda done, of: None)
    assert ours == capsys.readouterr().out
    assert ours.count("thread") == 6


def test_who_prints_takes_turns_at_once(tmp_path):
    made = launch(tmp_path, "@cuda.jit\ndef kernel():\n    print(cuda.grid(1))\n")
    assert compiled.CompiledLaunch(made, lambda done, of: None).meets


def test_nothing_is_printed_in_an_order_that_nobody_chose(tmp_path, capsys):
    arguments = (
        Array((64,), "float64", "arange"),
        Array((64,), "float32", "arange"),
        Array((64,), "float64"),
    )
    with pytest.raises(NotCompilable, match="depends on the order"):
        compiled.run_compiled(launch(tmp_path, PRINTING, arguments, block=(4, 1, 1)), lambda done, of: None)
    assert capsys.readouterr().out == ""


RECURSIVE = """
@cuda.jit(device=True)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)

@cuda.jit(device=True)
def summed(a, low, high):
    if high - low == 1:
        return a[low]
    middle = (low + high) // 2
    return summed(a, low, middle) + summed(a, middle, high)

@cuda.jit(device=True)
def depth(n):
    if n == 0:
        return 0
    return 1 + depth(n - 1)

@cuda.jit
def kernel(a, out):
    i = cuda.grid(1)
    out[i] = fibonacci(i % 8) + summed(a, 0, i + 1) + depth(DEPTH)
"""


def test_functions_that_call_themselves(tmp_path):
    same(launch(tmp_path, RECURSIVE.replace("DEPTH", "100"), LONGS, block=(16, 1, 1)))


def test_a_function_that_calls_itself_too_often_is_refused(tmp_path):
    source = RECURSIVE.replace("DEPTH", "a[i] + 100000000")
    made = launch(tmp_path, source, LONGS, block=(16, 1, 1))
    with pytest.raises(NotCompilable, match="depth calls itself more often"):
        compiled.run_compiled(made, lambda done, of: None)


def test_the_parts_of_a_float(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        fraction, whole = math.modf((a[i] - 32) / 3)
        out[i] = fraction * 1000 + whole
        out[i] += math.modf(math.inf * (i % 2))[1] + math.modf(i)[0]
    """
    arguments = (Array((64,), "float64", "arange"), Array((64,), "float64"))
    same(launch(tmp_path, source, arguments, block=(64, 1, 1)))
    same(launch(tmp_path, source, FLOATS, block=(64, 1, 1)))
