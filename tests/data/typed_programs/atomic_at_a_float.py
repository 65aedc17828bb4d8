# A bin that math.floor computes: a float as the index of an atomic becomes an int64.
import math

import numpy as np
from numba import cuda


@cuda.jit
def count(x, low, width, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, math.floor((x[i] - low) / width), 1)


x = np.linspace(-1.0, 0.99, 200).astype(np.float32)
bins = np.zeros(10, np.int32)
count[2, 128](x, np.float32(-1.0), np.float32(0.2), bins)
print(bins.sum(), bins.min() > 17, bins.max() < 23)
