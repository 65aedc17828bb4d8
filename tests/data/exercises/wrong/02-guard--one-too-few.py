from numba import cuda


@cuda.jit
def double(a, out):
    i = cuda.grid(1)
    if i < a.shape[0] - 1:
        out[i] = 2 * a[i]
