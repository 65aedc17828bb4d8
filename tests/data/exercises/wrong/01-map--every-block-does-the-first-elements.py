from numba import cuda


@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10
