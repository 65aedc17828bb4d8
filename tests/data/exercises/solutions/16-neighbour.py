"""Shift: each thread gets its right neighbour's element. Only ORDER may change; make the result wrong."""

from numba import cuda, int32

ORDER = "t0"  # who goes before its turn

THREADS = 4  # of the block


@cuda.jit
def shift(a, out):
    part = cuda.shared.array(THREADS, int32)
    t = cuda.threadIdx.x
    part[t] = a[t]
    out[t] = part[(t + 1) % THREADS]
