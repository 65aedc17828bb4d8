"""Transpose, without scattered stores and without bank conflicts."""

from numba import cuda

TILE = 32  # a block has TILE x TILE threads


@cuda.jit
def transpose(a, out):
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        out[col, row] = a[row, col]  # a warp reads a row, but writes down a column


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(11 + 100 * SEED)
    for rows, cols in ((6, 10 + SEED % 4), (33, 20), (40, 45 + SEED % 9)):
        a = rng.random((rows, cols), dtype=np.float32)
        yield {
            "grid": (-(-cols // 32), -(-rows // 32)),
            "block": (32, 32),
            "arguments": (a, np.zeros((cols, rows), np.float32)),
            "expected": {"out": a.T.copy()},
            "tolerance": 0.0,  # nothing is computed
            "sizes": {"rows": rows, "cols": cols},
        }
