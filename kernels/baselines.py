"""The same work on the CPU, timed for comparison: plain Python, Numba's CPU compiler, NumPy.

Each function takes the arguments of its kernel, in their order.
"""

import numba
import numpy as np


def increment_python(data):
    for i in range(len(data)):
        data[i] += 1


@numba.njit
def increment_numba(data):
    for i in range(len(data)):
        data[i] += 1


def increment_numpy(data):
    np.add(data, 1, out=data)


def histogram_numpy(values, low, high, bins):
    # In float64, like the kernels: float32 edges move a few of a million samples to the next bin.
    bins[:] = np.histogram(values.astype(np.float64), bins=len(bins), range=(low, high))[0]


def matmul_numpy(a, b, c, *_):
    np.matmul(a, b, out=c)


def multiply_numpy(a, b, out):
    np.multiply(a, b, out=out)


def double_numpy(data):
    np.multiply(data, 2, out=data)


def transpose_numpy(a, out):
    np.copyto(out, a.T)


def sum_numpy(values, total):
    total[0] += values.sum()
