"""Three threads, two barriers: within a phase the order is free, across a barrier it is not."""

from numba import cuda


@cuda.jit
def three_phases(said):
    t = cuda.threadIdx.x
    said[0, t] = t + 1
    cuda.syncthreads()
    said[1, t] = -(t + 1)
    cuda.syncthreads()
    said[2, t] = 10 * (t + 1)
