"""Guard: double each element, though there are more threads than elements."""

from numba import cuda


@cuda.jit
def double(a, out):
    i = cuda.grid(1)
    out[i] = 2 * a[i]  # not every thread may do this


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(2 + 100 * SEED)
    for n, block in ((10 + SEED % 2, 4), (1, 32), (64, 32), (1000 + SEED % 50, 96)):
        a = rng.integers(1, 50, n, dtype=np.int32)
        out = np.zeros(n, np.int32)
        yield {
            "grid": -(-n // block),
            "block": block,
            "arguments": (a, out),
            "expected": {"out": np.int32(2) * a},
            "tolerance": 0.0,
            "sizes": {"n": n},
        }
