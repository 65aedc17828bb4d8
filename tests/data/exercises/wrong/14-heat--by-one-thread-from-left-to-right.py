from numba import cuda, float32

THREADS = 64


@cuda.jit
def heat(rods, steps, out):
    rod = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    block = cuda.blockIdx.x
    cells = rods.shape[1]
    if t < cells:
        rod[t] = rods[block, t]
    cuda.syncthreads()
    if t == 0:
        for _ in range(steps):
            for k in range(1, cells - 1):
                rod[k] = float32(0.25) * (rod[k - 1] + rod[k] + rod[k] + rod[k + 1])
    cuda.syncthreads()
    if t < cells:
        out[block, t] = rod[t]
