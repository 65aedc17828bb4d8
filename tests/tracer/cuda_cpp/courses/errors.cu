// Error handling: refused launches, wrong copies, sticky errors, names and strings, device queries.
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
class CudaError : public std::runtime_error { public: CudaError(cudaError_t e, const char *what) : std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e)), code(e) {} cudaError_t code; };
inline void throw_on(cudaError_t e, const char *what) { if (e != cudaSuccess) throw CudaError(e, what); }
#define TRY(x) try { throw_on((x), #x); printf("ok\n"); } catch (const CudaError &e) { printf("%s (%d, %s)\n", e.what(), (int)e.code, cudaGetErrorName(e.code)); cudaGetLastError(); }
__global__ void nothing() {}
__global__ void fill(int *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = i; }
template <class T> class DeviceArray {
  T *p_ = nullptr; size_t n_;
 public:
  explicit DeviceArray(size_t n) : n_(n) { throw_on(cudaMalloc(&p_, n * sizeof(T)), "alloc"); }
  ~DeviceArray() { cudaFree(p_); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray(DeviceArray &&o) noexcept : p_(o.p_), n_(o.n_) { o.p_ = nullptr; }
  T *get() const { return p_; }
  void to(T *h) const { throw_on(cudaMemcpy(h, p_, n_ * sizeof(T), cudaMemcpyDeviceToHost), "copy"); }
};
int main() {
  int *d, h[4];
  TRY(cudaMalloc(&d, 16));
  TRY(cudaMemcpy(d, h, 16, cudaMemcpyDeviceToHost));
  TRY(cudaMemcpy(d, nullptr, 16, cudaMemcpyHostToDevice));
  TRY(cudaMemcpy(h, d, 64, cudaMemcpyDeviceToHost));
  TRY(cudaMemset(nullptr, 0, 16));
  TRY(cudaFree(d + 1));
  TRY(cudaFree(nullptr));
  TRY(cudaSetDevice(9));
  int *none = nullptr;
  TRY(cudaMalloc(&none, (size_t)1 << 60));
  printf("%p\n", (void *)none);
  nothing<<<1, 2048>>>();
  TRY(cudaGetLastError());
  nothing<<<0, 1>>>();
  TRY(cudaPeekAtLastError());
  nothing<<<1, 1, 100000>>>();
  TRY(cudaGetLastError());
  nothing<<<dim3(1, 70000), 1>>>();
  TRY(cudaGetLastError());
  nothing<<<1, dim3(1, 1, 65)>>>();
  TRY(cudaGetLastError());
  TRY(cudaDeviceSynchronize());
  TRY(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  nothing<<<1, 1, 100000>>>();
  TRY(cudaGetLastError());
  TRY(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 1000000));
  cudaEvent_t a, b;
  float ms;
  cudaEventCreate(&a), cudaEventCreate(&b);
  TRY(cudaEventElapsedTime(&ms, a, b));
  TRY(cudaMemcpy2D(d, 4, h, 8, 8, 2, cudaMemcpyHostToDevice));
  for (int e : {0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 35, 46, 98, 100, 101, 200, 209, 217, 218, 219, 222, 301, 304, 400, 500, 600, 700, 701, 702, 704, 705, 708, 709, 710, 711, 712, 713, 714, 715, 716, 717, 718, 719, 720, 800, 801, 900, 901, 906, 908, 910, 999, 12345})
    printf("%d %s: %s\n", e, cudaGetErrorName((cudaError_t)e), cudaGetErrorString((cudaError_t)e));
  {
    DeviceArray<int> x(100);
    DeviceArray<int> y = std::move(x);
    fill<<<1, 128>>>(y.get(), 100);
    int out[100];
    y.to(out);
    printf("%d\n", out[99]);
  }
  int value;
  for (cudaDeviceAttr at : {cudaDevAttrMaxThreadsPerBlock, cudaDevAttrMaxBlockDimZ, cudaDevAttrMaxGridDimX, cudaDevAttrMaxSharedMemoryPerBlock, cudaDevAttrWarpSize, cudaDevAttrMaxPitch, cudaDevAttrMaxRegistersPerBlock, cudaDevAttrMultiProcessorCount, cudaDevAttrComputeMode, cudaDevAttrIntegrated, cudaDevAttrCanMapHostMemory, cudaDevAttrKernelExecTimeout, cudaDevAttrMaxThreadsPerMultiProcessor, cudaDevAttrComputeCapabilityMajor, cudaDevAttrManagedMemory, cudaDevAttrMaxSharedMemoryPerBlockOptin, cudaDevAttrMaxBlocksPerMultiprocessor, cudaDevAttrReservedSharedMemoryPerBlock, cudaDevAttrPageableMemoryAccess, cudaDevAttrConcurrentManagedAccess, cudaDevAttrCooperativeLaunch, cudaDevAttrUnifiedAddressing, cudaDevAttrStreamPrioritiesSupported, cudaDevAttrSingleToDoublePrecisionPerfRatio, cudaDevAttrTextureAlignment, cudaDevAttrMemoryPoolsSupported, cudaDevAttrTexturePitchAlignment, cudaDevAttrSurfaceAlignment, cudaDevAttrMaxSharedMemoryPerMultiprocessor, cudaDevAttrGlobalL1CacheSupported, cudaDevAttrComputePreemptionSupported, cudaDevAttrTotalConstantMemory}) {
    value = -1;
    cudaError_t e = cudaDeviceGetAttribute(&value, at, 0);
    printf("%d=%d%s ", at, value, e ? cudaGetErrorName(e) : "");
  }
  cudaFuncAttributes fa;
  TRY(cudaFuncGetAttributes(&fa, fill));
  int blocks, grid, block;
  TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0));
  TRY(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill, 0, 0));
  printf("%d %d %d %d\n", fa.maxThreadsPerBlock, blocks, grid, block);
  cudaPointerAttributes pa;
  TRY(cudaPointerGetAttributes(&pa, d));
  printf("%d %d %d\n", pa.type, pa.device, pa.devicePointer == d);
  TRY(cudaPointerGetAttributes(&pa, h));
  printf("%d %d %d\n", pa.type, pa.device, pa.devicePointer == nullptr);
  cudaFree(d);
  TRY(cudaDeviceReset());
}
