"""One thread per element of a vector, or one thread for many."""

from numba import cuda


@cuda.jit
def double_in_place(data):
    i = cuda.grid(1)
    if i < data.size:
        data[i] *= 2


@cuda.jit
def increment(data):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < data.shape[0]:
        data[i] += 1


@cuda.jit
def multiply_grid_stride(a, b, out):
    threads = cuda.gridDim.x * cuda.blockDim.x
    first = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for i in range(first, out.shape[0], threads):
        out[i] = a[i] * b[i]
