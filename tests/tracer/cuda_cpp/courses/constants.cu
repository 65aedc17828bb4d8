// __constant__ structs, several types in one dynamic shared array, static members, unions, bit fields, managed variables.
#include <cstdio>
#include <cstdint>
struct Camera { float3 eye; float matrix[3][4]; int2 size; enum Kind { flat, round } kind; };
__constant__ Camera camera;
__constant__ float coefficients[2][3] = {{1, 2, 3}, {4, 5, 6}};
__constant__ char text[] = "Tilescope";
__device__ __managed__ int total = 5;
__device__ float table[4] = {0.5f, 1.5f, 2.5f, 3.5f};
__device__ const int primes[] = {2, 3, 5, 7, 11};
union Bits { float f; uint32_t u; struct { unsigned mantissa : 23, exponent : 8, sign : 1; } parts; };
struct alignas(16) Particle { float x, y, z; short id; char flag; };
__global__ void project(float *out, int n) {
  int i = threadIdx.x;
  float p[4] = {i + camera.eye.x, i * camera.eye.y, camera.eye.z, 1};
  for (int r = 0; r < 3; r++) {
    float s = 0;
    for (int c = 0; c < 4; c++) s += camera.matrix[r][c] * p[c];
    out[3 * i + r] = s + coefficients[r % 2][r] + (camera.kind == Camera::round ? 100 : 0) + camera.size.y;
  }
}
__global__ void carve(int *result, int n) {
  extern __shared__ __align__(16) unsigned char raw[];
  double *d = reinterpret_cast<double *>(raw);
  int *c = (int *)&d[n];
  char *b = (char *)(c + n);
  Particle *p = (Particle *)(b + n);
  int i = threadIdx.x;
  d[i] = i * 0.5, c[i] = i, b[i] = text[i % 9];
  p[i] = Particle{1.0f * i, 2, 3, (short)i, 'x'};
  __syncthreads();
  int j = n - 1 - i;
  result[i] = (int)d[j] + c[j] * 100 + b[j] * 10000 + p[j].id;
  if (i == 0) total += primes[2], table[1] += 1;
}
__global__ void two(float *out) {
  extern __shared__ float shared_floats[];
  shared_floats[threadIdx.x] = table[threadIdx.x % 4];
  __syncthreads();
  Bits b;
  b.f = shared_floats[(threadIdx.x + 1) % 8];
  out[threadIdx.x] = b.parts.exponent + (b.u >> 31) + b.parts.mantissa / 8388608.0f;
}
__global__ void three(int *out) {
  extern __shared__ int ints[];
  __shared__ volatile int one;
  if (threadIdx.x == 0) one = 3;
  ints[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = ints[7 - threadIdx.x] + one;
}
int main() {
  Camera host = {{1, 2, 3}, {{1, 0, 0, 1}, {0, 2, 0, 2}, {0, 0, 3, 3}}, {640, 480}, Camera::round};
  cudaMemcpyToSymbol(camera, &host, sizeof host);
  float *f;
  int *r;
  cudaMallocManaged(&f, 96 * 4), cudaMallocManaged(&r, 32 * 4);
  project<<<1, 8>>>(f, 8);
  cudaDeviceSynchronize();
  printf("%g %g %g %g\n", f[0], f[1], f[5], f[23]);
  carve<<<1, 16, 16 * (8 + 4 + 1 + sizeof(Particle))>>>(r, 16);
  cudaDeviceSynchronize();
  printf("%d %d %d\n", r[0], r[7], total);
  float part[2];
  cudaMemcpyFromSymbol(part, table, sizeof part, sizeof(float));
  two<<<1, 8, 32>>>(f);
  three<<<1, 8, 32>>>(r);
  cudaDeviceSynchronize();
  printf("%g %g %.6g %.6g %d\n", part[0], part[1], f[0], f[2], r[1]);
  void *address;
  size_t size;
  cudaGetSymbolAddress(&address, table);
  cudaGetSymbolSize(&size, camera);
  cudaMemset(address, 0, 8);
  cudaMemcpyFromSymbol(part, table, sizeof part);
  printf("%zu %g\n", size, part[0]);
  cudaFree(f), cudaFree(r);
}
