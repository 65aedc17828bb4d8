"""Largest: find the largest element. Only ORDER may change; make the result wrong."""

from numba import cuda

ORDER = "t0x2+t2"  # who goes before its turn


@cuda.jit
def largest(a, top):
    t = cuda.threadIdx.x
    own = a[t]
    if own > top[0]:
        top[0] = own
