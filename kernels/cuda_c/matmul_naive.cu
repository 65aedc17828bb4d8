// C = A B, one thread per element of C. A is m x k, B is k x n, C is m x n, row by row.
extern "C" __global__ void matmul_naive(const float *a, const float *b, float *c, int m, int k, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float total = 0.0f;
        for (int i = 0; i < k; i++)
            total += a[row * k + i] * b[i * n + col];
        c[row * n + col] = total;
    }
}
