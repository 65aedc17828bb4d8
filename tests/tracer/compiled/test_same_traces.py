"""The compiled engine against the simulator: the same launch gives the same trace, column by column."""

from __future__ import annotations

import msgspec
import pytest

from engines import LONGS, assert_engines_agree, count_past_cap, ignore_progress, kernel_source
from launching import Array, Limits, Scalar, launch
from numba_catalogue import find_numba, numba_scenarios
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.analysis.counters import totals_of
from tilescope.tracer.analysis.requests import requests_of
from tilescope.tracer.compiled.driver import engine as compiled
from tilescope.tracer.model.plan import launch_of

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

# Kernels of (a, out), both of 64 int64 with a = 0 1 2 ..., in two blocks of 32 threads.
BODIES = {
    "grid-stride loop": """
for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
    out[i] = a[i] + 1
""",
    "names of a thread": """
i = cuda.grid(1)
out[i] = a[i] + cuda.threadIdx.x + 2 * cuda.blockIdx.x + cuda.laneid
out[i] += cuda.blockDim.x * cuda.gridDim.x * cuda.warpsize
""",
    "while, break, continue": """
n = 0
while True:
    n += 1
    if n % 2:
        continue
    if n > a[cuda.threadIdx.x]:
        break
    out[cuda.grid(1)] = n
""",
    "else of a loop": """
for k in range(3):
    if a[k] == cuda.threadIdx.x:
        break
else:
    out[cuda.grid(1)] = 5
""",
    "early return": """
t = cuda.threadIdx.x
if t > 7:
    return
out[t] = a[t]
cuda.syncthreads()
out[t] = out[7 - t]
""",
    "assignments": """
i = cuda.grid(1)
x, y = a[i], a[63 - i]
out[i], z = y, x
out[i] = last = z
out[i] += last
""",
    "an index that is loaded": """
i = cuda.grid(1)
out[a[i]] = a[a[63 - i]]
out[a[i]] += a[i]
""",
    "negative indices": """
i = cuda.grid(1)
out[-1 - i] = a[-64]
""",
    "outside": """
i = cuda.grid(1)
out[i] = a[i + 20]
out[i + 50] = 1
out[-65] = 2
""",
    "conditions": """
i = cuda.grid(1)
out[i] = a[i] if a[i] > 3 and a[0] == 0 or not a[1] else a[2]
out[0] = 1 < a[i] < 9
""",
    "an array for": """
for value in a[:5]:
    out[cuda.grid(1)] += value
""",
    "a tuple for": """
for value in (3, 1, 2):
    out[cuda.grid(1)] += value
""",
    "two shared arrays on a line": """
s, u = cuda.shared.array(32, int64), cuda.shared.array((4, 8), float32)
t = cuda.threadIdx.x
s[t] = t
u[t // 8, t % 8] = t / 2
cuda.syncthreads()
out[cuda.grid(1)] = s[31 - t] + u[t % 4, t // 4]
""",
    "unset shared and local memory": """
s, m = cuda.shared.array(1, int64), cuda.local.array(2, dtype=int32)
out[cuda.grid(1)] = s[0] + m[1]
s[0] = 1
m[1] = 2
""",
    "local arrays": """
m = cuda.local.array(shape=(2, 2), dtype=int64)
m[1, 0] = a[cuda.grid(1)]
cuda.syncthreads()
out[cuda.grid(1)] = m[1, 0]
""",
    "views": """
r = a.reshape((8, 8))
out[0] = r[2:4, 1:6][1, -1] + r.T[3, 1] + r[::-1, ::-2][0, 0]
out[1] = r[-1][0] + r.transpose()[1, 0] + a.reshape(2, -1)[1, 3] + len(r[0])
""",
    "another type": "out[cuda.grid(1)] = a.view(np.int32)[2 * cuda.grid(1)] + a.view(np.uint8)[-8]",
    "slices filled": """
b = cuda.local.array((2, 3), int64)
b[:] = 3
b[0, :] = 7
out[cuda.grid(1)] = b[1, 2]
""",
    "math and casts": """
i = cuda.grid(1)
out[i] = int(math.sqrt(float(a[i]))) + int32(2.7) + max(a[i], 3) - min(a[i], 5)
out[i] += abs(3 - a[i]) + round(2.6) + (a[i] ** 2) // 7 % 5 + (a[i] << 2 ^ 3 & ~a[i])
out[i] += bool(a[i]) + np.int64(math.floor(1.5)) + divmod(a[i], 4)[1]
""",
    "votes at barriers": """
t = cuda.threadIdx.x
out[t] = cuda.syncthreads_count(int(t % 3 == 0)) + 100 * cuda.syncthreads_and(int(t < 40))
out[t] += a[1] * cuda.syncthreads_or(int(t == 9))
""",
    "barriers in branches": """
t = cuda.threadIdx.x
if t < 16:
    cuda.syncthreads()
    out[t] = a[t]
else:
    out[t] = 1
    cuda.syncthreads()
""",
    "atomics": """
i = cuda.grid(1)
out[i] = cuda.atomic.add(out, 63, a[i])
cuda.atomic.max(out, 62, a[i])
cuda.atomic.cas(out, 61, 0, i)
cuda.atomic.compare_and_swap(out[5:], 0, 3)
cuda.atomic.sub(out, 99, 1)
""",
    "shuffles": """
t = cuda.threadIdx.x
v = a[t]
for d in (16, 8, 4, 2, 1):
    v += cuda.shfl_down_sync(0xffffffff, v, d)
out[cuda.grid(1)] = v + cuda.shfl_xor_sync(0xffffffff, 0.5 * t, 1)
""",
    "stops in the middle": """
t = cuda.threadIdx.x
out[t] += a[t] + cuda.shfl_sync(0xffffffff, a[t], a[3]) * a[2]
if a[t] > 3 and cuda.any_sync(0xfffffff0, a[t] > 30):
    out[t] = 1
""",
    "stops in a condition": """
t = cuda.threadIdx.x
n = a[t] % 4
while cuda.any_sync(0xffffffff, n > 0):
    n -= 1
out[t] = n
""",
    "votes and matches": """
t = cuda.threadIdx.x
out[t] = cuda.ballot_sync(0xffff, t % 2) if t < 16 else 0
out[t] += cuda.match_any_sync(0xffffffff, t // 8) + cuda.match_all_sync(0xffffffff, 5)[0] + cuda.all_sync(0xffffffff, 1)
out[t] += cuda.lanemask_lt()
""",
    "lanes that have ended": """
t = cuda.threadIdx.x
if t >= 20:
    return
out[t] = cuda.shfl_down_sync(0xffffffff, t, 4) + cuda.ballot_sync(0xffffffff, 1)
out[t] += cuda.shfl_up_sync(0xffffffff, t, 4)
""",
    "lanes that the mask leaves out": """
t = cuda.threadIdx.x
out[t] = a[t] + cuda.shfl_xor_sync(0xffff, t, 1)
out[t] += cuda.any_sync(0xf0, t > 5)
""",
    "lanes at two calls": """
t = cuda.threadIdx.x
if t % 4 == 0:
    out[t] = cuda.shfl_xor_sync(0xffffffff, t, 1)
elif t % 4 == 1:
    out[t] = cuda.shfl_up_sync(0xffffffff, t, 1)
else:
    out[t] = cuda.shfl_xor_sync(0xffffffff, t, 2)
""",
    "a lane that never comes": """
if cuda.laneid != 7:
    out[cuda.grid(1)] = cuda.ballot_sync(0xffffffff, 1)
cuda.syncthreads()
""",
    "syncwarp": """
t = cuda.threadIdx.x
s = cuda.shared.array(32, int64)
s[t] = a[t]
cuda.syncwarp()
out[t] = s[31 - t]
""",
    "bits": """
i = cuda.grid(1)
out[i] = cuda.popc(a[i]) + cuda.clz(a[i]) + cuda.ffs(a[i]) + cuda.brev(a[i]) + cuda.selp(i > 3, 1, 2)
""",
    "nothing": "pass",
}


