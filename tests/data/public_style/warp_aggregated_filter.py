# One atomic for the lanes of a warp that keep their value: nothing to report.
import numpy as np
from numba import cuda


@cuda.jit
def keep_positive(src, dst, n_kept):
    i = cuda.grid(1)
    keep = i < src.size and src[i] > 0
    mask = cuda.ballot_sync(0xFFFFFFFF, keep)
    if keep:
        leader = cuda.ffs(mask) - 1
        base = 0
        if cuda.laneid == leader:
            base = cuda.atomic.add(n_kept, 0, cuda.popc(mask))
        base = cuda.shfl_sync(mask, base, leader)
        rank = cuda.popc(mask & ((1 << cuda.laneid) - 1))
        dst[base + rank] = src[i]


src = np.random.default_rng(5).integers(-5, 6, 300).astype(np.int32)
n_kept = np.zeros(1, np.int32)
keep_positive[3, 128](src, np.zeros_like(src), n_kept)
