import cupy as cp
import numpy as np

histogram = cp.RawKernel("""
extern "C" __global__ void histogram(const unsigned char* data, unsigned int* bins, long long n)
{
    __shared__ unsigned int own[16];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i]], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
""", "histogram")
data = np.random.default_rng(1).integers(0, 16, 500).astype(np.uint8)
bins = cp.zeros(16, dtype=cp.uint32)
start, end = cp.cuda.Event(), cp.cuda.Event()
with cp.cuda.Stream(non_blocking=True) as stream:
    start.record()
    histogram((4,), (64,), (cp.asarray(data), bins, 500))
    end.record()
stream.synchronize()
assert cp.cuda.get_elapsed_time(start, end) >= 0
assert (cp.asnumpy(bins) == np.bincount(data, minlength=16)).all()
print("passed")
