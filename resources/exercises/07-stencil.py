"""A stencil with its halo: the sum of each element and its two neighbours on either side."""

from numba import cuda

THREADS = 64  # of a block
RADIUS = 2  # neighbours on either side
SPAN = THREADS + 2 * RADIUS  # elements that a block needs


@cuda.jit
def five_point_sum(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        total = 0
        for j in range(i - RADIUS, i + RADIUS + 1):
            if 0 <= j < a.shape[0]:
                total += a[j]  # read from global memory, by five threads each
        out[i] = total


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(7 + 100 * SEED)
    for n in (50 + SEED % 9, 1, 65, 130, 1500 + SEED % 30):
        a = rng.integers(1, 100, n, dtype=np.int32)
        out = np.zeros(n, np.int32)
        around = np.pad(a, 2)  # zeros beyond both ends
        yield {
            "grid": -(-n // 64),
            "block": 64,
            "arguments": (a, out),
            "expected": {"out": sum(around[k : k + n] for k in range(5))},
            "tolerance": 0.0,
            "sizes": {"n": n},
        }
