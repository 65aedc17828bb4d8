# Half a warp takes the value of a lane that its mask leaves out.
import numpy as np
from numba import cuda


@cuda.jit
def subtract_reference(x, out):
    lane = cuda.laneid
    i = cuda.grid(1)
    v = x[i]
    if lane < 16:
        ref = cuda.shfl_sync(0xFFFF, v, 16)  # expect: TS401 error
        out[i] = v - ref


x = cuda.to_device(np.arange(128, dtype=np.int32))
out = cuda.to_device(np.zeros(128, dtype=np.int32))
subtract_reference[2, 64](x, out)
