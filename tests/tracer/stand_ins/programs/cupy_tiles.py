import math

import cupy as cp

TILE = 8
source = r'''
extern "C" __global__ void transpose(const float* in, float* out, int n) {
    extern __shared__ float tile[];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    tile[threadIdx.y * blockDim.x + threadIdx.x] = in[y * n + x];
    x = blockIdx.y * blockDim.x + threadIdx.x;
    y = blockIdx.x * blockDim.y + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x * blockDim.x + threadIdx.y];
}
'''
transpose = cp.RawKernel(source, "transpose")
n = 16
a = cp.random.rand(n, n).astype(cp.float32)
b = cp.zeros_like(a)
grid = (math.ceil(n / TILE), math.ceil(n / TILE))
transpose(grid, (TILE, TILE), (a, b, n), shared_mem=4 * TILE * TILE)
print("passed")
