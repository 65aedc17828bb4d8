// The CUDA runtime API for the host, with the guards of NVIDIA's headers, which NVIDIA's `helper_cuda.h` asks for. Times of events are those of this machine and say nothing about a GPU's.
#pragma once
#include <chrono>
#include <vector>
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__

typedef enum cudaError {
#define TILESCOPE_ERROR(name, number, text) name = number,
#include "errors.h"
#undef TILESCOPE_ERROR
} cudaError_t;
TILESCOPE_HELPER inline const char* cudaGetErrorName(cudaError_t error) {
  switch ((int)error) {
#define TILESCOPE_ERROR(name, number, text) case number: return #name;
#include "errors.h"
#undef TILESCOPE_ERROR
    default: return "unrecognized error code";
  }
}
TILESCOPE_HELPER inline const char* cudaGetErrorString(cudaError_t error) {
  switch ((int)error) {
#define TILESCOPE_ERROR(name, number, text) case number: return text;
#include "errors.h"
#undef TILESCOPE_ERROR
    default: return "unrecognized error code";
  }
}
TILESCOPE_HELPER inline cudaError_t tilescope_failed(cudaError_t error) {
  tilescope_set_error(error);
  return error;
}
TILESCOPE_HELPER inline cudaError_t tilescope_result(cudaError_t error) {
  if (int sticky = tilescope_sticky_error()) return (cudaError_t)sticky;
  return error ? tilescope_failed(error) : cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaGetLastError() { return (cudaError_t)tilescope_error(1); }
TILESCOPE_HELPER inline cudaError_t cudaPeekAtLastError() { return (cudaError_t)tilescope_error(0); }

// --- devices: one, with the properties of an H200
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxBlockDimY = 3, cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxGridDimY = 6, cudaDevAttrMaxGridDimZ = 7, cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9, cudaDevAttrWarpSize = 10, cudaDevAttrMaxPitch = 11, cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13, cudaDevAttrTextureAlignment = 14, cudaDevAttrGpuOverlap = 15, cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrKernelExecTimeout = 17, cudaDevAttrIntegrated = 18, cudaDevAttrCanMapHostMemory = 19, cudaDevAttrComputeMode = 20,
  cudaDevAttrMaxTexture1DWidth = 21, cudaDevAttrMaxTexture2DWidth = 22, cudaDevAttrMaxTexture2DHeight = 23,
  cudaDevAttrMaxTexture3DWidth = 24, cudaDevAttrMaxTexture3DHeight = 25, cudaDevAttrMaxTexture3DDepth = 26,
  cudaDevAttrMaxTexture2DLayeredWidth = 27, cudaDevAttrMaxTexture2DLayeredHeight = 28,
  cudaDevAttrMaxTexture2DLayeredLayers = 29, cudaDevAttrSurfaceAlignment = 30, cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32, cudaDevAttrPciBusId = 33, cudaDevAttrPciDeviceId = 34, cudaDevAttrTccDriver = 35,
  cudaDevAttrMemoryClockRate = 36, cudaDevAttrGlobalMemoryBusWidth = 37, cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrAsyncEngineCount = 40, cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrMaxTexture1DLayeredWidth = 42, cudaDevAttrMaxTexture1DLayeredLayers = 43, cudaDevAttrMaxTexture2DGatherWidth = 45,
  cudaDevAttrMaxTexture2DGatherHeight = 46, cudaDevAttrMaxTexture3DWidthAlt = 47, cudaDevAttrMaxTexture3DHeightAlt = 48,
  cudaDevAttrMaxTexture3DDepthAlt = 49, cudaDevAttrPciDomainId = 50, cudaDevAttrTexturePitchAlignment = 51,
  cudaDevAttrMaxTextureCubemapWidth = 52, cudaDevAttrMaxTextureCubemapLayeredWidth = 53,
  cudaDevAttrMaxTextureCubemapLayeredLayers = 54, cudaDevAttrMaxSurface1DWidth = 55, cudaDevAttrMaxSurface2DWidth = 56,
  cudaDevAttrMaxSurface2DHeight = 57, cudaDevAttrMaxSurface3DWidth = 58, cudaDevAttrMaxSurface3DHeight = 59,
  cudaDevAttrMaxSurface3DDepth = 60, cudaDevAttrMaxSurface1DLayeredWidth = 61, cudaDevAttrMaxSurface1DLayeredLayers = 62,
  cudaDevAttrMaxSurface2DLayeredWidth = 63, cudaDevAttrMaxSurface2DLayeredHeight = 64,
  cudaDevAttrMaxSurface2DLayeredLayers = 65, cudaDevAttrMaxSurfaceCubemapWidth = 66,
  cudaDevAttrMaxSurfaceCubemapLayeredWidth = 67, cudaDevAttrMaxSurfaceCubemapLayeredLayers = 68,
  cudaDevAttrMaxTexture1DLinearWidth = 69, cudaDevAttrMaxTexture2DLinearWidth = 70, cudaDevAttrMaxTexture2DLinearHeight = 71,
  cudaDevAttrMaxTexture2DLinearPitch = 72, cudaDevAttrMaxTexture2DMipmappedWidth = 73,
  cudaDevAttrMaxTexture2DMipmappedHeight = 74, cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxTexture1DMipmappedWidth = 77, cudaDevAttrStreamPrioritiesSupported = 78, cudaDevAttrGlobalL1CacheSupported = 79,
  cudaDevAttrLocalL1CacheSupported = 80, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82, cudaDevAttrManagedMemory = 83, cudaDevAttrIsMultiGpuBoard = 84,
  cudaDevAttrMultiGpuBoardGroupID = 85, cudaDevAttrHostNativeAtomicSupported = 86,
  cudaDevAttrSingleToDoublePrecisionPerfRatio = 87, cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89, cudaDevAttrComputePreemptionSupported = 90,
  cudaDevAttrCanUseHostPointerForRegisteredMem = 91, cudaDevAttrReserved92 = 92, cudaDevAttrReserved93 = 93,
  cudaDevAttrReserved94 = 94, cudaDevAttrCooperativeLaunch = 95, cudaDevAttrReserved96 = 96,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrCanFlushRemoteWrites = 98, cudaDevAttrHostRegisterSupported = 99,
  cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100, cudaDevAttrDirectManagedMemAccessFromHost = 101,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106, cudaDevAttrMaxPersistingL2CacheSize = 108,
  cudaDevAttrMaxAccessPolicyWindowSize = 109, cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrSparseCudaArraySupported = 112, cudaDevAttrHostRegisterReadOnlySupported = 113,
  cudaDevAttrTimelineSemaphoreInteropSupported = 114, cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrGPUDirectRDMASupported = 116, cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117,
  cudaDevAttrGPUDirectRDMAWritesOrdering = 118, cudaDevAttrMemoryPoolSupportedHandleTypes = 119, cudaDevAttrClusterLaunch = 120,
  cudaDevAttrDeferredMappingCudaArraySupported = 121, cudaDevAttrReserved122 = 122, cudaDevAttrReserved123 = 123,
  cudaDevAttrReserved124 = 124, cudaDevAttrIpcEventSupport = 125, cudaDevAttrMemSyncDomainCount = 126,
  cudaDevAttrReserved127 = 127, cudaDevAttrReserved128 = 128, cudaDevAttrReserved129 = 129, cudaDevAttrNumaConfig = 130,
  cudaDevAttrNumaId = 131, cudaDevAttrReserved132 = 132, cudaDevAttrMpsEnabled = 133, cudaDevAttrHostNumaId = 134,
  cudaDevAttrD3D12CigSupported = 135, cudaDevAttrVulkanCigSupported = 138, cudaDevAttrGpuPciDeviceId = 139,
  cudaDevAttrGpuPciSubsystemId = 140, cudaDevAttrReserved141 = 141, cudaDevAttrHostNumaMemoryPoolsSupported = 142,
  cudaDevAttrHostNumaMultinodeIpcSupported = 143, cudaDevAttrHostMemoryPoolsSupported = 144, cudaDevAttrReserved145 = 145,
  cudaDevAttrOnlyPartialHostNativeAtomicSupported = 147
};
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited, cudaComputeModeExclusiveProcess };
struct cudaUUID_t { char bytes[16]; };
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int maxTexture1D, maxTexture2D[2], maxTexture3D[3];
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing;
  int memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int maxBlocksPerMultiProcessor;
  size_t reservedSharedMemPerBlock;
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t texturePitchAlignment, surfaceAlignment;
  int maxTexture1DMipmap, maxTexture1DLinear, maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3DAlt[3];
  int maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  int multiGpuBoardGroupID, pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, canUseHostPointerForRegisteredMem;
  int accessPolicyMaxWindowSize, hostRegisterSupported, memoryPoolsSupported, clusterLaunch, unifiedFunctionPointers;
};
TILESCOPE_HELPER inline cudaDeviceProp tilescope_device() {
  cudaDeviceProp properties{}, *p = &properties;
  strcpy(p->name, "NVIDIA H200 (properties only, run by Tilescope)");
  p->totalGlobalMem = 150000000000ull, p->sharedMemPerBlock = 49152, p->regsPerBlock = 65536, p->warpSize = 32;
  p->memPitch = 2147483647, p->maxThreadsPerBlock = 1024, p->clockRate = 1980000, p->totalConstMem = 65536;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 2147483647, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->major = 9, p->minor = 0, p->textureAlignment = 512, p->deviceOverlap = 1, p->multiProcessorCount = 132;
  p->canMapHostMemory = p->concurrentKernels = p->ECCEnabled = p->unifiedAddressing = 1, p->asyncEngineCount = 3;
  p->maxTexture1D = 131072, p->maxTexture2D[0] = 131072, p->maxTexture2D[1] = 65536;
  p->maxTexture3D[0] = p->maxTexture3D[1] = p->maxTexture3D[2] = 16384;
  p->memoryClockRate = 3201000, p->memoryBusWidth = 6144, p->l2CacheSize = 62914560, p->maxThreadsPerMultiProcessor = 2048;
  p->streamPrioritiesSupported = p->globalL1CacheSupported = p->localL1CacheSupported = 1;
  p->sharedMemPerMultiprocessor = 233472, p->regsPerMultiprocessor = 65536, p->managedMemory = 1;
  p->singleToDoublePrecisionPerfRatio = 2, p->concurrentManagedAccess = p->computePreemptionSupported = p->cooperativeLaunch = 1;
  p->sharedMemPerBlockOptin = TILESCOPE_MAX_SHARED, p->maxBlocksPerMultiProcessor = 32, p->reservedSharedMemPerBlock = 1024;
  p->texturePitchAlignment = 32, p->surfaceAlignment = 512, p->maxTexture1DLinear = 268435456, p->accessPolicyMaxWindowSize = 134213632;
  p->maxTexture1DLayered[0] = 32768, p->maxTexture1DLayered[1] = 2048;
  p->maxTexture2DLayered[0] = p->maxTexture2DLayered[1] = 32768, p->maxTexture2DLayered[2] = 2048;
  p->maxSurface1D = 32768, p->maxSurface2D[0] = 131072, p->maxSurface2D[1] = 65536;
  p->hostRegisterSupported = p->memoryPoolsSupported = p->clusterLaunch = p->canUseHostPointerForRegisteredMem = 1;
  return properties;
}
TILESCOPE_HELPER inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device) return tilescope_result(cudaErrorInvalidDevice);
  *p = tilescope_device();
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrTotalConstantMemory: *value = (int)p.totalConstMem; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMaxPitch: *value = (int)p.memPitch; break;
    case cudaDevAttrTextureAlignment: *value = (int)p.textureAlignment; break;
    case cudaDevAttrTexturePitchAlignment: *value = (int)p.texturePitchAlignment; break;
    case cudaDevAttrSurfaceAlignment: *value = (int)p.surfaceAlignment; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = (int)p.reservedSharedMemPerBlock; break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = p.singleToDoublePrecisionPerfRatio; break;
    case cudaDevAttrAsyncEngineCount: *value = p.asyncEngineCount; break;
    case cudaDevAttrMaxTexture1DWidth: *value = p.maxTexture1D; break;
    case cudaDevAttrMaxTexture2DWidth: *value = p.maxTexture2D[0]; break;
    case cudaDevAttrMaxTexture2DHeight: *value = p.maxTexture2D[1]; break;
    case cudaDevAttrMaxTexture1DLinearWidth: *value = p.maxTexture1DLinear; break;
    case cudaDevAttrComputeMode:
    case cudaDevAttrIntegrated:
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrTccDriver:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId: *value = 0; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; break;
    case cudaDevAttrClockRate: *value = p.clockRate; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrMemoryClockRate: *value = p.memoryClockRate; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)p.sharedMemPerMultiprocessor; break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    default: *value = 1;
  }
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaGetDeviceCount(int* count) { tilescope_start(); *count = 1; return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaSetDevice(int device) { return tilescope_result(device ? cudaErrorInvalidDevice : cudaSuccess); }
TILESCOPE_HELPER inline cudaError_t cudaGetDevice(int* device) { *device = 0; return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { tilescope_wait(); fflush(stdout); return tilescope_result(cudaSuccess); }
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
TILESCOPE_HELPER inline cudaError_t cudaDeviceReset() { tilescope_wait(); tilescope_forget_errors(); return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaMemGetInfo(size_t* free, size_t* total) { *free = 149000000000ull, *total = 150000000000ull; return cudaSuccess; }
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitDevRuntimeSyncDepth, cudaLimitDevRuntimePendingLaunchCount };
inline cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  if (limit == cudaLimitMallocHeapSize) tilescope_set_heap(value);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit) { *value = 1 << 20; return cudaSuccess; }
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
enum { cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2, cudaDeviceScheduleBlockingSync = 4, cudaDeviceMapHost = 8 };
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) { *version = 13000; return cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* version) { *version = 13000; return cudaSuccess; }
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { *can = 0; return cudaSuccess; }
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return tilescope_result(cudaErrorInvalidDevice); }
inline cudaError_t cudaDeviceDisablePeerAccess(int) { return tilescope_result(cudaErrorPeerAccessNotEnabled); }
inline cudaError_t cudaGetDeviceFlags(unsigned* flags) { *flags = cudaDeviceScheduleAuto; return cudaSuccess; }
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { *device = 0; return cudaSuccess; }
inline cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
inline cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (device) return tilescope_result(cudaErrorInvalidDevice);
  snprintf(text, (size_t)length, "0000:00:00.0");
  return cudaSuccess;
}
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }

