from numba import cuda, int32

THREADS = 64
RADIUS = 2
SPAN = THREADS + 2 * RADIUS


@cuda.jit
def five_point_sum(a, out):
    tile = cuda.shared.array(SPAN, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    n = a.shape[0]
    if i < n:
        tile[t + RADIUS] = a[i]
    if t < RADIUS:
        left = i - RADIUS
        right = i + THREADS
        tile[t] = a[left] if left >= 0 else 0
        tile[t + RADIUS + THREADS] = a[right] if right < n else 0
    cuda.syncthreads()
    if i < n:
        total = 0
        for k in range(2 * RADIUS + 1):
            total += tile[t + k]
        out[i] = total
