# The last warp has 4 lanes, and the first round takes all values from lanes that its mask leaves out.
import numpy as np
from numba import cuda


@cuda.jit
def total(arr, result):
    tid = cuda.grid(1)
    if tid < arr.size:
        val = arr[tid]
        mask = cuda.activemask()
        for offset in (16, 8, 4, 2, 1):
            val += cuda.shfl_down_sync(mask, val, offset)  # expect: TS401 error
        if cuda.laneid == 0:
            cuda.atomic.add(result, 0, val)


arr = np.ones(100, dtype=np.int32)
result = np.zeros(1, dtype=np.int32)
total[1, 128](arr, result)
