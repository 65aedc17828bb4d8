// Packs the numbers that pass a test; a ballot counts them.
#include <cstdio>
__device__ int total;
__global__ void pack(const int* in, int* out) {
    int lane = threadIdx.x % 32;
    int value = in[threadIdx.x];
    unsigned kept = __ballot_sync(0xffffffffu, value % 3 == 0);
    int base = 0;
    if (lane == 0)
        base = atomicAdd(&total, __popc(kept));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (value % 3 == 0)
        out[base + __popc(kept & ((1u << lane) - 1))] = value;
}
int main() {
    const int n = 128;
    int host[n], *in, *out, count = 0;
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(total, &count, sizeof(int));
    pack<<<1, n>>>(in, out);
    cudaMemcpyFromSymbol(&count, total, sizeof(int));
    printf("%d\n", count);
    cudaFree(in);
    cudaFree(out);
}
