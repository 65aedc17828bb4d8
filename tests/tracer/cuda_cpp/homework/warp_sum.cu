// Sums with shuffles; only the first lanes of the last warp have values.
#include <cstdio>
#define FULL 0xffffffffu
__device__ int warp_sum(int value) {
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(FULL, value, step);
    return value;
}
__global__ void sum(const int* in, int* out, int n) {
    int i = threadIdx.x;
    int value = i < n ? in[i] : 0;
    value = warp_sum(value);
    if (i % 32 == 0)
        atomicAdd(out, value);
}
int main() {
    const int n = 80;
    int host[n], result = 0, *in, *out;
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(out, &result, sizeof(int), cudaMemcpyHostToDevice);
    sum<<<1, 96>>>(in, out, n);
    cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", result);
    cudaFree(in);
    cudaFree(out);
}
