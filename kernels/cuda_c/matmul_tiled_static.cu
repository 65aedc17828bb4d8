// C = A B with tiles in static shared memory: the compiler knows their width.
#ifndef TILE
#define TILE 16
#endif

extern "C" __global__ void matmul_tiled_static(const float *a, const float *b, float *c, int m, int k, int n)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float total = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        bool inside_a = row < m && start + tx < k;
        bool inside_b = start + ty < k && col < n;
        tile_a[ty][tx] = inside_a ? a[row * k + start + tx] : 0.0f;
        tile_b[ty][tx] = inside_b ? b[(start + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int j = 0; j < TILE; j++)
            total += tile_a[ty][j] * tile_b[j][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = total;
}
