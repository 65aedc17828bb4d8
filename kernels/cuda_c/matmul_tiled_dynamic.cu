// C = A B with tiles in dynamic shared memory, whose width is known only at run time: two slices of one array.
extern "C" __global__ void matmul_tiled_dynamic(const float *a, const float *b, float *c,
                                                int m, int k, int n, int tile)
{
    extern __shared__ float shared[];
    float *tile_a = shared;
    float *tile_b = shared + tile * tile;
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * tile + ty;
    int col = blockIdx.x * tile + tx;
    float total = 0.0f;
    for (int start = 0; start < k; start += tile) {
        bool inside_a = row < m && start + tx < k;
        bool inside_b = start + ty < k && col < n;
        tile_a[ty * tile + tx] = inside_a ? a[row * k + start + tx] : 0.0f;
        tile_b[ty * tile + tx] = inside_b ? b[(start + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int j = 0; j < tile; j++)
            total += tile_a[ty * tile + j] * tile_b[j * tile + tx];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = total;
}
