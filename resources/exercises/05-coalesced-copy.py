"""A copy that coalesces: each thread copies 8 elements, but which?"""

from numba import cuda

EACH = 8  # elements for each thread


@cuda.jit
def copy(a, out):
    first = cuda.grid(1) * EACH
    for i in range(first, first + EACH):  # 8 in a row: right, but slow
        if i < a.shape[0]:
            out[i] = a[i]


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(5 + 100 * SEED)
    for n, block in ((61 + SEED % 3, 8), (300, 64), (2000 + SEED % 99, 96), (10_000, 64)):
        a = rng.random(n, dtype=np.float32)
        out = np.zeros(n, np.float32)
        yield {
            "grid": -(-n // (block * 8)),
            "block": block,
            "arguments": (a, out),
            "expected": {"out": a},
            "tolerance": 0.0,  # a copy rounds nothing
            "sizes": {"n": n},
        }
