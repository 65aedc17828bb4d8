from numba import cuda


@cuda.jit
def add_ten(a, out):
    i = cuda.grid(1)
    out[i] = out[i] + 10
