// Convolves with a filter in constant memory.
#include <cstdio>
#include <vector>
#define TAPS 5
__constant__ float filter[TAPS];
__global__ void convolve(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < TAPS; k++) {
        int j = i + k - TAPS / 2;
        if (j >= 0 && j < n)
            sum += filter[k] * in[j];
    }
    out[i] = sum;
}
int main() {
    const int n = 200;
    std::vector<float> host(n, 1.0f);
    float taps[TAPS] = {1, 2, 3, 2, 1}, *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(filter, taps, sizeof taps);
    convolve<<<4, 64>>>(in, out, n);
    cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g %g %g\n", host[0], host[100], host[199]);
    cudaFree(in);
    cudaFree(out);
}
