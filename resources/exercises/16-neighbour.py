"""Shift: each thread gets its right neighbour's element. Only ORDER may change; make the result wrong."""

from numba import cuda, int32

ORDER = "all/0"  # who goes before its turn

THREADS = 4  # of the block


@cuda.jit
def shift(a, out):
    part = cuda.shared.array(THREADS, int32)
    t = cuda.threadIdx.x
    part[t] = a[t]
    out[t] = part[(t + 1) % THREADS]


# judge
import numpy as np


def cases():
    a = np.array([3, 1, 4, 1], np.int32)
    yield {
        "grid": 1,
        "block": 4,
        "arguments": (a, np.zeros_like(a)),
        "expected": {"out": np.roll(a, -1)},
        "sizes": {"n": 4},
    }