@pytest.mark.parametrize("name", BODIES)
def test_constructs(tmp_path, name):
    assert_engines_agree(launch(tmp_path, kernel_source(BODIES[name]), LONGS, (2, 1, 1), (32, 1, 1)))


ATOMIC = ("int32", "int64", "uint32", "uint64", "float32", "float64")  # elements that Numba's atomics take


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "complex64", "complex128"])
def test_types(tmp_path, dtype):
    body = "i = cuda.grid(1)\nout[i] = a[i] * a[i] + a[0]"
    if dtype in ATOMIC:
        body += "\ncuda.atomic.add(out, 0, a[i])"
    assert_engines_agree(
        launch(
            tmp_path, kernel_source(body), (Array((8,), dtype, "arange"), Array((8,), dtype)), block=(8, 1, 1)
        ),
        1e-2,
    )


def test_booleans(tmp_path):
    body = "i = cuda.grid(1)\nif a[i]:\n    out[i] = a[i] and i > 2"
    assert_engines_agree(
        launch(
            tmp_path, kernel_source(body), (Array((8,), "bool", "ones"), Array((8,), "bool")), block=(8, 1, 1)
        )
    )


def test_dynamic_shared_memory_of_two_types(tmp_path):
    body = """whole = cuda.shared.array(0, float32)
left, right = whole[:32], whole[32:]
ints = cuda.shared.array(0, int32)
t = cuda.threadIdx.x
left[t] = t
right[t] = 1
cuda.syncthreads()
out[t] = left[31 - t] + right[t] + (ints[40] == 0x3f800000)"""
    assert_engines_agree(
        launch(tmp_path, kernel_source(body), LONGS, (2, 1, 1), (32, 1, 1), shared_bytes=256)
    )


