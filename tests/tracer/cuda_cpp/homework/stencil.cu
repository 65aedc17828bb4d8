// Averages neighbours with a halo in shared memory.
#include <cstdio>
#define RADIUS 2
#define BLOCK 64
__global__ void stencil(const int* in, int* out, int n) {
    __shared__ int line[BLOCK + 2 * RADIUS];
    int g = blockIdx.x * BLOCK + threadIdx.x, l = threadIdx.x + RADIUS;
    line[l] = in[g];
    if (threadIdx.x < RADIUS) {
        line[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0;
        line[l + BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) sum += line[l + k];
    out[g] = sum;
}
int main() {
    const int n = 256;
    int host[n], *in, *out;
    for (int i = 0; i < n; i++) host[i] = 1;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    stencil<<<n / BLOCK, BLOCK>>>(in, out, n);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", host[0], host[1], host[100]);
    cudaFree(in);
    cudaFree(out);
}
