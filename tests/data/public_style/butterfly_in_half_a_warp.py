# A butterfly over 32 lanes with a mask of 16: every lane gets undefined values in the first round.
import numpy as np
from numba import cuda, float32


@cuda.jit(device=True)
def warp_sum(val, mask):
    offset = 16
    while offset > 0:
        val += cuda.shfl_xor_sync(mask, val, offset)  # expect: TS401 error
        offset >>= 1
    return val


@cuda.jit
def row_sums(mat, sums):
    row, lane = cuda.blockIdx.x, cuda.threadIdx.x
    total = float32(0)
    for col in range(lane, mat.shape[1], 16):
        total += mat[row, col]
    total = warp_sum(total, 0xFFFF)
    if lane == 0:
        sums[row] = total


mat = np.ones((4, 40), dtype=np.float32)
sums = np.zeros(4, dtype=np.float32)
row_sums[4, 16](mat, sums)
