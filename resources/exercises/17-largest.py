"""Largest: find the largest element. Only ORDER may change; make the result wrong."""

from numba import cuda

ORDER = "all/0"  # who goes before its turn


@cuda.jit
def largest(a, top):
    t = cuda.threadIdx.x
    own = a[t]
    if own > top[0]:
        top[0] = own


# judge
import numpy as np


def cases():
    a = np.array([1, 5, 9], np.int32)
    yield {
        "grid": 1,
        "block": 3,
        "arguments": (a, np.zeros(1, np.int32)),
        "expected": {"top": np.array([9])},
        "sizes": {"n": 3},
    }
