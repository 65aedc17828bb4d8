// Adds two vectors whose length is no multiple of the block.
#include <cstdio>
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
int main() {
    const int n = 1000;
    float a[n], b[n], c[n];
    for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
    float *d_a, *d_b, *d_c;
    cudaMalloc(&d_a, n * sizeof(float));
    cudaMalloc(&d_b, n * sizeof(float));
    cudaMalloc(&d_c, n * sizeof(float));
    cudaMemcpy(d_a, a, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<(n + 127) / 128, 128>>>(d_a, d_b, d_c, n);
    cudaMemcpy(c, d_c, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g %g\n", c[1], c[999]);
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
}
