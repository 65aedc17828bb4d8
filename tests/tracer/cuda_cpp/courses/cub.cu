// cub as courses use it: blocks, warps and the device-wide algorithms.
#include <cub/cub.cuh>
#include <cstdio>
#include <vector>
template <int THREADS, int ITEMS> __global__ void sort_tiles(const int *in, int *out) {
  using Load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, THREADS, ITEMS>;
  __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; typename Sort::TempStorage sort; } temp;
  int keys[ITEMS];
  int offset = blockIdx.x * THREADS * ITEMS;
  Load(temp.load).Load(in + offset, keys);
  __syncthreads();
  Sort(temp.sort).Sort(keys);
  __syncthreads();
  Store(temp.store).Store(out + offset, keys);
}
__global__ void block(const int *in, int *out) {
  typedef cub::BlockReduce<int, 64> Reduce;
  typedef cub::BlockScan<int, 64, cub::BLOCK_SCAN_WARP_SCANS> Scan;
  __shared__ typename Reduce::TempStorage reduce;
  __shared__ typename Scan::TempStorage scan;
  int v = in[threadIdx.x], before, total;
  int sum = Reduce(reduce).Sum(v);
  __syncthreads();
  int top = Reduce(reduce).Reduce(v, [](int a, int b) { return a > b ? a : b; });
  Scan(scan).ExclusiveSum(v, before, total);
  if (threadIdx.x == 0) out[64] = sum, out[65] = top, out[66] = total;
  out[threadIdx.x] = before;
  typedef cub::WarpReduce<int> WarpReduce;
  __shared__ typename WarpReduce::TempStorage warps[2];
  int w = WarpReduce(warps[threadIdx.x / 32]).Sum(v);
  if (threadIdx.x % 32 == 0) out[67 + threadIdx.x / 32] = w;
  typedef cub::WarpScan<int> WarpScan;
  __shared__ typename WarpScan::TempStorage wscan[2];
  int inc;
  WarpScan(wscan[threadIdx.x / 32]).InclusiveSum(v, inc);
  if (threadIdx.x == 63) out[69] = inc;
  typedef cub::BlockHistogram<unsigned char, 64, 1, 8> Histogram;
  __shared__ typename Histogram::TempStorage hist;
  __shared__ unsigned counts[8];
  unsigned char item[1] = {(unsigned char)(v & 7)};
  Histogram(hist).Histogram(item, counts);
  __syncthreads();
  if (threadIdx.x < 8) out[70 + threadIdx.x] = counts[threadIdx.x];
  typedef cub::BlockExchange<int, 64, 2> Exchange;
  __shared__ typename Exchange::TempStorage exchange;
  int pair[2] = {(int)threadIdx.x * 2, (int)threadIdx.x * 2 + 1};
  Exchange(exchange).BlockedToStriped(pair, pair);
  if (threadIdx.x == 5) out[78] = pair[0], out[79] = pair[1];
}
struct Less { int limit; __host__ __device__ bool operator()(const int &a) const { return a < limit; } };
struct Plus { template <class T> __host__ __device__ T operator()(const T &a, const T &b) const { return a + b; } };
struct Max { template <class T> __host__ __device__ T operator()(const T &a, const T &b) const { return a > b ? a : b; } };
template <class F> void twice(F f) {
  void *temp = nullptr;
  size_t bytes = 0;
  f(temp, bytes);
  cudaMalloc(&temp, bytes ? bytes : 1);
  f(temp, bytes);
  cudaFree(temp);
}
int main() {
  const int n = 128;
  int *in, *out, *keys, *count;
  cudaMallocManaged(&in, n * 4), cudaMallocManaged(&out, n * 4), cudaMallocManaged(&keys, n * 4), cudaMallocManaged(&count, 8);
  for (int i = 0; i < n; i++) in[i] = i * 37 % 101, keys[i] = i / 10;
  sort_tiles<16, 4><<<2, 16>>>(in, out);
  cudaDeviceSynchronize();
  printf("%d %d %d %d\n", out[0], out[63], out[64], out[127]);
  block<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 60; i < 80; i++) printf("%d ", out[i]);
  printf("\n");
  twice([&](void *t, size_t &b) { cub::DeviceReduce::Sum(t, b, in, out, n); });
  twice([&](void *t, size_t &b) { cub::DeviceReduce::Max(t, b, in, out + 1, n); });
  twice([&](void *t, size_t &b) { cub::DeviceReduce::Reduce(t, b, in, out + 2, n, Max(), -5); });
  cub::KeyValuePair<int, int> *arg;
  cudaMallocManaged(&arg, sizeof *arg);
  twice([&](void *t, size_t &b) { cub::DeviceReduce::ArgMin(t, b, in, arg, n); });
  cudaDeviceSynchronize();
  printf("%d %d %d %d %d\n", out[0], out[1], out[2], arg->key, arg->value);
  twice([&](void *t, size_t &b) { cub::DeviceScan::ExclusiveSum(t, b, in, out, n); });
  cudaDeviceSynchronize();
  printf("%d ", out[127]);
  twice([&](void *t, size_t &b) { cub::DeviceScan::InclusiveScan(t, b, in, out, Max(), n); });
  cudaDeviceSynchronize();
  printf("%d ", out[1]);
  twice([&](void *t, size_t &b) { cub::DeviceSelect::If(t, b, in, out, count, n, Less{10}); });
  cudaDeviceSynchronize();
  printf("%d %d ", *count, out[1]);
  twice([&](void *t, size_t &b) { cub::DeviceSelect::Unique(t, b, keys, out, count, n); });
  cudaDeviceSynchronize();
  printf("%d ", *count);
  twice([&](void *t, size_t &b) { cub::DeviceRadixSort::SortKeys(t, b, in, out, n); });
  cudaDeviceSynchronize();
  printf("%d %d ", out[0], out[127]);
  int *values;
  cudaMallocManaged(&values, n * 4);
  twice([&](void *t, size_t &b) { cub::DeviceRadixSort::SortPairs(t, b, in, out, keys, values, n); });
  cudaDeviceSynchronize();
  printf("%d %d\n", values[0], values[127]);
  cub::DoubleBuffer<int> buffer(in, out);
  twice([&](void *t, size_t &b) { cub::DeviceRadixSort::SortKeys(t, b, buffer, n); });
  cudaDeviceSynchronize();
  printf("%d\n", buffer.Current()[5]);
  int *unique, *sums;
  cudaMallocManaged(&unique, n * 4), cudaMallocManaged(&sums, n * 4);
  for (int i = 0; i < n; i++) in[i] = i;
  twice([&](void *t, size_t &b) { cub::DeviceReduce::ReduceByKey(t, b, keys, unique, in, sums, count, Plus(), n); });
  cudaDeviceSynchronize();
  printf("%d %d %d ", *count, unique[2], sums[2]);
  twice([&](void *t, size_t &b) { cub::DeviceRunLengthEncode::Encode(t, b, keys, unique, sums, count, n); });
  cudaDeviceSynchronize();
  printf("%d %d ", *count, sums[12]);
  float *samples;
  int *bins;
  cudaMallocManaged(&samples, n * 4), cudaMallocManaged(&bins, 40);
  for (int i = 0; i < n; i++) samples[i] = i % 10 + 0.5f;
  twice([&](void *t, size_t &b) { cub::DeviceHistogram::HistogramEven(t, b, samples, bins, 6, 0.0f, 10.0f, n); });
  cudaDeviceSynchronize();
  for (int i = 0; i < 5; i++) printf("%d ", bins[i]);
  int begin[] = {0, 10, 50}, *offsets;
  cudaMallocManaged(&offsets, 12);
  for (int i = 0; i < 3; i++) offsets[i] = begin[i];
  twice([&](void *t, size_t &b) { cub::DeviceSegmentedReduce::Sum(t, b, in, out, 2, offsets, offsets + 1); });
  cudaDeviceSynchronize();
  printf("%d %d\n", out[0], out[1]);
}
