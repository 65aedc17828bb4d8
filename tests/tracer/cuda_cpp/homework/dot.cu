// Dot product: a sum of each thread, of each warp, and an atomic addition.
#include <cstdio>
__global__ void dot(const double* a, const double* b, double* result, int n) {
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(result, sum);
}
int main() {
    const int n = 300;
    double host[n], *a, *result, total;
    for (int i = 0; i < n; i++) host[i] = i % 3;
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&result, sizeof(double));
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(result, 0, sizeof(double));
    dot<<<2, 64>>>(a, a, result, n);
    cudaMemcpy(&total, result, sizeof total, cudaMemcpyDeviceToHost);
    printf("%g\n", total);
    cudaFree(a);
    cudaFree(result);
}
