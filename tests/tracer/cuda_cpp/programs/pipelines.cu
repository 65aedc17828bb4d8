// Copies in pipelines, barriers and atomics of libcu++, matrix fragments, and the helpers of NVIDIA's samples.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/type_traits>
#include <cuda_pipeline.h>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <mma.h>
#include <nvtx3/nvToolsExt.h>
#include <cstdio>
namespace cg = cooperative_groups;
using namespace nvcuda;

__global__ void copied(const int* in, int* out) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void staged(const int* in, int* out, int batches) {
  __shared__ int tile[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, tile[0], in, cuda::aligned_size_t<16>(sizeof(int) * 32), pipe);
  pipe.producer_commit();
  int sum = 0;
  for (int i = 1; i <= batches; i++) {
    if (i < batches) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[i % 2], in + 32 * i, sizeof(int) * 32, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += tile[(i - 1) % 2][31 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
__global__ void met(const int* in, int* out) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier all, half;
  __shared__ int tile[64];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    init(&all, block.size());
    init(&half, 32);
  }
  block.sync();
  cuda::memcpy_async(block, tile, in, sizeof tile, all);
  barrier::arrival_token token = all.arrive();
  int own = threadIdx.x;
  all.wait(std::move(token));
  if (threadIdx.x < 32) half.arrive_and_wait();
  out[threadIdx.x] = tile[63 - threadIdx.x] + own;
  all.arrive_and_wait();
}
__device__ cuda::atomic<int, cuda::thread_scope_device> total(0);
__global__ void counted(int* out, int* most) {
  int before = total.fetch_add(2, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device> ref(*most);
  ref.fetch_max(threadIdx.x * 7 % 33);
  out[before / 2] = threadIdx.x;
  static_assert(cuda::std::is_same<int, int>::value, "");
}
__global__ void flagged(cuda::atomic<int, cuda::thread_scope_device>* flag, volatile int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    flag->store(1, cuda::memory_order_release);
  } else {
    while (flag->load(cuda::memory_order_acquire) == 0) {}
    *out = *data;
  }
}
__global__ void product(const half* a, const half* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * n + k, n);
    wmma::load_matrix_sync(fb, b + blockIdx.x * 16 * n + k, n);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 0.5f;
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, wmma::mem_row_major);
}

template <class T> T* managed(int n) {
  T* p;
  checkCudaErrors(cudaMallocManaged(&p, n * sizeof(T)));
  memset((void*)p, 0, n * sizeof(T));
  return p;
}

int main() {
  nvtxRangePushA("all");
  StopWatchInterface* timer = nullptr;
  sdkCreateTimer(&timer);
  sdkStartTimer(&timer);
  int *in = managed<int>(128), *out = managed<int>(128), *most = managed<int>(1);
  for (int i = 0; i < 128; i++) in[i] = i * i;
  copied<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  printf("copied %d %d\n", out[0], out[62]);
  staged<<<1, 32>>>(in, out, 4);
  cudaDeviceSynchronize();
  printf("staged %d %d\n", out[0], out[31]);
  met<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  printf("met %d %d\n", out[0], out[63]);
  counted<<<1, 64>>>(out, most);
  cudaDeviceSynchronize();
  int sum = 0;
  for (int i = 0; i < 64; i++) sum += out[i];
  printf("counted %d %d\n", sum, *most);
  auto* flag = managed<cuda::atomic<int, cuda::thread_scope_device>>(1);
  flagged<<<2, 1>>>(flag, in, out);
  cudaDeviceSynchronize();
  printf("flagged %d %d\n", out[0], flag->load());
  half *a = managed<half>(1024), *b = managed<half>(1024);
  float* c = managed<float>(1024);
  for (int i = 0; i < 1024; i++) a[i] = __float2half(i % 7 - 3), b[i] = __float2half(i % 5 * 0.25f);
  product<<<dim3(2, 2), 32>>>(a, b, c, 32);
  getLastCudaError("product");
  cudaDeviceSynchronize();
  double all = 0;
  for (int i = 0; i < 1024; i++) all += c[i] * (i + 1);
  printf("product %g %g %g\n", c[0], c[17 * 32 + 5], all);
  sdkStopTimer(&timer);
  printf("timer %d\n", sdkGetTimerValue(&timer) > 0);
  sdkDeleteTimer(&timer);
  nvtxRangePop();
}
