# Two dynamic shared arrays begin at the same byte, and each thread overwrites only its own value: no race.
import numpy as np
from numba import cuda, float32, int32


@cuda.jit
def argmax(values, best_value, best_index):
    sval = cuda.shared.array(0, float32)
    sidx = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    sval[t] = values[t]
    sidx[t] = t
    cuda.syncthreads()
    if t == 0:
        top, where = sval[0], sidx[0]
        for k in range(1, cuda.blockDim.x):
            if sval[k] > top:
                top = sval[k]
                where = sidx[k]
        best_value[0] = top
        best_index[0] = where


values = np.random.default_rng(1).random(64).astype(np.float32)
best_value, best_index = np.zeros(1, np.float32), np.zeros(1, np.int32)
argmax[1, 64, 0, 512](values, best_value, best_index)
