// Tensor cores: products of 16 x 16 tiles in half precision with sums in float.
#include <cuda_fp16.h>
#include <mma.h>
#include <cstdio>
using namespace nvcuda;

__global__ void product(const half* a, const half* b, float* c, int n) {
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + row * n + k, n);
    wmma::load_matrix_sync(fb, b + column * n + k, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= 2;
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

int main() {
  const int n = 32;
  half *a, *b;
  float* c;
  cudaMallocManaged(&a, n * n * 2);
  cudaMallocManaged(&b, n * n * 2);
  cudaMallocManaged(&c, n * n * 4);
  for (int i = 0; i < n * n; i++) a[i] = __float2half(i % 7 - 3), b[i] = __float2half(i % 5 - 2);
  product<<<dim3(2, 2), 32>>>(a, b, c, n);
  cudaDeviceSynchronize();
  int errors = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += ((i * n + k) % 7 - 3) * ((j * n + k) % 5 - 2);
      errors += c[i * n + j] != 2 * sum;
    }
  }
  printf("%d errors, %g %g %g\n", errors, c[0], c[n + 1], c[n * n - 1]);
}
