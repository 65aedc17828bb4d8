"""Scan: each block computes the running sums of its piece."""

from numba import cuda

THREADS = 64  # of a block; a piece has as many elements


@cuda.jit
def scan(a, out):
    i = cuda.grid(1)
    start = cuda.blockIdx.x * THREADS  # of the piece
    if i < a.shape[0]:
        total = 0
        for j in range(start, i + 1):  # each thread adds up all by itself
            total += a[j]
        out[i] = total


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(10 + 100 * SEED)
    for n in (40 + SEED % 9, 64, 150, 500 + SEED % 9):
        a = rng.integers(1, 10, n, dtype=np.int32)
        sums = [np.cumsum(a[start : start + 64], dtype=np.int32) for start in range(0, n, 64)]
        yield {
            "grid": len(sums),
            "block": 64,
            "arguments": (a, np.zeros(n, np.int32)),
            "expected": {"out": np.concatenate(sums)},
            "tolerance": 0.0,
            "sizes": {"n": n},
        }
