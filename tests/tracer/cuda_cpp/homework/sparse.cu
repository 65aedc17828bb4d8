// A sparse matrix in rows times a vector.
#include <cstdio>
struct Matrix {
    int rows;
    int* start;
    int* column;
    float* value;
};
__global__ void multiply(Matrix m, const float* x, float* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m.rows) {
        float sum = 0;
        for (int k = m.start[row]; k < m.start[row + 1]; k++)
            sum += m.value[k] * x[m.column[k]];
        y[row] = sum;
    }
}
int main() {
    const int n = 40;
    int start[n + 1], column[2 * n];
    float value[2 * n], x[n], y[n], *d_x, *d_y;
    for (int i = 0; i <= n; i++) start[i] = 2 * i;
    for (int k = 0; k < 2 * n; k++) column[k] = (k * 7) % n, value[k] = 1;
    for (int i = 0; i < n; i++) x[i] = i;
    Matrix m{n};
    cudaMalloc(&m.start, sizeof start);
    cudaMalloc(&m.column, sizeof column);
    cudaMalloc(&m.value, sizeof value);
    cudaMalloc(&d_x, sizeof x);
    cudaMalloc(&d_y, sizeof y);
    cudaMemcpy(m.start, start, sizeof start, cudaMemcpyHostToDevice);
    cudaMemcpy(m.column, column, sizeof column, cudaMemcpyHostToDevice);
    cudaMemcpy(m.value, value, sizeof value, cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
    multiply<<<2, 32>>>(m, d_x, d_y);
    cudaMemcpy(y, d_y, sizeof y, cudaMemcpyDeviceToHost);
    printf("%g %g\n", y[0], y[39]);
    cudaFree(m.start);
    cudaFree(m.column);
    cudaFree(m.value);
    cudaFree(d_x);
    cudaFree(d_y);
}
