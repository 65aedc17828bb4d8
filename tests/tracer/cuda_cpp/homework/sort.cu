// Bitonic sort of one block's numbers.
#include <cstdio>
__global__ void sort(int* data) {
    __shared__ int values[64];
    int t = threadIdx.x;
    values[t] = data[t];
    for (int size = 2; size <= blockDim.x; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int other = t ^ step;
            if (other > t && (values[t] > values[other]) == ((t & size) == 0)) {
                int value = values[t];
                values[t] = values[other];
                values[other] = value;
            }
        }
    }
    __syncthreads();  // before the last read
    data[t] = values[t];
}
int main() {
    int host[64], *data;
    for (int i = 0; i < 64; i++) host[i] = i * 37 % 64;
    cudaMalloc(&data, sizeof host);
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    sort<<<1, 64>>>(data);
    cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", host[0], host[1], host[63]);
    cudaFree(data);
}
