from numba import cuda, int32

THREADS = 64


@cuda.jit
def reverse(a, out):
    piece = cuda.shared.array(THREADS, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < a.shape[0]:
        piece[t] = a[i]
    cuda.syncthreads()
    count = THREADS
    if i < a.shape[0]:
        out[i] = piece[count - 1 - t]
