from numba import cuda, int32

THREADS = 64


@cuda.jit
def scan(a, out):
    part = cuda.shared.array(THREADS, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = a[i] if i < a.shape[0] else 0
    cuda.syncthreads()
    d = 1
    while d < THREADS:
        if t >= d:
            part[t] += part[t - d]
        cuda.syncthreads()
        d *= 2
    if i < a.shape[0]:
        out[i] = part[t]
