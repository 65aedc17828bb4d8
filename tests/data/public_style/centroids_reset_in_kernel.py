# k-means: one block clears the sums while others add to them.
import numpy as np
from numba import cuda


@cuda.jit
def accumulate(points, labels, sums, counts):
    i = cuda.grid(1)
    if i < sums.size:
        sums[i] = 0.0
        counts[i] = 0
    cuda.syncthreads()
    if i < points.size:
        cuda.atomic.add(sums, labels[i], points[i])  # expect: TS101 error
        cuda.atomic.add(counts, labels[i], 1)  # expect: TS101 error


rng = np.random.default_rng(0)
points = rng.random(200)
labels = rng.integers(0, 4, 200).astype(np.int32)
accumulate[4, 64](points, labels, np.zeros(4), np.zeros(4, np.int32))
