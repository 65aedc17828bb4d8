"""Many threads count into the same place: a counter, then the bins of a histogram.

BINS, the number of bins, is a constant of the compiled kernel where they stand in shared memory.
"""

from math import floor

from numba import cuda, float64, int32

BINS = 150


@cuda.jit
def count_racing(counter):
    counter[0] += 1


@cuda.jit
def count_atomic(counter):
    cuda.atomic.add(counter, 0, 1)


@cuda.jit
def histogram_global(values, low, high, bins):
    width = (high - low) / bins.shape[0]
    for i in range(cuda.grid(1), values.shape[0], cuda.gridsize(1)):
        place = int32(floor((float64(values[i]) - low) / width))
        if 0 <= place < bins.shape[0]:
            cuda.atomic.add(bins, place, 1)


@cuda.jit
def histogram_private(values, low, high, bins):
    private = cuda.shared.array(BINS, int32)
    for place in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        private[place] = 0
    cuda.syncthreads()
    width = (high - low) / BINS
    for i in range(cuda.grid(1), values.shape[0], cuda.gridsize(1)):
        place = int32(floor((float64(values[i]) - low) / width))
        if 0 <= place < BINS:
            cuda.atomic.add(private, place, 1)
    cuda.syncthreads()
    for place in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        cuda.atomic.add(bins, place, private[place])
