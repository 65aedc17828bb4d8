"""Centre: take the middle between its smallest and largest element from each row. There is a race in it."""

from numba import cuda, int32

THREADS = 64  # of a block; a row has at most as many elements


@cuda.jit
def centre(a, out):
    part = cuda.shared.array(THREADS, int32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    cols = a.shape[1]
    x = a[row, min(t, cols - 1)]  # threads behind the row have its last element

    part[t] = x
    cuda.syncthreads()
    stride = THREADS // 2
    while stride > 0:
        if t < stride:
            part[t] = min(part[t], part[t + stride])
        cuda.syncthreads()
        stride //= 2
    low = part[0]
    cuda.syncthreads()  # only FAULT = 2
    cuda.syncthreads()  # only FAULT = 3

    part[t] = x
    cuda.syncthreads()  # only FAULT = 1
    cuda.syncthreads()  # only FAULT = 3
    stride = THREADS // 2
    while stride > 0:
        if t < stride:
            part[t] = max(part[t], part[t + stride])
        cuda.syncthreads()  # only FAULT = 1
        cuda.syncthreads()  # only FAULT = 2
        stride //= 2
    high = part[0]

    if t < cols:
        out[row, t] = x - (low + high) // 2


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(15 + 100 * SEED)
    for rows, cols in ((1, 40 + SEED % 9), (2, 64), (3, 1), (6, 51 + SEED % 9)):
        a = rng.integers(0, 1000, (rows, cols), dtype=np.int32)
        middle = (a.min(axis=1, keepdims=True) + a.max(axis=1, keepdims=True)) // 2
        yield {
            "grid": rows,
            "block": 64,
            "arguments": (a, np.zeros((rows, cols), np.int32)),
            "expected": {"out": a - middle},
            "tolerance": 0.0,
            "sizes": {"rows": rows, "cols": cols},
        }
