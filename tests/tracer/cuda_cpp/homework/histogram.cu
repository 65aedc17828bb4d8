// Counts bytes in shared memory first.
#include <cstdio>
const int BINS = 16;
__global__ void histogram(const unsigned char* data, int n, unsigned* bins) {
    __shared__ unsigned local[BINS];
    if (threadIdx.x < BINS)
        local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i] % BINS], 1u);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
int main() {
    const int n = 600;
    unsigned char host[n], *data;
    unsigned counts[BINS], *bins;
    for (int i = 0; i < n; i++) host[i] = i * i;
    cudaMalloc(&data, n);
    cudaMalloc(&bins, sizeof counts);
    cudaMemcpy(data, host, n, cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, sizeof counts);
    histogram<<<2, 64>>>(data, n, bins);
    cudaMemcpy(counts, bins, sizeof counts, cudaMemcpyDeviceToHost);
    for (unsigned c : counts) printf("%u ", c);
    cudaFree(data);
    cudaFree(bins);
}
