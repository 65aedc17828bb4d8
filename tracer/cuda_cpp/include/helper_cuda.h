// Checks of NVIDIA's samples.
#pragma once
#include <cstdio>
#include <cstdlib>
#include "helper_string.h"
template <class E> inline const char* _cudaGetErrorEnum(E error) {
  if constexpr (std::is_same<E, cudaError_t>::value) return cudaGetErrorName(error);
  return "<unknown>";
}
template <class E> inline void check(E result, const char* function, const char* file, int line) {
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
  cudaError_t error = cudaPeekAtLastError();
  __printLastCudaError(message, file, line);
  if (error) exit(EXIT_FAILURE);
}
#ifndef MAX
#define MAX(a, b) (a > b ? a : b)
#endif
inline int ftoi(float value) { return (int)(value >= 0 ? value + 0.5 : value - 0.5); }
inline int _ConvertSMVer2Cores(int, int) { return 128; }
inline const char* _ConvertSMVer2ArchName(int, int) { return "Hopper"; }
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int gpuDeviceInit(int device) { return device == 0 ? 0 : -1; }
inline int findCudaDevice(int, const char**) {
  printf("GPU Device 0: \"Hopper\" with compute capability 9.0\n\n");
  return 0;
}
inline int findIntegratedGPU() { return -1; }
inline bool checkCudaCapabilities(int major, int minor) { return major < 9 || (major == 9 && minor == 0); }
