"""The compiled engine on what Python and Numba have beyond loops and arrays: print, functions, recursion, zip, *."""

from __future__ import annotations

import textwrap

import pytest

from engines import LONGS, assert_engines_agree, ignore_progress, kernel_source, run_both
from launching import Array, launch
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.compiled.not_compilable import NotCompilableError
from tilescope.tracer.model.trace import Op
from tilescope.tracer.recording.kernel_loader import LoadError
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
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(32, 1, 1)))


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
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(32, 1, 1)))


def test_lambdas_of_one_line_that_differ_in_an_operator(tmp_path):
    source = """
    product, total = cuda.jit(device=True)(lambda x, y: x * y), cuda.jit(device=True)(lambda x, y: x + y)

    def scaled(factor):
        return cuda.jit(device=True)(lambda x: x - factor), cuda.jit(device=True)(lambda x: x // factor)

    less, part = scaled(3)

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = 1000 * product(a[i], 2) + 10 * total(a[i], 2) + less(a[i]) - part(a[i])
    """
    for trace in run_both(launch(tmp_path, source, LONGS, block=(4, 1, 1))):
        assert trace.value[trace.op == Op.STORE].tolist() == [17, 2028, 4039, 6049]


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
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(32, 1, 1)))


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
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(64, 1, 1)))


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
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(10, 1, 1)))


