// Textures of arrays and of linear and pitched memory, and a surface.
#include <helper_cuda.h>
#include <cstdio>

__global__ void sample(cudaTextureObject_t point, cudaTextureObject_t linear, cudaTextureObject_t wrapped, float* out) {
  int x = threadIdx.x;
  out[x] = tex2D<float>(point, x - 1 + 0.5f, 1.5f);
  out[8 + x] = tex2D<float>(linear, x * 0.5f + 0.25f, 1.0f);
  out[16 + x] = tex2D<float>(wrapped, (x - 2 + 0.5f) / 4, 0.5f / 3);
}
__global__ void fetch(cudaTextureObject_t words, cudaTextureObject_t colors, int* out, float4* mixed) {
  out[threadIdx.x] = tex1Dfetch<int>(words, threadIdx.x * 3);
  mixed[threadIdx.x] = tex2D<float4>(colors, threadIdx.x, 1);
}
__global__ void paint(cudaSurfaceObject_t surface) {
  float old;
  surf2Dread(&old, surface, threadIdx.x * sizeof(float), threadIdx.y);
  surf2Dwrite(old + 100 * threadIdx.y, surface, threadIdx.x * sizeof(float), threadIdx.y);
}

int main(int argc, char** argv) {
  findCudaDevice(argc, (const char**)argv);
  float image[12], *out;
  for (int i = 0; i < 12; i++) image[i] = i * i;
  cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  checkCudaErrors(cudaMallocArray(&array, &channels, 4, 3, cudaArraySurfaceLoadStore));
  checkCudaErrors(cudaMemcpy2DToArray(array, 0, 0, image, 16, 16, 3, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModePoint;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t point, linear, wrapped, words, colors;
  checkCudaErrors(cudaCreateTextureObject(&point, &resource, &how, nullptr));
  how.filterMode = cudaFilterModeLinear;
  checkCudaErrors(cudaCreateTextureObject(&linear, &resource, &how, NULL));
  how.filterMode = cudaFilterModePoint, how.normalizedCoords = 1, how.addressMode[0] = cudaAddressModeWrap;
  checkCudaErrors(cudaCreateTextureObject(&wrapped, &resource, &how, NULL));
  checkCudaErrors(cudaMallocManaged(&out, 24 * sizeof(float)));
  sample<<<1, 8>>>(point, linear, wrapped, out);
  getLastCudaError("sample");
  checkCudaErrors(cudaDeviceSynchronize());
  for (int i = 0; i < 24; i++) printf("%g%c", out[i], i % 8 == 7 ? '\n' : ' ');

  int *numbers, *taken;
  cudaMallocManaged(&numbers, 40);
  cudaMallocManaged(&taken, 16);
  for (int i = 0; i < 10; i++) numbers[i] = 10 * i;
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = numbers;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = 40;
  how = {};
  checkCudaErrors(cudaCreateTextureObject(&words, &resource, &how, NULL));
  uchar4* pixels;
  size_t pitch;
  cudaMallocPitch(&pixels, &pitch, 4 * sizeof(uchar4), 2);
  uchar4 host[8];
  for (int i = 0; i < 8; i++) host[i] = make_uchar4(51 * (i % 4), 255, i, 0);
  cudaMemcpy2D(pixels, pitch, host, 16, 16, 2, cudaMemcpyHostToDevice);
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = pixels;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  resource.res.pitch2D.width = 4, resource.res.pitch2D.height = 2, resource.res.pitch2D.pitchInBytes = pitch;
  how.readMode = cudaReadModeNormalizedFloat;
  checkCudaErrors(cudaCreateTextureObject(&colors, &resource, &how, NULL));
  float4* mixed;
  cudaMallocManaged(&mixed, 64);
  fetch<<<1, 4>>>(words, colors, taken, mixed);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; i++) printf("%d %g %g %.4f\n", taken[i], mixed[i].x, mixed[i].y, mixed[i].z);

  cudaSurfaceObject_t surface;
  resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  checkCudaErrors(cudaCreateSurfaceObject(&surface, &resource));
  paint<<<1, dim3(4, 3)>>>(surface);
  cudaMemcpy2DFromArray(image, 16, array, 0, 0, 16, 3, cudaMemcpyDeviceToHost);
  printf("%g %g %g\n", image[0], image[5], image[11]);
  cudaDestroySurfaceObject(surface);
  for (auto texture : {point, linear, wrapped, words, colors}) cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
  cudaFree(pixels), cudaFree(out), cudaFree(numbers), cudaFree(taken), cudaFree(mixed);
}
