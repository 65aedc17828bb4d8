// A softmax of each row.
#include <cmath>
#include <cstdio>
__global__ void softmax(float* rows, int n) {
    __shared__ float part[32];
    float* row = rows + blockIdx.x * n;
    float value = row[threadIdx.x];
    part[threadIdx.x] = value;
    __syncthreads();
    float largest = part[0];
    for (int k = 1; k < n; k++) largest = fmaxf(largest, part[k]);
    __syncthreads();
    value = expf(value - largest);
    part[threadIdx.x] = value;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < n; k++) sum += part[k];
    row[threadIdx.x] = value / sum;
}
int main() {
    const int n = 32;
    float host[4 * n], *rows;
    for (int i = 0; i < 4 * n; i++) host[i] = i % 3;
    cudaMalloc(&rows, sizeof host);
    cudaMemcpy(rows, host, sizeof host, cudaMemcpyHostToDevice);
    softmax<<<4, n>>>(rows, n);
    cudaMemcpy(host, rows, sizeof host, cudaMemcpyDeviceToHost);
    float sum = 0;
    for (int i = 0; i < n; i++) sum += host[i];
    printf("%.3f\n", sum);
    cudaFree(rows);
}