def test_zip_reads_nothing_that_no_round_uses(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        index = cuda.local.array(6, a.dtype)
        index[0] = 1
        index[1] = 2
        for k, (x, y) in enumerate(zip(index, a[:2])):
            out[k] = x * y
    """
    for trace in run_both(launch(tmp_path, source, LONGS, block=(1, 1, 1))):
        names = [trace.buffers[number].name for number in trace.buffer[trace.op == Op.LOAD]]
        assert names == ["index", "a", "index", "a"]


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
    assert_engines_agree(launch(tmp_path, source, FLOATS, block=(64, 1, 1)))
    assert_engines_agree(launch(tmp_path, source, (LONGS[0], FLOATS[1]), block=(64, 1, 1)))


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
        cuda.atomic.xor(out, t % 3 + 3, a[t])
    """
    for dtype in ("int32", "uint64"):
        assert_engines_agree(
            launch(tmp_path, source, (Array((64,), dtype, "arange"), Array((64,), dtype)), block=(64, 1, 1))
        )


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
    assert_engines_agree(launch(tmp_path, source, FLOATS, block=(64, 1, 1)))


@pytest.mark.parametrize("alignment", ["3", "4", "-8", "'wide'"])
def test_an_alignment_that_numba_refuses(tmp_path, alignment):
    source = f"""
    @cuda.jit
    def kernel(a, out):
        tile = cuda.shared.array(64, float32, alignment={alignment})
        tile[0] = 1
    """
    kernel_launch = launch(tmp_path, source, FLOATS)
    with pytest.raises(NotCompilableError, match="Alignment must be"):
        compiled.run_compiled(kernel_launch, lambda done, total: None)


PRINTING = """
@cuda.jit
def kernel(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i]
    print("thread", i, a[i] / 3, b[i] * b[1], b[i] > 2, -42)
    if i % 2:
        print()
        out[i] += 1
        print((i, (a[i], True)), 1.5)
"""


@pytest.mark.parametrize("schedule", ["sequential", "lockstep", "random"])
def test_kernels_print_in_the_order_of_turns_as_in_the_simulator(tmp_path, capsys, schedule):
    arguments = (
        Array((64,), "float64", "arange"),
        Array((64,), "float32", "arange"),
        Array((64,), "float64"),
    )
    kernel_launch = launch(tmp_path, PRINTING, arguments, (2, 1, 1), (3, 1, 1), schedule, 1)
    compiled.run_compiled(kernel_launch, lambda done, total: None, turns=schedule != "sequential")
    ours = capsys.readouterr().out
    run_simulator(kernel_launch, lambda done, total: None)
    assert ours == capsys.readouterr().out
    assert ours.count("thread") == 6


def test_kernels_that_print_take_turns_at_once(tmp_path):
    kernel_launch = launch(tmp_path, "@cuda.jit\ndef kernel():\n    print(cuda.grid(1))\n")
    assert compiled.CompiledLaunch(kernel_launch, lambda done, total: None).threads_interact


def test_nothing_is_printed_in_an_unspecified_order(tmp_path, capsys):
    arguments = (
        Array((64,), "float64", "arange"),
        Array((64,), "float32", "arange"),
        Array((64,), "float64"),
    )
    with pytest.raises(NotCompilableError, match="depends on the order"):
        compiled.run_compiled(
            launch(tmp_path, PRINTING, arguments, block=(4, 1, 1)), lambda done, total: None
        )
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


def test_functions_that_call_themselves_are_refused(tmp_path):
    with pytest.raises(LoadError, match="it calls itself"):
        run_simulator(
            launch(tmp_path, RECURSIVE.replace("DEPTH", "100"), LONGS, block=(16, 1, 1)),
            lambda done, total: None,
        )


def test_a_function_that_calls_itself_too_often_is_refused(tmp_path):
    source = RECURSIVE.replace("DEPTH", "a[i] + 100000000")
    kernel_launch = launch(tmp_path, source, LONGS, block=(16, 1, 1))
    with pytest.raises(NotCompilableError, match="the recursion of depth is too deep"):
        compiled.run_compiled(kernel_launch, lambda done, total: None)


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
    assert_engines_agree(launch(tmp_path, source, arguments, block=(64, 1, 1)))
    assert_engines_agree(launch(tmp_path, source, FLOATS, block=(64, 1, 1)))


DIVISIONS = """
@cuda.jit(debug=True, opt=False)
def kernel(a, out):
    i = cuda.grid(1)
    out[i] = a[i] / (a[i] + 1) + a[i] // 3 + a[i] % 7
    out[i] += 1 / (a[i] - DIVISOR)
"""


@pytest.mark.parametrize("arguments", [FLOATS, LONGS], ids=["floats", "longs"])
def test_a_kernel_to_be_debugged(arguments, tmp_path):
    assert_engines_agree(launch(tmp_path, DIVISIONS.replace("DIVISOR", "64"), arguments, block=(64, 1, 1)))


DIVIDING = """
@cuda.jit(device=True)
def divided(x, y):
    x += 0
    return (x * 2 +
            OPERATION)

@cuda.jit(debug=True, opt=False)
def kernel(a, out):
    i = cuda.grid(1)
    out[i] = a[i] / (a[i] + 1) if a[i] > 2 else 8
    out[i] += divided(a[i], a[40] - a[i])
    out[0] = 1
"""


@pytest.mark.parametrize("operation", ["x / y", "x // y", "x % y", "divmod(x, y)[0]"])
@pytest.mark.parametrize("dtype", ["int64", "uint8", "int32", "float32", "float64"])
def test_a_division_by_zero_in_a_kernel_to_be_debugged(dtype, operation, tmp_path):
    arguments = Array((64,), dtype, "arange"), Array((64,), "float64")
    kernel_launch = launch(tmp_path, DIVIDING.replace("OPERATION", operation), arguments, block=(64, 1, 1))
    error = assert_engines_agree(kernel_launch).error
    assert (error.type, error.message, error.thread) == ("ZeroDivisionError", "division by zero", (40, 0, 0))
    assert DIVIDING.splitlines()[error.line - 4].strip() == "OPERATION)"


def test_vectors(tmp_path):
    source = """
    @cuda.jit(device=True)
    def turned(v):
        return cuda.float32x2(-v.y, v.x)

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        one = cuda.float32x4(a[i], 2, 0.1, True)
        two = turned(cuda.float2(one.x, one.z))
        three = cuda.double3(cuda.double2(two.x, two.y), 1 / 3)
        small = cuda.uchar4(a[i] * 7, -1, i + 250, 3)
        for v in (cuda.int2(1, 2), cuda.int32x2(i, 2.9)):
            out[i] += v.x * v.y
        out[i] += one.z + one.w + two.x * two.y + three.x - three.z + small.x + small.y + small.z
    """
    assert_engines_agree(launch(tmp_path, source, FLOATS, block=(64, 1, 1)))
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(64, 1, 1)))


