from numba import cuda


@cuda.jit
def square(a, out):
    i = cuda.grid(1)
    while i <= a.shape[0]:
        out[i] = a[i] * a[i]
        i += cuda.gridsize(1)
