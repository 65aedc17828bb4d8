// An inclusive scan with two buffers (Hillis and Steele).
#include <cstdio>
__global__ void scan(int* data) {
    __shared__ int buffer[2][64];
    int t = threadIdx.x, now = 0;
    buffer[now][t] = data[t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        buffer[1 - now][t] = t >= step ? buffer[now][t] + buffer[now][t - step] : buffer[now][t];
        now = 1 - now;
        __syncthreads();
    }
    data[t] = buffer[now][t];
}
int main() {
    int host[64], *data;
    for (int i = 0; i < 64; i++) host[i] = i;
    cudaMalloc(&data, sizeof host);
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    scan<<<1, 64>>>(data);
    cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d\n", host[5], host[63]);
    cudaFree(data);
}