def test_too_few_components(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        out[0] = cuda.float32x4(1, 2, 3).x
    """
    kernel_launch = launch(tmp_path, source, FLOATS)
    with pytest.raises(NotCompilableError):
        compiled.run_compiled(kernel_launch, lambda done, total: None)
    with pytest.raises(LoadError, match="float32x4"):
        run_simulator(kernel_launch, lambda done, total: None)


@pytest.mark.parametrize("arguments", [FLOATS, LONGS], ids=["floats", "longs"])
def test_remainders_to_the_nearest(arguments, tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = math.remainder(a[i], 5) + math.remainder(a[i] - 7.5, -3.25)
        if i == 3:
            out[i] = 0 if math.isnan(math.remainder(a[i], a[0])) else 1
    """
    assert_engines_agree(launch(tmp_path, source, arguments, block=(64, 1, 1)))


@pytest.mark.parametrize("kind", ["uint8", "int32", "int64", "uint64"])
def test_bits_that_are_set(kind, tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = a[i].bit_count() + 100 * (a[i] - 40).bit_count()
    """
    arrays = Array((64,), kind, "arange"), Array((64,), "int64")
    assert_engines_agree(launch(tmp_path, source, arrays, block=(64, 1, 1)))


def test_a_complex_number_of_a_tuple(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        t = (a[i], a[i] + 1)
        z = complex(*t) * complex(*t)
        out[i] = z.real + z.imag
    """
    assert_engines_agree(launch(tmp_path, source, FLOATS, block=(64, 1, 1)))


DTYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_rounded_to_digits(dtype, tmp_path):
    source = """
    @cuda.jit
    def kernel(a, b, out):
        i = cuda.threadIdx.x
        out[i, 0] = round(a[i] * b[i], i - 8)
        out[i, 1] = round(a[i], i - 8)
        out[i, 2] = round(a[i] / b[i], (i - 8) * 20)
    """
    given = (Array((32,), dtype, "arange"), Array((32,), "float64", "random"), Array((32, 3), "float64"))
    assert_engines_agree(launch(tmp_path, source, given, block=(32, 1, 1)))


def test_rounding_follows_the_gpu_and_not_python(tmp_path):
    source = kernel_source("out[0] = round(a[1] * 0.075, 2)\nout[1] = round(a[1] * 1e300, 1)")
    trace = assert_engines_agree(
        launch(tmp_path, source, (Array((4,), "float64", "arange"), Array((2,), "float64")))
    )
    assert trace.value[trace.op == Op.STORE].tolist() == [0.08, 2.0**63 / 10]
    assert [round(0.075, 2), round(1e300, 1)] == [0.07, 1e300]


def test_members_of_enums_by_their_names(tmp_path):
    source = """
    import enum

    class Colour(enum.Enum):
        RED = 1
        BLUE = 2

    class Level(enum.IntEnum):
        LOW = 3

    @cuda.jit
    def kernel(a, out):
        mine = Colour["RED"] if cuda.threadIdx.x else Colour.BLUE
        out[0] = mine == Colour["BLUE"]
        out[1] = Level["LOW"] + Colour["BLUE"].value
    """
    trace = assert_engines_agree(launch(tmp_path, source, LONGS))
    assert trace.value.tolist() == [1, 5]


def test_a_tuple_created_from_a_tuple(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        one, two = cuda.float32x2(1, a[2]), cuda.float32x2(a[3], 4)
        for place, v in enumerate(tuple((one, two, two))):
            out[2 * place] = v.x
            out[2 * place + 1] = v.y
    """
    assert_engines_agree(launch(tmp_path, source, LONGS))


MADE = """
@cuda.jit(device=True)
def some(x, n):
    return x[n:]

@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
    x = np.zeros((4, 2), np.int64)
    x[t, 1] = a[t] + 1
    x[2:] = t
    x[3, 0] += 5
    out[t] = some(x, 1)[2, 0] + x[t, 1] + INDEX
    for row in x:
        out[t] += row[1]
"""


@pytest.fixture
def memory_in_kernels(monkeypatch):
    """Turn on numba-cuda's runtime, with which kernels make arrays."""
    from numba.core import config

    monkeypatch.setattr(config, "CUDA_ENABLE_NRT", True, raising=False)


@pytest.mark.usefixtures("memory_in_kernels")
def test_arrays_that_a_kernel_makes(tmp_path):
    trace = assert_engines_agree(launch(tmp_path, MADE.replace("INDEX", "x[-1, -2]"), LONGS, block=(2, 1, 1)))
    assert [b.name for b in trace.buffers] == ["a", "out"]  # nobody else sees what is in one


@pytest.mark.parametrize("index", ["x[4, 0]", "some(x, 2)[t + 2, 0]"])
@pytest.mark.usefixtures("memory_in_kernels")
def test_an_index_outside_an_array_that_a_kernel_makes_is_left_to_the_simulator(index, tmp_path):
    with pytest.raises(NotCompilableError, match="outside a NumPy array"):
        compiled.run_compiled(launch(tmp_path, MADE.replace("INDEX", index), LONGS), lambda done, total: None)


REGISTERED = """
from numba.extending import overload, register_jitable

@register_jitable
def ratio(x, y=int32(3)):
    return x / y + twice(x)

@register_jitable
def twice(x):
    return x + x

def applied(function, *values):
    if len(values) == 1:
        return function(*values)
    return function(function(values[0]) + values[1])

@overload(applied)
def of_types(function, *values):
    if len(values) == 1:
        return lambda function, *values: function(*values)
    return lambda function, *values: function(function(values[0]) + values[1])

@cuda.jit
def kernel(a, out):
    i = cuda.threadIdx.x

    def ten_times(x):
        return 10 * x

    out[i] = ratio(a[i]) + ratio(a[i], y=a[i] * 0 + 1)
    out[i] += applied(ten_times, a[i]) + applied(twice, a[i], 3)
"""


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float64"])
def test_functions_registered_with_numba(dtype, tmp_path):
    assert_engines_agree(
        launch(tmp_path, REGISTERED, (Array((8,), dtype, "arange"), Array((8,), "float64")), block=(8, 1, 1))
    )


def test_a_function_not_registered_with_numba_is_refused(tmp_path):
    source = "def f(x):\n    return x\n\n@cuda.jit\ndef kernel(a, out):\n    out[0] = f(a[0])\n"
    with pytest.raises(NotCompilableError, match="line 9: f, a function of Python"):
        compiled.run_compiled(launch(tmp_path, source, LONGS), lambda done, total: None)


OTHER_DIVISIONS = """
import operator

@cuda.jit(debug=True, opt=False)
def kernel(a, out):
    i = cuda.grid(1)
    x, y = a[i], a[2] - a[i]
    LINE
    out[i] += x
"""


@pytest.mark.parametrize("line", ["x /= y", "x //= y", "out[i] /= y", "out[i] %= y"])
def test_assignments_that_divide_by_zero_in_a_kernel_to_be_debugged(line, tmp_path):
    arguments = Array((64,), "float64", "arange"), Array((64,), "float64", "ones")
    kernel_launch = launch(tmp_path, OTHER_DIVISIONS.replace("LINE", line), arguments, block=(4, 1, 1))
    error = assert_engines_agree(kernel_launch).error
    assert (error.type, error.thread) == ("ZeroDivisionError", (2, 0, 0))


@pytest.mark.parametrize("line", ["x = y ** -1", "x = operator.truediv(x, y)"])
def test_a_division_without_a_line_from_numba_is_left_to_the_simulator(line, tmp_path):
    kernel_launch = launch(tmp_path, OTHER_DIVISIONS.replace("LINE", line), LONGS, block=(4, 1, 1))
    with pytest.raises(NotCompilableError, match="Numba raised ZeroDivisionError"):
        compiled.run_compiled(kernel_launch, lambda done, total: None)


def test_a_function_that_only_numba_can_run_ends_both_engines_alike(tmp_path):
    source = """
    from numba.extending import overload

    def missing(x):
        raise NotImplementedError("only in a kernel")

    @overload(missing)
    def of_type(x):
        return lambda x: x

    @cuda.jit
    def kernel(a, out):
        if a[1]:
            missing(a[1])
        out[0] = 1
    """
    error = assert_engines_agree(launch(tmp_path, source, LONGS)).error
    assert (error.type, error.message) == ("NotImplementedError", "only in a kernel")


def test_accesses_outside_give_poison_in_every_order(tmp_path):
    source = """
    @cuda.jit(device=True)
    def second(row):
        return row[1]

    @cuda.jit
    def kernel(a, out):
        s = cuda.shared.array((4, 8), int64)
        t = cuda.threadIdx.x
        s[t % 4, t % 8] = t
        cuda.syncthreads()
        row = s[t % 6]
        if t < 20:
            out[t] = second(row) + a[t + 60]
        else:
            row[t % 8] = a[-t - 50]
            s[5 - t % 6] = out[t % 16]
    """
    ours = assert_engines_agree(launch(tmp_path, source, LONGS, block=(32, 1, 1)))
    assert {"s[4, 1]", "a[79]", "a[-81]"} <= set(ours.outside.text)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("out[t] = a[t * 300_000]", "a[300000] lies 2,399,488 bytes after the end of a"),
        ("a[t * -300_000] = 1", "a[-300000] lies 2,399,488 bytes before the start of a"),
    ],
)
def test_accesses_that_a_gpu_can_not_address_end_the_launch(tmp_path, body, why):
    source = kernel_source("t = cuda.threadIdx.x\n" + body)
    ours, theirs = run_both(launch(tmp_path, source, LONGS, block=(8, 1, 1)))
    assert theirs.error is not None and why in theirs.error.message
    assert ours.error == theirs.error
    assert ours.outside.text == theirs.outside.text


def test_misaligned_elements_end_the_launch(tmp_path):
    body = "b, t = cuda.shared.array(64, uint8), cuda.threadIdx.x\nb[:] = 0\nk = 4 * t + {}\n"
    body += "out[t] = b[k:k + 4].view(int32)[0]"
    assert_engines_agree(launch(tmp_path, kernel_source(body.format(0)), LONGS, block=(8, 1, 1)))
    wrong = launch(tmp_path, kernel_source(body.format(2)), LONGS, block=(8, 1, 1))
    with pytest.raises(NotCompilableError, match="no multiple of its size"):
        compiled.run_compiled(wrong, ignore_progress)
    error = run_simulator(wrong, ignore_progress).error
    assert error is not None and error.message.startswith("b, viewed as int32 from byte 2 on")


def test_local_aliases_of_compile_time_constants(tmp_path):
    source = """
    @cuda.jit(device=True)
    def twice(x):
        return x + x

    @cuda.jit(device=True)
    def place(index, size):
        block = cuda.blockIdx
        return block.x * size.x + index.x

    @cuda.jit
    def kernel(a, out):
        shared, dim = cuda.shared, cuda.blockDim
        tid, own = cuda.threadIdx, cuda.local
        sync = cuda.syncthreads
        add, root, f, m = cuda.atomic.add, math.sqrt, twice, math
        kind, number = a.dtype, np.float64
        tile, mine = shared.array(32, kind), own.array(2, number)
        t, i = tid.x, place(cuda.threadIdx, dim)
        tile[t] = f(a[i])
        mine[0] = m.floor(root(number(t)))
        sync()
        add(out, 0, tile[31 - t])
        out[i] = mine[0]
    """
    assert_engines_agree(launch(tmp_path, source, LONGS, grid=(2, 1, 1), block=(32, 1, 1)))


def test_arrays_are_unpacked(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        s = cuda.shared.array((8, 2), int64)
        t = cuda.threadIdx.x
        s[t, 0], s[t, 1] = a[t], 2 * a[t]
        x, y = s[t]
        x, y = y, x
        row = s[t]
        p, q = row
        (u, v), w = s[t], 3
        out[t], out[t + 8] = row
        out[t + 16] = x - y + p * q + u - v * w
        for c, d in s[:2]:
            out[t + 16] += c * d
        g = cuda.grid(2)
        i, j = g
        out[t + 24] = i + j + g[types.uint32(0)] + g[np.uint8(1)]
    """
    assert_engines_agree(
        launch(tmp_path, "from numba import types\n" + textwrap.dedent(source), LONGS, block=(8, 1, 1))
    )


def test_axes_that_an_ellipsis_leaves_out(tmp_path):
    source = """
    @cuda.jit
    def kernel(a, out):
        s, t = cuda.shared.array((4, 2, 3), int64), cuda.threadIdx.x
        if t == 0:
            s[...] = 7
            s[1, ..., 2] = 5
        cuda.syncthreads()
        one = a[t, ...]
        out[t, ...] = s[..., t % 3][t % 4, 1] + s[t % 4, ..., 2][1]
        out[t + 8] = s[1, 0, 2, ...] + a[t]
    """
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(8, 1, 1)))
