// cuRAND in kernels and from the host, and cuBLAS.
#include <cublas_v2.h>
#include <curand.h>
#include <curand_kernel.h>
#include <cstdio>

__global__ void setup(curandState* states, unsigned long long seed) { curand_init(seed, threadIdx.x, 0, &states[threadIdx.x]); }
__global__ void draw(curandState* states, float* uniform, float* normal) {
  curandState local = states[threadIdx.x];
  uniform[threadIdx.x] = curand_uniform(&local);
  normal[threadIdx.x] = curand_normal(&local);
  states[threadIdx.x] = local;
}
__global__ void philox(unsigned* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(0, 0, 0, &state);
  uint4 four = curand4(&state);
  out[0] = four.x, out[1] = four.y, out[2] = four.z, out[3] = four.w;
}
__global__ void pi(int* hits, int n) {
  curandStatePhilox4_32_10_t state;
  curand_init(7, threadIdx.x, 0, &state);
  for (int i = 0; i < n; i++) {
    float x = curand_uniform(&state), y = curand_uniform(&state);
    if (x * x + y * y <= 1) atomicAdd(hits, 1);
  }
}

int main() {
  curandState* states;
  cudaMalloc(&states, 4 * sizeof(curandState));
  float *uniform, *normal, host[8];
  cudaMallocManaged(&uniform, 16);
  cudaMallocManaged(&normal, 16);
  setup<<<1, 4>>>(states, 1234);
  draw<<<1, 4>>>(states, uniform, normal);
  cudaDeviceSynchronize();
  printf("uniform %.6f %.6f %.6f %.6f\n", uniform[0], uniform[1], uniform[2], uniform[3]);
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
  curandSetPseudoRandomGeneratorSeed(generator, 1234ULL);
  curandGenerateUniform(generator, uniform, 4);
  printf("host %.4f %.4f %.4f %.4f\n", uniform[0], uniform[1], uniform[2], uniform[3]);
  curandDestroyGenerator(generator);
  unsigned* words;
  int* hits;
  cudaMallocManaged(&words, 16);
  cudaMallocManaged(&hits, 4);
  philox<<<1, 1>>>(words);
  cudaDeviceSynchronize();
  printf("philox %08x %08x %08x %08x\n", words[0], words[1], words[2], words[3]);
  *hits = 0;
  pi<<<1, 32>>>(hits, 200);
  cudaDeviceSynchronize();
  printf("pi %d\n", 4.0 * *hits / 6400 > 3.0 && 4.0 * *hits / 6400 < 3.3);

  cublasHandle_t handle;
  cublasCreate(&handle);
  float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 2, 1, 1, 3}, *d_a, *d_b, *d_c, alpha = 2, beta = 0, dot, norm;
  cudaMalloc(&d_a, sizeof a);
  cudaMalloc(&d_b, sizeof b);
  cudaMalloc(&d_c, 16);
  cublasSetMatrix(2, 3, sizeof(float), a, 2, d_a, 2);
  cublasSetVector(6, sizeof(float), b, 1, d_b, 1);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &alpha, d_a, 2, d_b, 3, &beta, d_c, 2);
  cublasGetMatrix(2, 2, sizeof(float), d_c, 2, host, 2);
  printf("gemm %g %g %g %g\n", host[0], host[1], host[2], host[3]);
  cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 3, &alpha, d_a, 3, d_b, 3, &beta, d_c, 2);
  cublasGetMatrix(2, 2, sizeof(float), d_c, 2, host, 2);
  printf("transposed %g %g %g %g\n", host[0], host[1], host[2], host[3]);
  cublasSgemv(handle, CUBLAS_OP_N, 2, 3, &alpha, d_a, 2, d_b, 1, &beta, d_c, 1);
  cublasGetVector(2, sizeof(float), d_c, 1, host, 1);
  cublasSaxpy(handle, 6, &alpha, d_a, 1, d_b, 1);
  cublasSdot(handle, 6, d_a, 1, d_b, 1, &dot);
  cublasSnrm2(handle, 6, d_a, 1, &norm);
  printf("gemv %g %g dot %g norm %.4f\n", host[0], host[1], dot, norm);
  cublasDestroy(handle);
}
