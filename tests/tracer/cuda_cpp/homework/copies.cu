// Copies with vectors of four numbers.
#include <cstdio>
__global__ void copy(float* out, const float* in, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n)
        *reinterpret_cast<float4*>(out + i) = *reinterpret_cast<const float4*>(in + i);
}
int main() {
    const int n = 256;
    float host[n], *in, *out;
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    copy<<<2, 32>>>(out, in, n);
    if (cudaGetLastError() != cudaSuccess) return 1;
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g\n", host[255]);
    cudaFree(in);
    cudaFree(out);
}
