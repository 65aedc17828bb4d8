from numba import cuda, int32

THREADS = 64


@cuda.jit
def centre(a, out):
    part = cuda.shared.array(THREADS, int32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    cols = a.shape[1]
    x = a[row, min(t, cols - 1)]

    part[t] = x
    cuda.syncthreads()
    stride = THREADS // 2
    while stride > 0:
        if t < stride:
            part[t] = min(part[t], part[t + stride])
        cuda.syncthreads()
        stride //= 2
    low = part[0]
    cuda.syncthreads()

    part[t] = x
    cuda.syncthreads()
    stride = THREADS // 2
    while stride > 0:
        if t < stride:
            part[t] = max(part[t], part[t + stride])
        cuda.syncthreads()
        stride //= 2
    high = part[0]

    if t < cols:
        out[row, t] = x - (low + high) // 2
