// simpleCooperativeGroups and more: tiles, coalesced groups, labeled partitions, grid sync, reduce and scan.
#include <stdio.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
using namespace cooperative_groups;
__device__ int sumReduction(thread_group g, int *x, int val) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    x[lane] = val;
    g.sync();
    if (lane < i) val += x[lane + i];
    g.sync();
  }
  if (g.thread_rank() == 0) return val;
  else return -1;
}
__global__ void cgkernel() {
  thread_block threadBlockGroup = this_thread_block();
  int threadBlockGroupSize = threadBlockGroup.size();
  extern __shared__ int workspace[];
  int input, output, expectedOutput;
  input = threadBlockGroup.thread_rank();
  expectedOutput = (threadBlockGroupSize - 1) * threadBlockGroupSize / 2;
  output = sumReduction(threadBlockGroup, workspace, input);
  if (threadBlockGroup.thread_rank() == 0) printf(" Sum of all ranks 0..%d in threadBlockGroup is %d (expected %d)\n", (int)threadBlockGroup.size() - 1, output, expectedOutput);
  threadBlockGroup.sync();
  thread_block_tile<16> tiledPartition16 = tiled_partition<16>(threadBlockGroup);
  int workspaceOffset = threadBlockGroup.thread_rank() - tiledPartition16.thread_rank();
  input = tiledPartition16.thread_rank();
  expectedOutput = 15 * 16 / 2;
  output = sumReduction(tiledPartition16, workspace + workspaceOffset, input);
  if (tiledPartition16.thread_rank() == 0) printf("   Sum of all ranks 0..15 in this tiledPartition16 group is %d (expected %d)\n", output, expectedOutput);
}
__device__ int atomicAggInc(int *counter) {
  coalesced_group active = coalesced_threads();
  int mask = active.ballot(1);
  (void)mask;
  int res;
  if (active.thread_rank() == 0) res = atomicAdd(counter, active.size());
  res = active.shfl(res, 0);
  return active.thread_rank() + res;
}
__global__ void filter(int *dst, int *nres, const int *src, int n) {
  int id = threadIdx.x + blockIdx.x * blockDim.x;
  for (int i = id; i < n; i += gridDim.x * blockDim.x)
    if (src[i] > 40) dst[atomicAggInc(nres)] = src[i];
}
__global__ void parts(int *out) {
  auto block = this_thread_block();
  auto warp = tiled_partition<32>(block);
  auto four = tiled_partition<4>(warp);
  int r = threadIdx.x;
  out[r] = reduce(four, r, plus<int>());
  out[64 + r] = reduce(warp, r, greater<int>()) + four.meta_group_rank() + four.meta_group_size();
  out[128 + r] = inclusive_scan(warp, r);
  out[192 + r] = exclusive_scan(four, r, plus<int>());
  auto odd = binary_partition(warp, r % 2);
  out[256 + r] = odd.size() * 100 + odd.thread_rank();
  auto label = labeled_partition(warp, r % 3);
  out[320 + r] = label.size() * 100 + reduce(label, r, less<int>());
  out[384 + r] = warp.shfl_xor(r, 5) + warp.any(r == 3) + warp.all(r < 99) + warp.match_any(r / 8);
  invoke_one(warp, [&] { out[448] = 7; });
  dim3 where = block.thread_index(), dims = block.dim_threads();
  if (r == 5) out[449] = where.x + dims.x + block.num_threads() + (int)this_grid().size();
}
__global__ void whole(int *data, int n) {
  grid_group grid = this_grid();
  for (int round = 0; round < 3; round++) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) data[(round + 1) * n + i] = data[round * n + (i + 1) % n] + 1;
    grid.sync();
  }
}
int main() {
  cgkernel<<<1, 64, 64 * sizeof(int)>>>();
  cudaDeviceSynchronize();
  int *data, *kept, *count;
  cudaMallocManaged(&data, 1000 * 4), cudaMallocManaged(&kept, 4000), cudaMallocManaged(&count, 4);
  for (int i = 0; i < 1000; i++) data[i] = i * 37 % 101, kept[i] = 0;
  *count = 0;
  filter<<<4, 64>>>(kept, count, data, 1000);
  cudaDeviceSynchronize();
  long sum = 0;
  for (int i = 0; i < *count; i++) sum += kept[i];
  printf("%d %ld\n", *count, sum);
  for (int i = 0; i < 450; i++) data[i] = 0;
  parts<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  for (int i = 0; i < 450; i++) if (i % 13 == 0 || i > 440) printf("%d ", data[i]);
  printf("\n");
  for (int i = 0; i < 200; i++) data[i] = i;
  int n = 200;
  void *args[] = {&data, &n};
  cudaLaunchCooperativeKernel((void *)whole, dim3(4), dim3(32), args, 0, 0);
  cudaError_t error = cudaDeviceSynchronize();
  printf("%s %d %d\n", cudaGetErrorString(error), data[600], data[799]);
  cudaFree(data), cudaFree(kept), cudaFree(count);
}
