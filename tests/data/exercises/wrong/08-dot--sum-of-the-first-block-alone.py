from numba import cuda, float32

THREADS = 64


@cuda.jit
def dot(a, b, total):
    part = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = a[i] * b[i] if i < a.shape[0] else float32(0)
    cuda.syncthreads()
    stride = THREADS // 2
    while stride > 0:
        if t < stride:
            part[t] += part[t + stride]
        cuda.syncthreads()
        stride //= 2
    if i == 0:
        cuda.atomic.add(total, 0, part[0])
