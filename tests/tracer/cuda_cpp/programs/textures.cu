// Textures and surfaces: point and linear filters, address modes, linear memory, arrays.
#include <cstdio>

__global__ void points(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, (int)threadIdx.x % 4 - 1 + 0.5f, threadIdx.x / 4 + 0.5f);
}
__global__ void between(cudaTextureObject_t texture, float* out) { out[threadIdx.x] = tex2D<float>(texture, threadIdx.x * 0.25f + 0.5f, 1.0f); }
__global__ void wrapped(cudaTextureObject_t texture, float* out) { out[threadIdx.x] = tex1D<float>(texture, (threadIdx.x + 0.5f) / 4 - 1); }
__global__ void fetched(cudaTextureObject_t texture, int* out) { out[threadIdx.x] = 2 * tex1Dfetch<int>(texture, threadIdx.x); }
__global__ void colours(cudaTextureObject_t texture, float4* out) { out[threadIdx.x] = tex2D<float4>(texture, threadIdx.x + 0.5f, 0.5f); }
__global__ void squares(cudaSurfaceObject_t surface) {
  float value = surf2Dread<float>(surface, threadIdx.x * sizeof(float), threadIdx.y);
  surf2Dwrite(value * value, surface, threadIdx.x * sizeof(float), threadIdx.y);
}

int main() {
  float host[12], *out;
  for (int i = 0; i < 12; i++) host[i] = i;
  cudaMallocManaged(&out, 64);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 4, 3, cudaArraySurfaceLoadStore);
  cudaMemcpy2DToArray(array, 0, 0, host, 16, 16, 3, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture = {};
  texture.addressMode[0] = cudaAddressModeClamp;
  texture.addressMode[1] = cudaAddressModeBorder;
  texture.filterMode = cudaFilterModePoint;
  texture.readMode = cudaReadModeElementType;
  cudaTextureObject_t object;
  cudaCreateTextureObject(&object, &resource, &texture, nullptr);
  points<<<1, 16>>>(object, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 16; i++) printf("%g ", out[i]);
  cudaDestroyTextureObject(object);
  texture.filterMode = cudaFilterModeLinear;
  cudaCreateTextureObject(&object, &resource, &texture, nullptr);
  between<<<1, 8>>>(object, out);
  cudaDeviceSynchronize();
  printf("\n");
  for (int i = 0; i < 8; i++) printf("%g ", out[i]);
  cudaSurfaceObject_t surface;
  cudaCreateSurfaceObject(&surface, &resource);
  squares<<<1, dim3(4, 3)>>>(surface);
  cudaMemcpy2DFromArray(host, 16, array, 0, 0, 16, 3, cudaMemcpyDeviceToHost);
  printf("\n%g %g %g\n", host[1], host[6], host[11]);
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);

  float* row;
  cudaMalloc(&row, 16);
  cudaMemcpy(row, host, 16, cudaMemcpyHostToDevice);
  cudaArray_t line;
  cudaMallocArray(&line, &format, 4);
  cudaMemcpyToArray(line, 0, 0, host, 16, cudaMemcpyHostToDevice);
  resource.res.array.array = line;
  texture = {};
  texture.addressMode[0] = cudaAddressModeWrap;
  texture.normalizedCoords = 1;
  cudaCreateTextureObject(&object, &resource, &texture, nullptr);
  wrapped<<<1, 12>>>(object, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 12; i++) printf("%g ", out[i]);

  int *numbers, *doubled;
  cudaMallocManaged(&numbers, 32);
  cudaMallocManaged(&doubled, 32);
  for (int i = 0; i < 8; i++) numbers[i] = i * i;
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = numbers;
  resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
  resource.res.linear.sizeInBytes = 32;
  texture = {};
  cudaCreateTextureObject(&object, &resource, &texture, nullptr);
  fetched<<<1, 8>>>(object, doubled);
  cudaDeviceSynchronize();
  printf("\n%d %d %d\n", doubled[1], doubled[5], doubled[7]);

  uchar4* pixels;
  float4* bright;
  cudaMallocManaged(&pixels, 512);
  cudaMallocManaged(&bright, 64);
  for (int i = 0; i < 4; i++) pixels[i] = make_uchar4(i * 51, 255, 0, 102);
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = pixels;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  resource.res.pitch2D.width = 4, resource.res.pitch2D.height = 1, resource.res.pitch2D.pitchInBytes = 512;
  texture.readMode = cudaReadModeNormalizedFloat;
  cudaCreateTextureObject(&object, &resource, &texture, nullptr);
  colours<<<1, 4>>>(object, bright);
  cudaDeviceSynchronize();
  printf("%g %g %g %g\n", bright[2].x, bright[2].y, bright[2].z, bright[2].w);
}
