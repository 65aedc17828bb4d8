# A cooperative kernel whose second phase reads what other blocks write in the first.
import numpy as np
from numba import cuda


@cuda.jit
def two_pass(x, tmp, y):
    i = cuda.grid(1)
    n = x.size
    tmp[i] = x[i] * 2
    y[i] = tmp[(i + 1) % n] + tmp[i]  # expect: TS101 error


n = 256
x = cuda.to_device(np.arange(n, dtype=np.float64))
tmp, y = cuda.device_array(n), cuda.device_array(n)
two_pass[4, 64](x, tmp, y)
