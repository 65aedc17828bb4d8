from numba import cuda

EACH = 8  # elements for each thread


@cuda.jit
def copy(a, out):
    first = cuda.grid(1)
    for k in range(EACH):
        i = first + k * cuda.blockDim.x
        if i < a.shape[0]:
            out[i] = a[i]
