"""Map: thread i adds 10 to element i."""

from numba import cuda


@cuda.jit
def add_ten(a, out):
    i = cuda.grid(1)  # the number of this thread in the whole launch
    out[i] = a[i]  # change this line


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(1 + 100 * SEED)
    for grid, block in ((1, 8 + SEED % 5), (3 + SEED % 3, 17), (10, 100 + SEED % 9)):
        n = grid * block
        a = rng.integers(0, 90, n, dtype=np.int32)
        out = np.zeros(n, np.int32)
        yield {
            "grid": grid,
            "block": block,
            "arguments": (a, out),
            "expected": {"out": a + np.int32(10)},
            "tolerance": 0.0,
            "sizes": {"n": n},
        }
