// Blocks take work from a queue that a lock guards.
#include <cstdio>
__device__ int lock = 0, next = 0;
__global__ void work(int* taken, int n) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence();
        int item = next;
        next = item + 1;
        __threadfence();
        atomicExch(&lock, 0);
        if (item < n)
            taken[item] = 1;
    }
}
int main() {
    const int n = 20;
    int host[n], *taken, count = 0;
    cudaMalloc(&taken, sizeof host);
    cudaMemset(taken, 0, sizeof host);
    work<<<24, 32>>>(taken, n);
    cudaMemcpy(host, taken, sizeof host, cudaMemcpyDeviceToHost);
    for (int t : host) count += t;
    printf("%d\n", count);
    cudaFree(taken);
}