// --- streams and events: all work is done when the call returns
// graph: where work of the stream is kept while it is captured (`graphs.h`).
typedef struct CUstream_st {
  struct CUgraph_st* graph = nullptr;
  bool begins_capture = false;
  int priority = 0;
  unsigned flags = 0;
}* cudaStream_t;
struct TilescopeEvent {
  std::chrono::steady_clock::time_point time;
  bool is_recorded = false;
  struct CUgraph_st* graph = nullptr;  // of the stream that was captured when it was recorded
};
TILESCOPE_HELPER inline std::vector<cudaStream_t>& tilescope_streams() {
  static std::vector<cudaStream_t> streams;
  return streams;
}
typedef TilescopeEvent* cudaEvent_t;
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
static const cudaStream_t cudaStreamLegacy = nullptr, cudaStreamPerThread = nullptr;
TILESCOPE_HELPER inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  tilescope_add_stream();
  tilescope_streams().push_back(*stream = new CUstream_st());
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  cudaStreamCreate(stream);
  (*stream)->flags = flags, (*stream)->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) { return cudaStreamCreateWithPriority(stream, flags, 0); }
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) { *least = 0, *greatest = -5; return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  std::vector<cudaStream_t>& streams = tilescope_streams();
  streams.erase(std::remove(streams.begin(), streams.end(), stream), streams.end());
  delete stream;
  return cudaSuccess;
}
inline cudaError_t tilescope_wait_for(const char* action, const void* stream, const void* event) {
  tilescope_order(action, stream, event);
  tilescope_finish();
  fflush(stdout);
  return tilescope_result(cudaSuccess);
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return tilescope_wait_for("host", stream, nullptr); }
inline cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
TILESCOPE_HELPER inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0) {
  if (stream && event->graph && !stream->graph) stream->graph = event->graph;  // it joins the capture
  tilescope_order("wait", stream, event);
  return cudaSuccess;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* data);
