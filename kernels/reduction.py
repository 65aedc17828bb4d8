"""The sum of a vector: each block adds up its part in shared memory, in a tree, and adds it to the total.

THREADS is the width of a block, a power of two. Algorithm: M. Harris, "Optimizing Parallel Reduction in
CUDA" (NVIDIA, 2007), kernels 1 and 3.
"""

from numba import cuda, float32

THREADS = 128
DTYPE = float32


@cuda.jit
def interleaved(values, total):
    part = cuda.shared.array(THREADS, DTYPE)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = values[i] if i < values.shape[0] else DTYPE(0)
    cuda.syncthreads()
    stride = 1
    while stride < THREADS:
        if t % (2 * stride) == 0:
            part[t] += part[t + stride]
        cuda.syncthreads()
        stride *= 2
    if t == 0:
        cuda.atomic.add(total, 0, part[0])


@cuda.jit
def sequential(values, total):
    part = cuda.shared.array(THREADS, DTYPE)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = values[i] if i < values.shape[0] else DTYPE(0)
    cuda.syncthreads()
    stride = THREADS // 2
    while stride > 0:
        if t < stride:
            part[t] += part[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        cuda.atomic.add(total, 0, part[0])