def test_constant_arrays_and_globals(tmp_path):
    source = """
    TABLE = np.arange(4, dtype=np.float32) ** 2
    WIDTH, SCALE = 3, np.float32(0.5)
    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        table = cuda.const.array_like(TABLE)
        out[t] = table[WIDTH - t] * SCALE + WIDTH
    """
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(4, 1, 1), constants={"WIDTH": 2}))


def test_a_constant_array_that_is_declared_twice_is_one_buffer(tmp_path):
    source = """
    TABLE = np.arange(4, dtype=np.float32)
    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        table = cuda.const.array_like(TABLE)
        s = cuda.shared.array(4, float32)
        again = cuda.const.array_like(TABLE)
        s[t] = table[t]
        out[t] = s[t] + again[3 - t]
    """
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(4, 1, 1)))


def test_device_functions(tmp_path):
    source = """
    @cuda.jit(device=True)
    def square(x, power=2):
        return x ** power

    @cuda.jit(device=True)
    def sum_of(a, i):
        total = square(a[i])
        for k in range(3):
            total += square(a[k], 1)
        return total

    @cuda.jit
    def kernel(a, out):
        out[cuda.grid(1)] = sum_of(a, cuda.grid(1))
    """
    assert_engines_agree(launch(tmp_path, source, LONGS, (2, 1, 1), (32, 1, 1)))


def test_device_functions_in_which_threads_stop(tmp_path):
    source = """
    @cuda.jit(device=True)
    def neighbour(tile, t, distance=1):
        if distance == 0:
            return tile[t]
        cuda.syncthreads()
        value = tile[t ^ distance]
        if value > 5:
            return value
        return -value

    @cuda.jit(device=True)
    def twice(tile, t):
        return neighbour(tile, t) + neighbour(tile, t, 3)

    @cuda.jit
    def kernel(a, out):
        tile = cuda.shared.array(32, int64)
        t = cuda.threadIdx.x
        tile[t] = a[t]
        out[cuda.grid(1)] = tile[t] + twice(tile, t)
        neighbour(tile, t)
    """
    assert_engines_agree(launch(tmp_path, source, LONGS, (2, 1, 1), (32, 1, 1)))


