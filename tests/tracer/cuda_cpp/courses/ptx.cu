// Inline PTX that course programs use.
#include <cstdio>
#include <cstdint>
__device__ __forceinline__ unsigned lane() { unsigned r; asm volatile("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __inline__ uint32_t smid() { uint32_t s; asm("mov.u32 %0, %smid;" : "=r"(s)); return s; }
__device__ int add3(int a, int b, int c) {
  int r;
  asm("{\n\t.reg .s32 t;\n\tadd.s32 t, %1, %2;\n\tadd.s32 %0, t, %3;\n\t}" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ int cube(int x) {
  int y;
  asm(".reg .u32 t1;\n\t" " mul.lo.u32 t1, %1, %1;\n\t" " mul.lo.u32 %0, t1, %1;" : "=r"(y) : "r"(x));
  return y;
}
__device__ unsigned bits(unsigned x, int start, int n) {
  unsigned r;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(start), "r"(n));
  return r;
}
__device__ unsigned put(unsigned a, unsigned b, int start, int n) { unsigned r; asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(start), "r"(n)); return r; }
__device__ unsigned lop(unsigned a, unsigned b, unsigned c) { unsigned r; asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
__device__ float fma_(float a, float b, float c) { float r; asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c)); return r; }
__device__ unsigned wide(unsigned a, unsigned b) { unsigned r; asm("mul.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
__device__ int load_cg(const int *p) { int r; asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(r) : "l"(p)); return r; }
__device__ void store_wt(int *p, int v) { asm volatile("st.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__device__ int select(int a, int b) {
  int r;
  asm("{ .reg .pred p;\n setp.gt.s32 p, %1, %2;\n selp.s32 %0, %1, %2, p; }" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
__device__ unsigned perm(unsigned a, unsigned b) { unsigned r; asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(r) : "r"(a), "r"(b)); return r; }
__global__ void all(int *out, const int *in) {
  int i = threadIdx.x;
  int r = lane() + (smid() < 1000);
  r += add3(i, 2, 3) * 10 + cube(i) * 100;
  r ^= bits(0xdeadbeef, i % 8, 8) << 3;
  r ^= put(i, 0xffff, 4, 8);
  r ^= lop(i, 0x55, 0x0f);
  r += (int)fma_(i, 2.0f, 1.0f) + wide(0x80000000u, i) + load_cg(in + i) + select(i, 10) + perm(i, 7);
  store_wt(out + i, r);
  asm volatile("bar.sync 0;");
  asm volatile("membar.gl;" ::: "memory");
  unsigned long long start, stop;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(stop));
  unsigned dynamic;
  asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(dynamic));
  if (i == 0) out[32] = (start > 0) + (stop > 0) + dynamic;
  unsigned x, y;
  asm("mov.u32 %0, %tid.x;" : "=r"(x));
  asm("mov.u32 %0, %ntid.x;" : "=r"(y));
  if (i == 31) out[33] = x * 100 + y;
}
int main() {
  int *in, *out;
  cudaMallocManaged(&in, 128), cudaMallocManaged(&out, 34 * 4);
  for (int i = 0; i < 32; i++) in[i] = 1000 * i;
  all<<<1, 32, 64>>>(out, in);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  for (int i = 0; i < 34; i++) printf("%d ", out[i]);
  printf("\n");
  cudaFree(in), cudaFree(out);
}
