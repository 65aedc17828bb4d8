// The driver API as far as queries of devices use it.
#pragma once
typedef enum cudaError_enum {
  CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_NOT_INITIALIZED = 3, CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101, CUDA_ERROR_NOT_SUPPORTED = 801, CUDA_ERROR_UNKNOWN = 999
} CUresult;
typedef int CUdevice;
typedef cudaStream_t CUstream;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st { int unused; }* CUcontext;
typedef enum {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
  CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, CU_DEVICE_ATTRIBUTE_WARP_SIZE, CU_DEVICE_ATTRIBUTE_MAX_PITCH, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
  CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95
} CUdevice_attribute;
inline CUresult cuInit(unsigned) { tilescope_start(); return CUDA_SUCCESS; }
inline CUresult cuDriverGetVersion(int* version) { *version = 13000; return CUDA_SUCCESS; }
inline CUresult cuDeviceGetCount(int* count) { *count = 1; return CUDA_SUCCESS; }
inline CUresult cuDeviceGet(CUdevice* device, int number) { *device = number; return number ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; }
inline CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, device)) return CUDA_ERROR_INVALID_DEVICE;
  snprintf(name, size, "%s", p.name);
  return CUDA_SUCCESS;
}
inline CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return cudaDeviceGetAttribute(value, (cudaDeviceAttr)attribute, device) ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
inline CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) { size_t free; cudaMemGetInfo(&free, bytes); return CUDA_SUCCESS; }
inline CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice) { *major = 9, *minor = 0; return CUDA_SUCCESS; }
inline CUresult cuCtxCreate(CUcontext* context, unsigned, CUdevice) { *context = nullptr; return CUDA_SUCCESS; }
inline CUresult cuCtxSynchronize() { tilescope_wait(); return CUDA_SUCCESS; }
inline CUresult cuCtxDestroy(CUcontext) { return CUDA_SUCCESS; }
inline CUresult cuGetErrorString(CUresult error, const char** text) { *text = cudaGetErrorString((cudaError_t)error); return CUDA_SUCCESS; }
inline CUresult cuGetErrorName(CUresult error, const char** text) { *text = error ? "CUDA_ERROR_UNKNOWN" : "CUDA_SUCCESS"; return CUDA_SUCCESS; }
#define CUDA_VERSION 13000
