"""Numbers behind pointers, which the kernel's signature declares; the second launch begins in their middle."""

import numpy as np
from numba import cuda, float32, int64, types, void


@cuda.jit(void(types.CPointer(float32), int64))
def square(p, n):
    i = cuda.grid(1)
    if i < n:
        p[i] = p[i] * p[i] + float32(0.1)


numbers = cuda.to_device(np.arange(64, dtype=np.float32))
square[1, 64](numbers.__cuda_array_interface__["data"][0], 64)
square[1, 32](numbers.device_ctypes_pointer.value + 4 * 32, 32)
print(numbers.copy_to_host()[[3, 32]])
