// Asynchronous copies, pipelines, barriers and atomics of libcu++.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/type_traits>
#include <cuda_pipeline.h>
#include <cstdio>
namespace cg = cooperative_groups;

__global__ void staged(const int* in, int* out, int n) {
  __shared__ int tile[2][64];
  int total = 0;
  __pipeline_memcpy_async(&tile[0][threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  for (int t = 0; t < n / 64; t++) {
    if (t + 1 < n / 64) {
      __pipeline_memcpy_async(&tile[(t + 1) % 2][threadIdx.x], &in[(t + 1) * 64 + threadIdx.x], sizeof(int));
      __pipeline_commit();
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    total += tile[t % 2][63 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = total;
}
__global__ void piped(const int* in, int* out, int n) {
  __shared__ int tile[2][64];
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  int total = 0, fetched = 0;
  for (int t = 0; t < n / 64; t++) {
    for (; fetched < n / 64 && fetched < t + 2; fetched++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[fetched % 2], in + fetched * 64, sizeof(int) * 64, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    total += tile[t % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = total;
}
__global__ void barriers(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int tile[64];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  cuda::memcpy_async(block, tile, in, sizeof(tile), bar);
  bar.arrive_and_wait();
  int value = tile[63 - threadIdx.x];
  auto token = bar.arrive();
  value *= 2;
  bar.wait(std::move(token));
  tile[threadIdx.x] = value;
  bar.arrive_and_wait();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
__global__ void counted(int* counter, cuda::atomic<int, cuda::thread_scope_device>* most) {
  cuda::atomic_ref<int, cuda::thread_scope_device> count(*counter);
  count.fetch_add(1, cuda::memory_order_relaxed);
  most->fetch_max(threadIdx.x + blockIdx.x);
}
__global__ void passed(cuda::atomic<int>* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    flag->store(1, cuda::memory_order_release);
  } else {
    while (flag->load(cuda::memory_order_acquire) == 0) {}
    *out = *data;
  }
}

int main() {
  int n = 256, *in, *out, *count;
  cuda::atomic<int, cuda::thread_scope_device>* most;
  cuda::atomic<int>* flag;
  cudaMallocManaged(&in, n * 4);
  cudaMallocManaged(&out, n * 4);
  cudaMallocManaged(&count, 4);
  cudaMallocManaged(&most, 4);
  cudaMallocManaged(&flag, 4);
  for (int i = 0; i < n; i++) in[i] = i;
  staged<<<1, 64>>>(in, out, n);
  cudaDeviceSynchronize();
  printf("staged %d %d\n", out[0], out[63]);
  piped<<<1, 64>>>(in, out, n);
  cudaDeviceSynchronize();
  printf("piped %d %d\n", out[0], out[63]);
  barriers<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  printf("barriers %d %d\n", out[0], out[63]);
  *count = 0;
  new (most) cuda::atomic<int, cuda::thread_scope_device>(0);
  counted<<<4, 64>>>(count, most);
  cudaDeviceSynchronize();
  printf("counted %d %d\n", *count, most->load());
  new (flag) cuda::atomic<int>(0);
  passed<<<2, 1>>>(flag, in, out);
  cudaDeviceSynchronize();
  printf("passed %d %d\n", out[0], (int)cuda::std::is_same<int, int>::value);
}