inline cudaError_t cudaStreamAddCallback(cudaStream_t s, void (*function)(cudaStream_t, cudaError_t, void*), void* data, unsigned) {
  function(s, cudaSuccess, data);
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaEventCreate(cudaEvent_t* event) { tilescope_start(); *event = new TilescopeEvent(); return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
TILESCOPE_HELPER inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
TILESCOPE_HELPER inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  event->graph = stream ? stream->graph : nullptr;
  tilescope_order("record", stream, event);
  event->time = std::chrono::steady_clock::now(), event->is_recorded = true;
  return tilescope_result(cudaSuccess);
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) { return tilescope_wait_for("host event", nullptr, event); }
inline cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
TILESCOPE_HELPER inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->is_recorded || !end->is_recorded) return tilescope_result(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return tilescope_result(cudaSuccess);
}
TILESCOPE_HELPER inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned = 0) { return cudaEventRecord(event, stream); }
inline cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) { *priority = stream ? stream->priority : 0; return cudaSuccess; }
inline cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) { *flags = stream ? stream->flags : cudaStreamDefault; return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaEventDestroy(cudaEvent_t event) { delete event; return cudaSuccess; }

// --- memory
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4 };
enum { cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2 };
TILESCOPE_HELPER inline cudaError_t tilescope_allocate_to(void** pointer, size_t size, int kind) {
  if (int sticky = tilescope_sticky_error()) return (cudaError_t)sticky;
  if (!size) { *pointer = nullptr; return cudaSuccess; }
  void* memory = tilescope_allocate(size, kind);
  if (!memory) return tilescope_result(cudaErrorMemoryAllocation);
  *pointer = memory;
  return cudaSuccess;
}
template <class T> TILESCOPE_HELPER cudaError_t cudaMalloc(T** p, size_t n) { return tilescope_allocate_to((void**)p, n, 0); }
template <class T> TILESCOPE_HELPER cudaError_t cudaMallocAsync(T** p, size_t n, cudaStream_t) { return tilescope_allocate_to((void**)p, n, 0); }
template <class T> TILESCOPE_HELPER cudaError_t cudaMallocManaged(T** p, size_t n, unsigned = cudaMemAttachGlobal) { return tilescope_allocate_to((void**)p, n, 1); }
template <class T> TILESCOPE_HELPER cudaError_t cudaMallocHost(T** p, size_t n, unsigned = 0) { return tilescope_allocate_to((void**)p, n, 2); }
template <class T> TILESCOPE_HELPER cudaError_t cudaHostAlloc(T** p, size_t n, unsigned) { return tilescope_allocate_to((void**)p, n, 2); }
template <class T> TILESCOPE_HELPER cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return tilescope_allocate_to((void**)p, *pitch * height, 0);
}
template <class T> TILESCOPE_HELPER cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) { *device = (T*)host; return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaFree(void* p) { tilescope_wait(); return tilescope_result(tilescope_free(p) ? cudaErrorInvalidValue : cudaSuccess); }
TILESCOPE_HELPER inline cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return tilescope_result(tilescope_free(p) ? cudaErrorInvalidValue : cudaSuccess); }
TILESCOPE_HELPER inline cudaError_t cudaFreeHost(void* p) { return cudaFree(p); }
TILESCOPE_HELPER inline cudaError_t cudaHostGetFlags(unsigned* flags, void* p) {
  if (tilescope_is_device(p) != 3) return tilescope_result(cudaErrorInvalidValue);
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}
// Registered memory is pinned but stays the host's: kernels that access it are refused, as its accesses can't be drawn.
enum { cudaHostRegisterIoMemory = 4, cudaHostRegisterReadOnly = 8 };
TILESCOPE_HELPER inline cudaError_t cudaHostRegister(void* p, size_t size, unsigned) { return tilescope_result(p && size ? cudaSuccess : cudaErrorInvalidValue); }
TILESCOPE_HELPER inline cudaError_t cudaHostUnregister(void* p) { return tilescope_result(p ? cudaSuccess : cudaErrorInvalidValue); }
template <class T> inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, T*, size_t = 0, unsigned = 4) { return cudaSuccess; }
// Pools of memory: allocations come from the device's memory, whatever the pool.
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1, cudaMemPoolReuseAllowOpportunistic, cudaMemPoolReuseAllowInternalDependencies,
  cudaMemPoolAttrReleaseThreshold
};
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) { *pool = nullptr; return cudaSuccess; }
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int) { *pool = nullptr; return cudaSuccess; }
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
template <class T> TILESCOPE_HELPER cudaError_t cudaMallocFromPoolAsync(T** p, size_t n, cudaMemPool_t, cudaStream_t) { return tilescope_allocate_to((void**)p, n, 0); }
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
inline cudaPitchedPtr make_cudaPitchedPtr(void* p, size_t pitch, size_t x, size_t y) { return {p, pitch, x, y}; }
inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }

