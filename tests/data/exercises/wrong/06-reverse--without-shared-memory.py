from numba import cuda

THREADS = 64


@cuda.jit
def reverse(a, out):
    i = cuda.grid(1)
    start = cuda.blockIdx.x * THREADS
    if i < a.shape[0]:
        count = min(THREADS, a.shape[0] - start)
        out[i] = a[start + count - 1 - cuda.threadIdx.x]
