"""Dot product: each block adds up its products in shared memory, and adds once to the total."""

from numba import cuda

THREADS = 64  # of a block


@cuda.jit
def dot(a, b, total):
    i = cuda.grid(1)
    if i < a.shape[0]:
        cuda.atomic.add(total, 0, a[i] * b[i])  # all threads queue for one element


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(8 + 100 * SEED)
    for n in (50 + SEED % 9, 64, 200, 1000 - SEED % 20):
        a, b = (rng.uniform(1, 2, n).astype(np.float32) for _ in range(2))
        yield {
            "grid": -(-n // 64),
            "block": 64,
            "arguments": (a, b, np.zeros(1, np.float32)),
            "expected": {"total": np.array([np.dot(a.astype(np.float64), b)], np.float32)},
            # Additions may come in any order: each is rounded by at most 2**-13 where the sum is below 4,096, which
            # makes 0.13 for 1,000 of them; one product that is missing makes at least 1.
            "tolerance": 0.25,
            "sizes": {"n": n},
        }
