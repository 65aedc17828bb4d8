"""Reverse: each block turns its piece of a round, through shared memory."""

from numba import cuda, int32

THREADS = 64  # of a block; a piece has as many elements


@cuda.jit
def reverse(a, out):
    piece = cuda.shared.array(THREADS, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < a.shape[0]:
        piece[t] = a[i]
        out[i] = piece[t]  # its own element: nothing is turned round yet


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(6 + 100 * SEED)
    for n in (64, 50 - SEED % 9, 200, 1000 + SEED % 20):
        a = rng.integers(0, 1000, n, dtype=np.int32)
        out = np.zeros(n, np.int32)
        pieces = [a[start : start + 64][::-1] for start in range(0, n, 64)]
        yield {
            "grid": len(pieces),
            "block": 64,
            "arguments": (a, out),
            "expected": {"out": np.concatenate(pieces)},
            "tolerance": 0.0,
            "sizes": {"n": n},
        }
