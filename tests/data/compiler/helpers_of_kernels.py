"""Functions that the kernels of this folder import from another module."""

from numba import cuda

TILE = 8


@cuda.jit(device=True)
def tripled(x):
    return x * 3


def undecorated(x):
    return x
