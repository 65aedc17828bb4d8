"""Private histogram: each block counts by itself, then adds its counts to those of all."""

from numba import cuda

THREADS = 32  # of a block
BINS = 40  # values are less


@cuda.jit
def histogram(values, bins):
    for i in range(cuda.grid(1), values.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(bins, values[i], 1)  # every value is a trip to global memory


# judge
import numpy as np

SEED = 0


def cases():
    rng = np.random.default_rng(12 + 100 * SEED)
    for n, grid in ((30 + SEED % 9, 1), (1, 2), (333, 3), (4001 + SEED % 99, 4)):
        values = rng.binomial(BINS - 1, 0.4, n).astype(np.int32)
        values[-1] = BINS - 1  # so that the last bin is never empty
        yield {
            "grid": grid,
            "block": 32,
            "arguments": (values, np.zeros(BINS, np.int32)),
            "expected": {"bins": np.bincount(values, minlength=BINS).astype(np.int32)},
            "tolerance": 0.0,
            "sizes": {"n": n},
        }
