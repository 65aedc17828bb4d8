"""A kernel finds an array on the device by its name, and writes to it; its integers are typed as Numba does."""

import numpy as np
from numba import cuda

counts = cuda.to_device(np.full(64, 255, np.uint8))


@cuda.jit
def count():
    i = cuda.grid(1)
    if i < counts.size:
        counts[i] += i


count[1, 64]()
print(counts.copy_to_host()[:3])
