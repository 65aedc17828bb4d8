// Half precision: bits of conversions and sums, and kernels on half, half2 and bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdio>

__global__ void axpy(const half* x, half* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma(__float2half(a), x[i], y[i]);
}
__global__ void pairs(const half2* x, half2* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = __hadd2(__hmul2(x[i], x[i]), y[i]);
}
__global__ void sum(const __nv_bfloat16* x, float* out, int n) {
  float total = 0;
  for (int i = threadIdx.x; i < n; i += 32) total += __bfloat162float(x[i]);
  for (int step = 16; step > 0; step /= 2) total += __shfl_down_sync(0xffffffff, total, step);
  if (threadIdx.x == 0) *out = total;
}
__global__ void operators(half* x) {
  half h = x[threadIdx.x];
  h += half(1.0f);
  x[threadIdx.x] += h * h / __float2half(3.0f);
  if (x[threadIdx.x] > half(100.0f)) x[threadIdx.x] = -h;
  float f = x[threadIdx.x];
  x[threadIdx.x] = hsqrt(__float2half(f < 0 ? -f : f));
}

int main() {
  float values[] = {0.1f, 65504, 65519.99f, 65520, 1e-8f, 3e-8f, 6.1e-5f, -2049, 2051, 1.0f / 3};
  for (float v : values) printf("%04x %04x\n", __half_as_ushort(__float2half(v)), __bfloat16_as_ushort(__float2bfloat16(v)));
  printf("%04x %04x %04x\n", __half_as_ushort(__float2half_rz(0.1f)), __half_as_ushort(__float2half_ru(0.1f)), __half_as_ushort(__float2half_rd(0.1f)));
  half *x, *y;
  cudaMallocManaged(&x, 128);
  cudaMallocManaged(&y, 128);
  for (int i = 0; i < 64; i++) x[i] = i / 7.0f, y[i] = __int2half_rn(i);
  axpy<<<2, 32>>>(x, y, 0.3f, 64);
  cudaDeviceSynchronize();
  for (int i : {1, 10, 63}) printf("%04x ", __half_as_ushort(y[i]));
  pairs<<<1, 32>>>((half2*)x, (half2*)y, 32);
  cudaDeviceSynchronize();
  for (int i : {1, 10, 63}) printf("%g ", __half2float(y[i]));
  operators<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  for (int i : {1, 10, 63}) printf("%g ", (float)x[i]);
  __nv_bfloat16* b;
  float* out;
  cudaMallocManaged(&b, 200);
  cudaMallocManaged(&out, 4);
  for (int i = 0; i < 100; i++) b[i] = __float2bfloat16(i * 0.37f);
  sum<<<1, 32>>>(b, out, 100);
  cudaDeviceSynchronize();
  printf("%g\n", *out);
}
