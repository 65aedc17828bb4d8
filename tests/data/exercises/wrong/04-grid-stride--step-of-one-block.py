from numba import cuda


@cuda.jit
def square(a, out):
    for i in range(cuda.grid(1), a.shape[0], cuda.blockDim.x):
        out[i] = a[i] * a[i]
