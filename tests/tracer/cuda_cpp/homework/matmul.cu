// Product of square matrices, in tiles; the size is no multiple of the tile's.
#include <cstdio>
#define TILE 8
__global__ void multiply(const float* a, const float* b, float* c, int n) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        int column = k + threadIdx.x, row = k + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = y < n && column < n ? a[y * n + column] : 0;
        right[threadIdx.y][threadIdx.x] = row < n && x < n ? b[row * n + x] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();  // all have read
    }
    if (x < n && y < n)
        c[y * n + x] = sum;
}
int main() {
    const int n = 20;
    const size_t bytes = n * n * sizeof(float);
    float host[n * n], *a, *b, *c;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    for (int i = 0; i < n * n; i++) host[i] = i % n == i / n ? 2 : 0;
    cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
    for (int i = 0; i < n * n; i++) host[i] = i;
    cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice);
    multiply<<<dim3(3, 3), dim3(TILE, TILE)>>>(a, b, c, n);
    cudaMemcpy(host, c, bytes, cudaMemcpyDeviceToHost);
    printf("%g %g\n", host[1], host[n * n - 1]);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
