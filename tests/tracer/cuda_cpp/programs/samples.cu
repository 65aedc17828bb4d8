// A program in the style of NVIDIA's CUDA samples.
#include <cuda.h>
#include <cuda_runtime.h>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

__global__ void increment(int* data, int by) { data[blockIdx.x * blockDim.x + threadIdx.x] += by; }

int main(int argc, char** argv) {
  cudaDeviceProp properties;
  int device = findCudaDevice(argc, (const char**)argv), major, count;
  checkCudaErrors(cudaGetDeviceProperties(&properties, device));
  cuInit(0);
  cuDeviceGetCount(&count);
  cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
  printf("%d multiprocessors, %d device, %d\n", properties.multiProcessorCount, count, major);
  int n = checkCmdLineFlag(argc, (const char**)argv, "n") ? getCmdLineArgumentInt(argc, (const char**)argv, "n") : 64, *data, host[64] = {};
  checkCudaErrors(cudaMalloc((void**)&data, n * sizeof(int)));
  checkCudaErrors(cudaMemset(data, 0, n * sizeof(int)));
  StopWatchInterface* timer = NULL;
  sdkCreateTimer(&timer);
  sdkStartTimer(&timer);
  nvtxRangePushA("increment");
  increment<<<2, n / 2>>>(data, 26);
  getLastCudaError("increment failed");
  nvtxRangePop();
  sdkStopTimer(&timer);
  checkCudaErrors(cudaMemcpy(host, data, n * sizeof(int), cudaMemcpyDeviceToHost));
  printf("%d %d %s\n", host[0], host[63], sdkGetTimerValue(&timer) >= 0 ? "timed" : "");
  sdkDeleteTimer(&timer);
  checkCudaErrors(cudaFree(data));
  increment<<<1, 2048>>>(data, 1);
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
