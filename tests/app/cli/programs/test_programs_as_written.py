"""Programs as in Numba's documentation, courses, homework and puzzles run to their end, with their results."""

from __future__ import annotations

import pytest

from programs import HEAD, run_tilescope

DOCUMENTATION = """
import math
from numba import jit
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

@cuda.jit
def solve_heat_equation(buf_0, buf_1, timesteps, k):
    i = cuda.grid(1)
    if i >= len(buf_0):
        return
    grid = cuda.cg.this_grid()
    for step in range(timesteps):
        if step % 2 == 0:
            data, next_data = buf_0, buf_1
        else:
            data, next_data = buf_1, buf_0
        now = data[i]
        left = data[i - 1] if i > 0 else 0.0
        right = data[i + 1] if i < len(data) - 1 else 0.0
        next_data[i] = now + k * (left - 2 * now + right)
        grid.sync()

data = np.zeros(33)
data[16] = 1000
buf_0 = cuda.to_device(data)
buf_1 = cuda.device_array_like(buf_0)
solve_heat_equation.forall(len(data))(buf_0, buf_1, 8, 0.25)
assert abs(buf_0.copy_to_host().sum() - 1000) < 1e-9

@jit
def business_logic(x, y, z):
    return 4 * z * (2 * x - (4 * y) / 2 * math.pi)

@cuda.jit
def on_gpu(res, xs, ys, zs):
    tid = cuda.grid(1)
    if tid < len(xs):
        res[tid] = business_logic(xs[tid], ys[tid], zs[tid])

given = [cuda.to_device(np.array(v, np.float64)) for v in ([1, 10, 234], [2, 2, 4014], [3, 14, 2211])]
results = cuda.device_array(3)
on_gpu.forall(3)(results, *given)
expected = [business_logic(*(one[i] for one in given)) for i in range(3)]
assert np.allclose(results.copy_to_host(), expected, rtol=1e-15)

@jit
def integrand(x):
    return 1.0 / x

@cuda.jit
def samples(out, states, low, high):
    gid = cuda.grid(1)
    if gid < len(out):
        x = xoroshiro128p_uniform_float32(states, gid)
        out[gid] = integrand(x * (high - low) + low)

@cuda.reduce
def added(a, b):
    return a + b

out = cuda.to_device(np.zeros(512, dtype="float32"))
samples.forall(512)(out, create_xoroshiro128p_states(512, seed=42), 1, 2)
assert abs(added(out) / 512 - math.log(2)) < 0.03
"""

HOMEWORK = """
from numba import float32, int32

RAY = np.dtype([("o", np.float32, 3), ("d", np.float32, 3), ("hit", np.int32)], align=True)
WEIGHTS = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], np.float32) / 16

@cuda.jit
def trace_rays(rays, t):
    i = cuda.grid(1)
    if i < rays.size:
        for axis in range(3):
            rays[i].o[axis] += rays[i].d[axis] * t
        rays[i].hit = i

rays = np.zeros(4, RAY)
rays["d"][:, 2] = 1
on_device = cuda.to_device(rays)
trace_rays[1, 4](on_device, np.float32(2))
assert on_device.copy_to_host()["o"][:, 2].tolist() == [2] * 4
assert on_device.copy_to_host()["hit"].tolist() == [0, 1, 2, 3]

@cuda.jit
def blur(image, out):
    weights = cuda.const.array_like(WEIGHTS)
    j, i = cuda.grid(2)
    s = float32(0)
    if 0 < i < image.shape[0] - 1 and 0 < j < image.shape[1] - 1:
        for di in range(3):
            for dj in range(3):
                s += weights[di, dj] * image[i + di - 1, j + dj - 1]
        out[i, j] = s

out = np.zeros((8, 8), np.float32)
blur[(1, 1), (8, 8)](np.ones((8, 8), np.float32), out)
assert out.sum() == 36

@cuda.jit
def life(old, new):
    i, j = cuda.grid(2)
    h, w = old.shape
    if i < h and j < w:
        n = 0
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di or dj:
                    n += old[(i + di) % h, (j + dj) % w]
        new[i, j] = 1 if n == 3 or (n == 2 and old[i, j]) else 0

glider = np.zeros((8, 8), np.int32)
glider[1, 2] = glider[2, 3] = glider[3, 1] = glider[3, 2] = glider[3, 3] = 1
a, b = cuda.to_device(glider), cuda.device_array_like(glider)
for _ in range(4):
    life[(2, 2), (4, 4)](a, b)
    a, b = b, a
assert (a.copy_to_host() == np.roll(glider, (1, 1), (0, 1))).all()

@cuda.jit
def prefix_sum(a):
    t = cuda.threadIdx.x
    s = cuda.shared.array(shape=0, dtype=int32)
    s[t] = a[t]
    cuda.syncthreads()
    k = 1
    while k < cuda.blockDim.x:
        v = s[t - k] if t >= k else 0
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        k *= 2
    a[t] = s[t]

ones = np.ones(16, np.int32)
prefix_sum[1, 16, 0, 64](ones)
assert ones.tolist() == list(range(1, 17))

streams = [cuda.stream() for _ in range(2)]
parts = [cuda.pinned_array(8, np.float32) for _ in streams]
for stream, part in zip(streams, parts):
    part[:] = 3
    there = cuda.to_device(part, stream=stream)
    there.copy_to_host(part, stream=stream)
cuda.synchronize()
assert parts[1][0] == 3
"""

PUZZLES = """
import numba
import numba.cuda

TPB = 8

def pooled(cuda):
    def call(out, a, size) -> None:
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        local_i = cuda.threadIdx.x
        shared = cuda.shared.array(TPB, numba.float32)
        if i < size:
            shared[local_i] = a[i]
            cuda.syncthreads()
            acc = 0
            for k in range(3):
                if local_i - k >= 0:
                    acc += shared[local_i - k]
            out[i] = acc
    return call

kernel = numba.cuda.jit(pooled(numba.cuda))
out = np.zeros(TPB)
kernel[(1, 1), (TPB, 1)](out, np.arange(TPB), TPB)
assert out.tolist() == [0, 1, 3, 6, 9, 12, 15, 18]
"""


@pytest.mark.parametrize(
    "program", [DOCUMENTATION, HOMEWORK, PUZZLES], ids=("documentation", "homework", "puzzles")
)
def test_runs_to_its_end(script, tmp_path, program):
    done = run_tilescope("run", "--quiet", str(script(HEAD + program)), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
