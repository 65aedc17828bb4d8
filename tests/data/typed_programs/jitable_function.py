"""A function made by register_jitable is typed like a device function: its product is fused into the sum."""

import numpy as np
from numba import cuda, float32
from numba.extending import register_jitable


@register_jitable
def scaled(x):
    return float32(x) * float32(0.1) + float32(1)


@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = scaled(i)


out = np.zeros(4, np.float32)
kernel[1, 4](out)
print(out[3] == np.float32(np.float64(np.float32(3)) * np.float64(np.float32(0.1)) + 1))
