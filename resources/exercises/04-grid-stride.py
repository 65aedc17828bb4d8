"""A grid-stride loop: square all elements, with fewer threads than elements."""

from numba import cuda


@cuda.jit
def square(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:  # one element for each thread: those behind are left out
        out[i] = a[i] * a[i]


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(4 + 100 * SEED)
    for n, grid, block in (
        (45, 2, 8 + SEED % 4),
        (5, 2, 32),
        (1000, 1, 64),
        (3001 + SEED % 90, 3 + SEED % 2, 64),
    ):
        a = rng.integers(1, 100, n, dtype=np.int32)
        out = np.zeros(n, np.int32)
        yield {
            "grid": grid,
            "block": block,
            "arguments": (a, out),
            "expected": {"out": a * a},
            "tolerance": 0.0,
            "sizes": {"n": n},
        }
