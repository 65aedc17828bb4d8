from numba import cuda, int32

THREADS = 32
BINS = 40


@cuda.jit
def histogram(values, bins):
    private = cuda.shared.array(BINS, int32)
    for v in range(cuda.threadIdx.x, BINS, THREADS):
        private[v] = 0
    for i in range(cuda.grid(1), values.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(private, values[i], 1)
    cuda.syncthreads()
    for v in range(cuda.threadIdx.x, BINS, THREADS):
        cuda.atomic.add(bins, v, private[v])
