# The last steps of a reduction without barriers, as on GPUs before Volta.
import numpy as np
from numba import cuda, float32

TPB = 128


@cuda.jit
def reduce_sum(inp, outp):
    sdata = cuda.shared.array(TPB, float32)
    tid = cuda.threadIdx.x
    sdata[tid] = inp[cuda.grid(1)]
    cuda.syncthreads()
    if tid < 64:
        sdata[tid] += sdata[tid + 64]
    cuda.syncthreads()
    if tid < 32:
        sdata[tid] += sdata[tid + 32]
        sdata[tid] += sdata[tid + 16]  # expect: TS101 error
        sdata[tid] += sdata[tid + 8]  # expect: TS101 error
        sdata[tid] += sdata[tid + 4]  # expect: TS101 error
        sdata[tid] += sdata[tid + 2]  # expect: TS101 error
        sdata[tid] += sdata[tid + 1]  # expect: TS101 error
    if tid == 0:
        outp[cuda.blockIdx.x] = sdata[0]


reduce_sum[4, TPB](np.ones(512, dtype=np.float32), np.zeros(4, dtype=np.float32))
