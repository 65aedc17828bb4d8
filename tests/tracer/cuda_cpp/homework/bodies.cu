// Forces between bodies, whose positions are vectors of four.
#include <cstdio>
__global__ void forces(const float4* bodies, float4* out, int n) {
    __shared__ float4 tile[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = bodies[i], sum = make_float4(0, 0, 0, 0);
    for (int first = 0; first < n; first += 32) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 32; k++) {
            sum.x += (tile[k].x - mine.x) * tile[k].w;
            sum.y += (tile[k].y - mine.y) * tile[k].w;
        }
        __syncthreads();
    }
    out[i] = sum;
}
int main() {
    const int n = 64;
    float4 host[n], *bodies, *out;
    for (int i = 0; i < n; i++) host[i] = make_float4(i, 1, 0, 2);
    cudaMalloc(&bodies, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(bodies, host, sizeof host, cudaMemcpyHostToDevice);
    forces<<<n / 32, 32>>>(bodies, out, n);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g %g\n", host[0].x, host[63].x);
    cudaFree(bodies);
    cudaFree(out);
}
