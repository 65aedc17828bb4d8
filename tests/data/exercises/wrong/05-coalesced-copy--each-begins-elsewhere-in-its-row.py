from numba import cuda

EACH = 8  # elements for each thread


@cuda.jit
def copy(a, out):
    t = cuda.grid(1)
    for k in range(EACH):
        i = t * EACH + (k + t) % EACH
        if i < a.shape[0]:
            out[i] = a[i]
