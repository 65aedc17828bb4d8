"""A kernel reads a SimpleNamespace, for which Numba has no type."""

from types import SimpleNamespace

import numpy as np
from numba import cuda

settings = SimpleNamespace(limit=3)


@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    if i < settings.limit:
        out[i] = 1


kernel[1, 4](np.zeros(4, np.float32))
