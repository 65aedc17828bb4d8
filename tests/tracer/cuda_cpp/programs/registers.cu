#include <cstdio>
#include <cuda_runtime.h>
__device__ unsigned smid() { unsigned r; asm volatile("mov.u32 %0, %%smid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lane() {
  unsigned r;
  asm("mov.u32 %0, %laneid;" : "=r"(r));
  return r;
}
__global__ void k(unsigned *a) {
  unsigned m; asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
  unsigned long long t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t) :: "memory");
  a[threadIdx.x] = lane() + 100 * smid() + (__popc(m) << 10);
}
int main() {
  unsigned *d, h[64];
  cudaMalloc(&d, sizeof h);
  k<<<1, 64>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%u %u\n", h[5] & 1023, h[37] >> 10);
  cudaFree(d);
}
