from numba import cuda


@cuda.jit
def square(a, out):
    for i in range(cuda.threadIdx.x, a.shape[0], cuda.blockDim.x):
        out[i] = a[i] * a[i]
