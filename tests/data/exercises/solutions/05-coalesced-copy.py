from numba import cuda


@cuda.jit
def copy(a, out):
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        out[i] = a[i]
