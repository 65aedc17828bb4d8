// Sums with cooperative groups: of blocks, tiles, coalesced threads and the grid.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
namespace cg = cooperative_groups;

__device__ int sum_of(cg::thread_group group, int* shared, int value) {
  int rank = group.thread_rank();
  for (int i = group.size() / 2; i > 0; i /= 2) {
    shared[rank] = value;
    group.sync();
    if (rank < i) value += shared[rank + i];
    group.sync();
  }
  return value;
}

__global__ void block_sums(const int* in, int* out) {
  __shared__ int shared[64];
  cg::thread_block block = cg::this_thread_block();
  int value = sum_of(block, shared, in[block.group_index().x * block.size() + block.thread_rank()]);
  if (block.thread_rank() == 0) out[blockIdx.x] = value;
}

__global__ void tiles(const float* in, float* sums, float* largest, unsigned* votes, int* scans) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  float value = in[block.thread_rank()], total = value;
  for (int i = tile.size() / 2; i > 0; i /= 2) total += tile.shfl_down(total, i);
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = total;
  float most = cg::reduce(tile, value, cg::greater<float>());
  if (tile.thread_rank() == 5) largest[tile.meta_group_rank()] = most;
  unsigned vote = tile.ballot(value > 40);
  if (tile.any(value > 62)) vote += 1 << 20;
  if (tile.all(value < 32)) vote += 1 << 24;
  if (tile.thread_rank() == 0) votes[tile.meta_group_rank()] = vote;
  auto warp = cg::tiled_partition<32>(block);
  scans[block.thread_rank()] = cg::reduce(warp, (int)block.thread_rank(), cg::plus<int>()) + warp.shfl(7, 3) + warp.shfl_xor((int)warp.thread_rank(), 1);
}

__device__ int aggregated_add(int* counter) {
  auto active = cg::coalesced_threads();
  int first;
  if (active.thread_rank() == 0) first = atomicAdd(counter, (int)active.size());
  return active.shfl(first, 0) + active.thread_rank();
}

__global__ void keep_odd(const int* in, int* out, int* count) {
  int value = in[threadIdx.x];
  if (value % 2) out[aggregated_add(count)] = value;
}

__global__ void copies(const int* in, int* out) {
  __shared__ int tile[64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in + blockIdx.x * 64, sizeof tile);
  cg::wait(block);
  out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void grid_sums(int* data, int n, int* out) {
  cg::grid_group grid = cg::this_grid();
  for (int step = n / 2; step > 0; step /= 2) {
    if (grid.thread_rank() < step) data[grid.thread_rank()] += data[grid.thread_rank() + step];
    grid.sync();
  }
  if (grid.thread_rank() == 0) *out = data[0];
}

template <class T> T* managed(int n) {
  T* p;
  cudaMallocManaged(&p, n * sizeof(T));
  return p;
}

int main() {
  int n = 256, *in = managed<int>(n), *out = managed<int>(n), *count = managed<int>(1);
  float *values = managed<float>(64), *sums = managed<float>(4), *most = managed<float>(4);
  unsigned* votes = managed<unsigned>(4);
  for (int i = 0; i < n; i++) in[i] = i;
  for (int i = 0; i < 64; i++) values[i] = i;
  block_sums<<<4, 64>>>(in, out);
  cudaDeviceSynchronize();
  printf("blocks %d %d %d %d\n", out[0], out[1], out[2], out[3]);
  tiles<<<1, 64>>>(values, sums, most, votes, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; i++) printf("tile %g %g %x\n", sums[i], most[i], votes[i]);
  printf("warps %d %d %d\n", out[0], out[33], out[63]);
  *count = 0;
  keep_odd<<<1, 64>>>(in, out, count);
  cudaDeviceSynchronize();
  int total = 0;
  for (int i = 0; i < *count; i++) total += out[i];
  printf("odd %d %d\n", *count, total);
  copies<<<4, 64>>>(in, out);
  cudaDeviceSynchronize();
  printf("copied %d %d %d\n", out[0], out[63], out[64]);
  void* arguments[] = {&in, &n, &count};
  cudaError_t error = cudaLaunchCooperativeKernel((void*)grid_sums, dim3(4), dim3(32), arguments, 0, 0);
  cudaDeviceSynchronize();
  printf("grid %d %s\n", *count, cudaGetErrorString(error));
  for (int i = 0; i < n; i++) in[i] = 2 * i;
  cudaLaunchConfig_t config = {};
  config.gridDim = 4, config.blockDim = 64;
  cudaLaunchKernelEx(&config, block_sums, (const int*)in, out);
  cudaDeviceSynchronize();
  void* again[] = {&in, &out};
  printf("configured %d", out[3]);
  cudaLaunchKernel((const void*)copies, 4, 64, again, 0, nullptr);
  cudaDeviceSynchronize();
  printf(" launched %d\n", out[64]);
}
