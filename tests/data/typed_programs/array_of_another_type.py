# A float64 array for a parameter that is declared as float32: a GPU takes its bytes without a word.
import numpy as np
from numba import cuda


@cuda.jit("void(float32[::1], float32[::1])")
def copy(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


out = np.zeros(4, np.float32)
copy[1, 32](np.arange(4.0), out)
print(out)