// Whether a copy in this direction between these pointers is possible.
TILESCOPE_HELPER inline cudaError_t tilescope_check_copy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  int target = tilescope_is_device(to), source = tilescope_is_device(from);
  if (kind < 0 || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (size && (!to || !from)) return cudaErrorInvalidValue;
  bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && ((to_device && !target && !tilescope_is_symbol(to)) || (from_device && !source && !tilescope_is_symbol(from)))) return cudaErrorInvalidValue;
  if (kind != cudaMemcpyDefault && ((!to_device && target == 1) || (!from_device && source == 1))) return cudaErrorInvalidValue;
  if ((target && tilescope_size_of(to) < size) || (source && tilescope_size_of(from) < size)) return cudaErrorInvalidValue;
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t tilescope_copy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  if (int sticky = tilescope_sticky_error()) return (cudaError_t)sticky;
  if (cudaError_t error = tilescope_check_copy(to, from, size, kind)) return tilescope_result(error);
  memmove(to, from, size);
  tilescope_touch(to);
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  tilescope_wait();
  return tilescope_copy(to, from, size, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
TILESCOPE_HELPER inline cudaError_t tilescope_copy_async(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  cudaError_t error = tilescope_copy(to, from, size, kind);
  if (error) return error;
  bool is_waiting = !tilescope_is_device(to) || !tilescope_is_device(from);  // a copy from or to pageable memory
  tilescope_order("copy", stream, nullptr, tilescope_is_device(to) ? to : nullptr, tilescope_is_device(from) ? from : nullptr, size);
  if (is_waiting) tilescope_order("host", stream, nullptr);
  else tilescope_copy_without_waiting(to, from, size);
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t size) {
  if (to_device || from_device) return tilescope_result(cudaErrorInvalidDevice);
  return cudaMemcpy(to, from, size, cudaMemcpyDeviceToDevice);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t size, cudaStream_t = nullptr) {
  return cudaMemcpyPeer(to, to_device, from, from_device, size);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch) return tilescope_result(cudaErrorInvalidPitchValue);
  for (size_t y = 0; y < height; y++) {
    if (cudaError_t error = cudaMemcpy((char*)to + y * to_pitch, (const char*)from + y * from_pitch, width, kind)) return error;
  }
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemset(void* to, int value, size_t size) {
  if (size && !tilescope_is_symbol(to) && (!tilescope_is_device(to) || tilescope_size_of(to) < size)) return tilescope_result(cudaErrorInvalidValue);
  memset(to, value, size);
  tilescope_touch(to);
  return tilescope_result(cudaSuccess);
}
TILESCOPE_HELPER inline cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream = nullptr);
TILESCOPE_HELPER inline cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  for (size_t y = 0; y < height; y++) {
    if (cudaError_t error = cudaMemset((char*)to + y * pitch, value, width)) return error;
  }
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t = nullptr) {
  return cudaMemset2D(to, pitch, value, width, height);
}
TILESCOPE_HELPER inline cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent size) {
  for (size_t z = 0; z < size.depth; z++) {
    if (cudaError_t error = cudaMemset2D((char*)to.ptr + z * to.ysize * to.pitch, to.pitch, value, size.width, size.height)) return error;
  }
  return cudaSuccess;
}
template <class T> TILESCOPE_HELPER cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t size, size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice) {
  if (offset + size > sizeof(T)) return tilescope_result(cudaErrorInvalidValue);
  tilescope_wait();
  memcpy((char*)&symbol + offset, from, size);
  return tilescope_result(cudaSuccess);
}
template <class T> TILESCOPE_HELPER cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t size, size_t offset = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  if (offset + size > sizeof(T)) return tilescope_result(cudaErrorInvalidValue);
  tilescope_wait();
  memcpy(to, (const char*)&symbol + offset, size);
  return tilescope_result(cudaSuccess);
}
template <class T> TILESCOPE_HELPER cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t size, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, size, offset, kind);
}
template <class T> TILESCOPE_HELPER cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t size, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t = nullptr) {
  return cudaMemcpyFromSymbol(to, symbol, size, offset, kind);
}
template <class T> TILESCOPE_HELPER cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) { *pointer = (void*)&symbol; return cudaSuccess; }
template <class T> TILESCOPE_HELPER cudaError_t cudaGetSymbolSize(size_t* size, const T&) { *size = sizeof(T); return cudaSuccess; }
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes { cudaMemoryType type; int device; void *devicePointer, *hostPointer; };
TILESCOPE_HELPER inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* p) {
  int kind = tilescope_is_device(p);
  attributes->type = kind == 0 ? cudaMemoryTypeUnregistered : kind == 1 ? cudaMemoryTypeDevice : kind == 2 ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
  attributes->device = kind ? 0 : -2, attributes->devicePointer = kind ? (void*)p : nullptr, attributes->hostPointer = kind > 1 ? (void*)p : nullptr;
  return cudaSuccess;
}
enum cudaMemLocationType {
  cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost, cudaMemLocationTypeHostNuma, cudaMemLocationTypeHostNumaCurrent
};
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
enum cudaMemoryAdvise { cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation, cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy };
enum { cudaCpuDeviceId = -1 };
template <class D> inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, D, cudaStream_t = nullptr) { return cudaSuccess; }
template <class D> inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, D, unsigned, cudaStream_t) { return cudaSuccess; }
template <class D> inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, D) { return cudaSuccess; }

