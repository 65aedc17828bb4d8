// Arithmetic of vector types and complex numbers, special functions, and memory of several kinds.
#include <cuComplex.h>
#include <helper_math.h>
#include <cstdio>

__global__ void move(float3* position, const float3* speed, float step, float* energy) {
  int i = threadIdx.x;
  position[i] += speed[i] * step;
  float3 turned = cross(position[i], make_float3(0, 0, 1));
  energy[i] = dot(speed[i], speed[i]) / 2 + length(normalize(turned));
  position[i] = clamp(position[i], -1.0f, 3.0f);
}
__global__ void mandelbrot(int* steps, int n) {
  cuFloatComplex c = make_cuFloatComplex(-2.0f + 3.0f * threadIdx.x / n, 0.25f), z = make_cuFloatComplex(0, 0);
  int k = 0;
  while (k < 50 && cuCabsf(z) < 2) z = cuCaddf(cuCmulf(z, z), c), k++;
  steps[threadIdx.x] = k;
}
__global__ void special(float* out) {
  out[0] = normcdfinvf(0.975f);
  out[1] = erfinvf(0.5f);
  sincospif(0.25f, &out[2], &out[3]);
  out[4] = isnan(out[2] / 0.0f - out[3] / 0.0f) + 2 * isinf(1.0f / 0.0f);
  out[5] = __uhadd(5u, 8u) + FLT_EPSILON + (INT_MAX == 2147483647);
}

int main() {
  float3 *position, *speed, start[4];
  float *energy, *out;
  int* steps;
  cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  cudaMallocManaged(&position, sizeof start);
  cudaMallocFromPoolAsync(&speed, sizeof start, pool, 0);
  cudaMallocManaged(&energy, 16);
  cudaMallocManaged(&out, 24);
  cudaMallocManaged(&steps, 32);
  for (int i = 0; i < 4; i++) position[i] = make_float3(i), start[i] = make_float3(i, 1, -i);
  cudaMemcpy(speed, start, sizeof start, cudaMemcpyHostToDevice);
  move<<<1, 4>>>(position, speed, 0.5f, energy);
  mandelbrot<<<1, 8>>>(steps, 8);
  special<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; i++) printf("%g %g %g %g\n", position[i].x, position[i].y, position[i].z, energy[i]);
  for (int i = 0; i < 8; i++) printf("%d ", steps[i]);
  for (int i = 0; i < 6; i++) printf("%.5g ", out[i]);
  printf("\n");
  cudaFree(position), cudaFreeAsync(speed, 0), cudaFree(energy), cudaFree(out), cudaFree(steps);
}
