#define TILE 32

__global__ void transpose(const float *a, float *out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;
    if (row < rows && col < cols)
        tile[ty][tx] = a[row * cols + col];
    __syncthreads();
    row = blockIdx.x * TILE + ty;
    col = blockIdx.y * TILE + tx;
    if (row < cols && col < rows)
        out[row * rows + col] = tile[tx][ty];
}
