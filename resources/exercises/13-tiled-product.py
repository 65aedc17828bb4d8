"""Matrix product C = A B in tiles, for matrices of any size."""

from numba import cuda, float32

TILE = 8  # a block has TILE x TILE threads


@cuda.jit
def product(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]  # both from global memory, each time
        c[row, col] = total


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(13 + 100 * SEED)
    for m, k, n in ((6, 5 + SEED % 3, 7), (8, 16, 8), (9, 1, 20), (12, 19, 21 + SEED % 3)):
        # Small whole numbers: their products and sums are whole too and below 2**24, so float32 rounds nothing.
        a, b = (rng.integers(1, 10, shape).astype(np.float32) for shape in ((m, k), (k, n)))
        yield {
            "grid": (-(-n // 8), -(-m // 8)),
            "block": (8, 8),
            "arguments": (a, b, np.zeros((m, n), np.float32)),
            "expected": {"c": a @ b},
            "tolerance": 0.0,
            "sizes": {"m": m, "k": k, "n": n},
        }