// --- functions
struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes, preferredShmemCarveout; };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
template <class F> TILESCOPE_HELPER cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > TILESCOPE_MAX_SHARED) return tilescope_result(cudaErrorInvalidValue);
  tilescope_allow_shared(value);
  return cudaSuccess;
}
template <class F> inline cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) { return cudaSuccess; }
template <class F> inline cudaError_t cudaFuncSetSharedMemConfig(F, cudaSharedMemConfig) { return cudaSuccess; }
template <class F> TILESCOPE_HELPER cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, F) {
  *a = cudaFuncAttributes{};
  a->maxThreadsPerBlock = 1024, a->numRegs = 32, a->maxDynamicSharedSizeBytes = 49152;
  return cudaSuccess;
}
// Without a compiler for a GPU the registers are unknown: these assume that they do not limit.
template <class F> TILESCOPE_HELPER cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F, int threads, size_t shared) {
  int by_threads = 2048 / (threads > 0 ? threads : 1), by_shared = shared ? (int)(233472 / (shared + 1024)) : 32;
  *blocks = by_threads < by_shared ? by_threads : by_shared;
  if (*blocks > 32) *blocks = 32;
  return cudaSuccess;
}
template <class F> inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, F function, int threads, size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}
template <class F> inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, F, size_t = 0, int limit = 0) {
  *block = limit > 0 && limit < 1024 ? limit : 1024, *grid = 264;
  return cudaSuccess;
}

#define CUDART_VERSION 13000
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