def test_closures(tmp_path):
    source = """
    def make(width):
        from numba import cuda as hidden
        @hidden.jit
        def kernel(a, out):
            tile = hidden.shared.array(width, int64)
            t = hidden.threadIdx.x
            tile[t] = a[t]
            hidden.syncthreads()
            out[t] = tile[width - 1 - t]
        return kernel
    kernel = make(4)
    """
    assert_engines_agree(launch(tmp_path, source, LONGS, block=(4, 1, 1)))


@pytest.mark.parametrize("value", [3, -2.5, True])
def test_scalars(tmp_path, value):
    assert_engines_agree(
        launch(tmp_path, kernel_source("out[0] = n + 1", "out, n"), (Array((1,), "float64"), Scalar(value)))
    )


def test_three_dimensions(tmp_path):
    body = """x, y, z = cuda.grid(3)
nx, ny, nz = cuda.gridsize(3)
out[x, y, z] = x + nx * (y + ny * z) + cuda.threadIdx.z"""
    assert_engines_agree(
        launch(tmp_path, kernel_source(body, "out"), (Array((4, 3, 4), "int32"),), (2, 1, 2), (2, 3, 2))
    )


def test_positions_are_characters_and_calls_over_lines(tmp_path):
    body = "ö = 1; out[ö] = a[ö]\n(cuda.atomic.\n    add(out, 0, a[1]))"
    assert_engines_agree(launch(tmp_path, kernel_source(body), LONGS))


@pytest.mark.parametrize("types", [("int64", "float64"), ("uint64", "int8"), ("float16", "int16")])
@pytest.mark.parametrize("name", ["matmul-naive-col-on-x", "matmul-tiled"])
def test_products_of_two_types_in_blocks_of_four_threads(name, types):
    sizes = {"m": 5, "k": 6, "n": 3, "tile": 2}
    assert_engines_agree(launch_of(find_numba(name), {**sizes, "dtype": types[0], "dtype_b": types[1]}), 1e-4)


@pytest.mark.parametrize("name", [s.name for s in numba_scenarios() if s.engine == "cuda"])
def test_catalogue(name):
    """Matrices are smaller than by default, but still of several blocks and steps."""
    scenario = find_numba(name)
    sizes = {p.name: 32 for p in scenario.parameters if p.name in ("m", "n")}
    traced = assert_engines_agree(launch_of(scenario, sizes), 1e-4)
    assert len(traced)
    assert count_past_cap(traced) == totals_of(traced, requests_of(traced))


@pytest.mark.parametrize("limit", [40_000, 100_000])
def test_past_the_cap_the_same_blocks_are_kept_and_all_are_counted(limit):
    launch = launch_of(find("matmul-tiled"), {"m": 64, "k": 64, "n": 64})
    capped = assert_engines_agree(msgspec.structs.replace(launch, limits=Limits(accesses=limit)))
    assert 0 < len(capped) < capped.accesses
    assert capped.totals


def test_an_endless_loop_with_accesses_is_stopped(tmp_path):
    body = "while True:\n    a[0] += 1"
    kernel_launch = launch(tmp_path, kernel_source(body), LONGS, limits=Limits(accesses=50_000))
    ended = compiled.run_compiled(kernel_launch, ignore_progress)
    assert ended.notice.startswith("Stopped after ")
    assert ended.check is None


def test_chosen_blocks_and_progress(tmp_path):
    seen = []
    kernel_launch = launch(
        tmp_path, kernel_source(BODIES["grid-stride loop"]), LONGS, (4, 1, 1), (8, 1, 1), blocks=(1, 3)
    )
    assert_engines_agree(kernel_launch)
    compiled.run_compiled(kernel_launch, lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


def test_under_lockstep_a_trace_has_its_moments(tmp_path):
    from tilescope.tracer.simulator.numba_patch import run

    launch = launch_of(find("matmul-tiled"), {"m": 16, "k": 40, "n": 24, "tile": 8})
    ours, theirs = (
        requests_of(trace)
        for trace in (compiled.run_compiled(launch, ignore_progress), run(launch, ignore_progress))
    )
    for name in (
        "block",
        "warp",
        "phase",
        "op",
        "kind",
        "moment",
        "lanes",
        "sectors",
        "wavefronts",
        "span_end",
    ):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist(), name
