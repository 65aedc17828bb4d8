# The same with a barrier of the grid: nothing to report.
import numpy as np
from numba import cuda


@cuda.jit("void(float64[::1], float64[::1], float64[::1])")
def two_pass(x, tmp, y):
    i = cuda.grid(1)
    n = x.size
    tmp[i] = x[i] * 2
    cuda.cg.this_grid().sync()
    y[i] = tmp[(i + 1) % n] + tmp[i]


n = 256
x = cuda.to_device(np.arange(n, dtype=np.float64))
tmp, y = cuda.device_array(n), cuda.device_array(n)
two_pass[4, 64](x, tmp, y)
