"""Kernels whose loads and stores LLVM removes, hoists or has to keep, and one whose loads ptxas joins."""

from numba import cuda, float32


@cuda.jit
def twice(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * a[i] + a[i]


@cuda.jit
def jacobi(a, out):
    i, j = cuda.grid(2)
    quarter, four = float32(0.25), float32(4)
    if 1 <= i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1:
        out[i, j] = a[i, j] + quarter * (
            a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - four * a[i, j]
        )


@cuda.jit
def dead_load(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        x = b[i]  # noqa: F841
        out[i] = a[i]


@cuda.jit
def scaled_sum(a, b, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        s = float32(0)
        for j in range(a.shape[1]):
            s += a[i, j] * b[i]
        out[i] = s


@cuda.jit
def scaled_rows(a, b, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] * b[i]


@cuda.jit
def sum_in_global(a, out):
    i = cuda.grid(1)
    if i < out.size:
        for j in range(a.shape[1]):
            out[i] += a[i, j]


@cuda.jit
def sum_in_register(a, out):
    i = cuda.grid(1)
    if i < out.size:
        s = float32(0)
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s


@cuda.jit
def row_of_tile(a, out):
    s = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    s[y, x] = a[y, x]
    cuda.syncthreads()
    t = float32(0)
    for k in range(32):
        t += s[y, k]
    out[y, x] = t
