from numba import cuda


@cuda.jit
def double(a, out):
    i = cuda.grid(1)
    value = a[i]
    if i < a.shape[0]:
        out[i] = 2 * value
