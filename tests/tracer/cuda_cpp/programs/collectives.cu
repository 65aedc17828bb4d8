// CUB: sums and scans of blocks and warps, and algorithms of the device with temporary storage.
#include <cub/cub.cuh>
#include <cstdio>

template <int THREADS>
__global__ void sums(const int* in, int* out, float* largest) {
  typedef cub::BlockReduce<int, THREADS> BlockReduce;
  __shared__ typename BlockReduce::TempStorage temp;
  int i = blockIdx.x * THREADS + threadIdx.x;
  int total = BlockReduce(temp).Sum(in[i]);
  if (threadIdx.x == 0) out[blockIdx.x] = total;
  __syncthreads();
  int most = BlockReduce(temp).Reduce(in[i], cub::Max());
  if (threadIdx.x == 0) largest[blockIdx.x] = most;
}
__global__ void scans(const int* in, int* out) {
  typedef cub::BlockLoad<int, 64, 2, cub::BLOCK_LOAD_TRANSPOSE> Load;
  typedef cub::BlockStore<int, 64, 2, cub::BLOCK_STORE_TRANSPOSE> Store;
  typedef cub::BlockScan<int, 64> Scan;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } temp;
  int items[2], total;
  Load(temp.load).Load(in, items);
  __syncthreads();
  Scan(temp.scan).ExclusiveSum(items, items, total);
  __syncthreads();
  Store(temp.store).Store(out, items);
  if (threadIdx.x == 0) out[128] = total;
}
__global__ void warps(const int* in, int* out) {
  typedef cub::WarpReduce<int> WarpReduce;
  typedef cub::WarpScan<int> WarpScan;
  __shared__ typename WarpReduce::TempStorage reduce[2];
  __shared__ typename WarpScan::TempStorage scan[2];
  int warp = threadIdx.x / 32, total = WarpReduce(reduce[warp]).Sum(in[threadIdx.x]), running;
  WarpScan(scan[warp]).InclusiveSum(in[threadIdx.x], running);
  if (threadIdx.x % 32 == 0) out[warp] = total;
  if (threadIdx.x % 32 == 31) out[2 + warp] = running;
}
__global__ void sorted(int* keys) {
  typedef cub::BlockRadixSort<int, 32, 2> Sort;
  __shared__ typename Sort::TempStorage temp;
  int own[2] = {keys[threadIdx.x * 2], keys[threadIdx.x * 2 + 1]};
  Sort(temp).Sort(own);
  keys[threadIdx.x * 2] = own[0];
  keys[threadIdx.x * 2 + 1] = own[1];
}

int main() {
  int n = 256, *in, *out;
  float* largest;
  cudaMallocManaged(&in, n * 4);
  cudaMallocManaged(&out, n * 4);
  cudaMallocManaged(&largest, 16);
  for (int i = 0; i < n; i++) in[i] = i * 37 % 101;
  sums<96><<<2, 96>>>(in, out, largest);
  cudaDeviceSynchronize();
  printf("blocks %d %d %g %g\n", out[0], out[1], largest[0], largest[1]);
  scans<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  printf("scan %d %d %d %d\n", out[0], out[1], out[127], out[128]);
  warps<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  printf("warps %d %d %d %d\n", out[0], out[1], out[2], out[3]);
  void* temp = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(temp, bytes, in, out, n);
  cudaMalloc(&temp, bytes);
  cub::DeviceReduce::Sum(temp, bytes, in, out, n);
  cub::DeviceReduce::Max(temp, bytes, in, out + 1, n);
  printf("device %d %d\n", out[0], out[1]);
  cub::DeviceScan::InclusiveSum(temp, bytes, in, out, n);
  printf("inclusive %d %d\n", out[1], out[255]);
  cub::DeviceRadixSort::SortKeys(temp, bytes, in, out, n);
  printf("keys %d %d %d\n", out[0], out[100], out[255]);
  sorted<<<1, 32>>>(in);
  cudaDeviceSynchronize();
  printf("sorted %d %d %d\n", in[0], in[32], in[63]);
  cudaFree(temp);
}
