// CUDA arrays, texture objects and surface objects (CUDA C++ Programming Guide, "Texture and Surface Memory").
#pragma once
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone };
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
TILESCOPE_HELPER inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) { return {x, y, z, w, f}; }
template <class T> struct TilescopeChannels { typedef T type; };
#define TILESCOPE_CHANNELS(N, T)                                                                    \
  template <> struct TilescopeChannels<N##1> { typedef T type; };                                   \
  template <> struct TilescopeChannels<N##2> { typedef T type; };                                   \
  template <> struct TilescopeChannels<N##4> { typedef T type; };
TILESCOPE_CHANNELS(char, signed char) TILESCOPE_CHANNELS(uchar, unsigned char) TILESCOPE_CHANNELS(short, short) TILESCOPE_CHANNELS(ushort, unsigned short)
TILESCOPE_CHANNELS(int, int) TILESCOPE_CHANNELS(uint, unsigned) TILESCOPE_CHANNELS(float, float)
#undef TILESCOPE_CHANNELS
template <class T> TILESCOPE_HELPER cudaChannelFormatDesc cudaCreateChannelDesc() {
  typedef typename TilescopeChannels<T>::type C;
  int bits = sizeof(C) * 8, count = sizeof(T) / sizeof(C);
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
          std::is_floating_point<C>::value ? cudaChannelFormatKindFloat : std::is_signed<C>::value ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned};
}
struct cudaArray {
  cudaChannelFormatDesc desc;
  size_t width, height, depth, element;  // of an element in bytes
  char* memory;
};
typedef cudaArray* cudaArray_t;
typedef const cudaArray* cudaArray_const_t;
enum { cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4, cudaArrayTextureGather = 8 };
TILESCOPE_HELPER inline cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned = 0) {
  size_t element = (desc->x + desc->y + desc->z + desc->w) / 8, h = extent.height ? extent.height : 1, d = extent.depth ? extent.depth : 1;
  void* memory = tilescope_allocate(extent.width * h * d * element, 0);
  if (!memory) return tilescope_result(cudaErrorMemoryAllocation);
  *array = new cudaArray{*desc, extent.width, h, d, element, (char*)memory};
  return tilescope_result(cudaSuccess);
}
TILESCOPE_HELPER inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width, size_t height = 0, unsigned flags = 0) {
  return cudaMalloc3DArray(array, desc, make_cudaExtent(width, height, 0), flags);
}
TILESCOPE_HELPER inline cudaError_t cudaFreeArray(cudaArray_t array) {
  if (!array) return tilescope_result(cudaSuccess);
  tilescope_free(array->memory);
  delete array;
  return tilescope_result(cudaSuccess);
}
TILESCOPE_HELPER inline char* tilescope_place(const cudaArray* array, size_t x, size_t y, size_t z = 0) { return array->memory + (z * array->height + y) * array->width * array->element + x; }
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DToArray(cudaArray_t array, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  size_t row = array->width * array->element;
  if (x + width > row || y + height > array->height || pitch < width) return tilescope_result(cudaErrorInvalidValue);
  return cudaMemcpy2D(tilescope_place(array, x, y), row, from, pitch, width, height, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t array, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy2DToArray(array, x, y, from, pitch, width, height, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  size_t row = array->width * array->element;
  if (x + width > row || y + height > array->height || pitch < width) return tilescope_result(cudaErrorInvalidValue);
  return cudaMemcpy2D(to, pitch, tilescope_place(array, x, y), row, width, height, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpyToArray(cudaArray_t array, size_t x, size_t y, const void* from, size_t count, cudaMemcpyKind kind) {
  return cudaMemcpy(tilescope_place(array, x, y), from, count, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t array, size_t x, size_t y, size_t count, cudaMemcpyKind kind) {
  return cudaMemcpy(to, tilescope_place(array, x, y), count, kind);
}
struct cudaMemcpy3DParms { cudaArray_t srcArray; cudaPos srcPos; cudaPitchedPtr srcPtr; cudaArray_t dstArray; cudaPos dstPos; cudaPitchedPtr dstPtr; cudaExtent extent; cudaMemcpyKind kind; };
TILESCOPE_HELPER inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  size_t element = p->dstArray ? p->dstArray->element : p->srcArray ? p->srcArray->element : 1, width = p->extent.width * element;
  for (size_t z = 0; z < p->extent.depth; z++) {
    for (size_t y = 0; y < p->extent.height; y++) {
      char* to = p->dstArray ? tilescope_place(p->dstArray, p->dstPos.x * element, p->dstPos.y + y, p->dstPos.z + z)
                             : (char*)p->dstPtr.ptr + ((p->dstPos.z + z) * p->dstPtr.ysize + p->dstPos.y + y) * p->dstPtr.pitch + p->dstPos.x;
      const char* from = p->srcArray ? tilescope_place(p->srcArray, p->srcPos.x * element, p->srcPos.y + y, p->srcPos.z + z)
                                     : (const char*)p->srcPtr.ptr + ((p->srcPos.z + z) * p->srcPtr.ysize + p->srcPos.y + y) * p->srcPtr.pitch + p->srcPos.x;
      if (cudaError_t error = cudaMemcpy(to, from, width, p->kind)) return error;
    }
  }
  return tilescope_result(cudaSuccess);
}
TILESCOPE_HELPER inline cudaError_t cudaMalloc3D(cudaPitchedPtr* p, cudaExtent extent) {
  size_t pitch = (extent.width + 511) / 512 * 512;
  void* memory = tilescope_allocate(pitch * extent.height * extent.depth, 0);
  if (!memory) return tilescope_result(cudaErrorMemoryAllocation);
  *p = make_cudaPitchedPtr(memory, pitch, extent.width, extent.height);
  return tilescope_result(cudaSuccess);
}

enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization;
};
struct cudaResourceViewDesc { int format; size_t width, height, depth; };
struct TilescopeTexture {
  cudaTextureDesc texture;
  cudaResourceDesc resource;
  cudaChannelFormatDesc desc;
  char* memory;
  size_t size[3], pitch;  // pitch in bytes
};
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
TILESCOPE_HELPER inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource, const cudaTextureDesc* texture, const cudaResourceViewDesc*) {
  TilescopeTexture* t = new TilescopeTexture{};
  if (texture) t->texture = *texture;
  t->resource = *resource;
  if (resource->resType == cudaResourceTypeArray) {
    const cudaArray* a = resource->res.array.array;
    t->desc = a->desc, t->memory = a->memory, t->size[0] = a->width, t->size[1] = a->height, t->size[2] = a->depth, t->pitch = a->width * a->element;
  } else if (resource->resType == cudaResourceTypeLinear) {
    t->desc = resource->res.linear.desc, t->memory = (char*)resource->res.linear.devPtr;
    size_t element = (t->desc.x + t->desc.y + t->desc.z + t->desc.w) / 8;
    t->size[0] = element ? resource->res.linear.sizeInBytes / element : 0, t->size[1] = t->size[2] = 1, t->pitch = resource->res.linear.sizeInBytes;
  } else {
    t->desc = resource->res.pitch2D.desc, t->memory = (char*)resource->res.pitch2D.devPtr;
    t->size[0] = resource->res.pitch2D.width, t->size[1] = resource->res.pitch2D.height, t->size[2] = 1, t->pitch = resource->res.pitch2D.pitchInBytes;
  }
  *object = (cudaTextureObject_t)t;
  return tilescope_result(cudaSuccess);
}
TILESCOPE_HELPER inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) { delete (TilescopeTexture*)object; return tilescope_result(cudaSuccess); }
TILESCOPE_HELPER inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) { return cudaCreateTextureObject(object, resource, nullptr, nullptr); }
TILESCOPE_HELPER inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { return cudaDestroyTextureObject(object); }

// The index along an axis after the address mode; -1 for the border.
TILESCOPE_HELPER inline long tilescope_index(const TilescopeTexture& t, int axis, long i) {
  long n = t.size[axis];
  cudaTextureAddressMode mode = t.texture.addressMode[axis];
  if (!t.texture.normalizedCoords && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror)) mode = cudaAddressModeClamp;
  if (mode == cudaAddressModeWrap) return ((i % n) + n) % n;
  if (mode == cudaAddressModeMirror) {
    i = ((i % (2 * n)) + 2 * n) % (2 * n);
    return i < n ? i : 2 * n - 1 - i;
  }
  if (mode == cudaAddressModeBorder) return i < 0 || i >= n ? -1 : i;
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}
template <class T> TILESCOPE_HELPER T tilescope_texel(void* pc, const TilescopeTexture& t, long x, long y, long z) {
  size_t element = (t.desc.x + t.desc.y + t.desc.z + t.desc.w) / 8;
  T result = {};
  if (x < 0 || y < 0 || z < 0) {
    float* channels = (float*)&result;
    if (std::is_same<typename TilescopeChannels<T>::type, float>::value) for (size_t c = 0; c < sizeof(T) / 4; c++) channels[c] = t.texture.borderColor[c];
    return result;
  }
  const char* from = t.memory + (z * t.size[1] + y) * t.pitch + x * element;
  tilescope_access(pc, from, (int)element, TILESCOPE_LOAD);
  if (t.texture.readMode == cudaReadModeElementType || t.desc.f == cudaChannelFormatKindFloat) {
    memmove(&result, from, element < sizeof(T) ? element : sizeof(T));  // memcpy would be recorded
    return result;
  }
  int width = t.desc.x / 8;
  float* channels = (float*)&result;
  for (size_t c = 0; c < sizeof(T) / 4 && c * width < element; c++) {
    const void* at = from + c * width;
    bool is_signed = t.desc.f == cudaChannelFormatKindSigned;
    channels[c] = width == 1 ? (is_signed ? std::fmax(*(const signed char*)at / 127.0f, -1.0f) : *(const unsigned char*)at / 255.0f)
                             : (is_signed ? std::fmax(*(const short*)at / 32767.0f, -1.0f) : *(const unsigned short*)at / 65535.0f);
  }
  return result;
}
// A fetch of one to three dimensions. Linear filters weigh in steps of 1/256, as the texture unit does.
template <class T> TILESCOPE_HELPER T tilescope_fetch(void* pc, cudaTextureObject_t object, const float* at, int dimensions) {
  const TilescopeTexture& t = *(const TilescopeTexture*)object;
  long low[3] = {0, 0, 0};
  float weight[3] = {0, 0, 0};
  bool is_linear = t.texture.filterMode == cudaFilterModeLinear;
  for (int axis = 0; axis < dimensions; axis++) {
    float x = at[axis];
    if (t.texture.normalizedCoords) {
      if (t.texture.addressMode[axis] == cudaAddressModeWrap) x -= std::floor(x);
      x *= t.size[axis];
    }
    if (is_linear) x -= 0.5f;
    low[axis] = (long)std::floor(x);
    if (is_linear) weight[axis] = std::nearbyint((x - low[axis]) * 256) / 256;
  }
  if (!is_linear) {
    return tilescope_texel<T>(pc, t, tilescope_index(t, 0, low[0]), dimensions > 1 ? tilescope_index(t, 1, low[1]) : 0, dimensions > 2 ? tilescope_index(t, 2, low[2]) : 0);
  }
  T result = {};
  float* sums = (float*)&result;
  for (int corner = 0; corner < 1 << dimensions; corner++) {
    float part = 1;
    long index[3] = {0, 0, 0};
    for (int axis = 0; axis < dimensions; axis++) {
      int step = corner >> axis & 1;
      part *= step ? weight[axis] : 1 - weight[axis];
      index[axis] = tilescope_index(t, axis, low[axis] + step);
    }
    T texel = tilescope_texel<T>(pc, t, index[0], index[1], index[2]);
    for (size_t c = 0; c < sizeof(T) / 4; c++) sums[c] += part * ((float*)&texel)[c];
  }
  return result;
}
template <class T> TILESCOPE_CALL T tex1Dfetch(cudaTextureObject_t object, int i) {
  const TilescopeTexture& t = *(const TilescopeTexture*)object;
  return i < 0 || (size_t)i >= t.size[0] ? T{} : tilescope_texel<T>(TILESCOPE_PC, t, i, 0, 0);
}
template <class T> TILESCOPE_CALL T tex1D(cudaTextureObject_t object, float x) { return tilescope_fetch<T>(TILESCOPE_PC, object, &x, 1); }
template <class T> TILESCOPE_CALL T tex2D(cudaTextureObject_t object, float x, float y) {
  float at[2] = {x, y};
  return tilescope_fetch<T>(TILESCOPE_PC, object, at, 2);
}
template <class T> TILESCOPE_CALL T tex3D(cudaTextureObject_t object, float x, float y, float z) {
  float at[3] = {x, y, z};
  return tilescope_fetch<T>(TILESCOPE_PC, object, at, 3);
}
template <class T> TILESCOPE_CALL T tex2DLod(cudaTextureObject_t object, float x, float y, float) {
  float at[2] = {x, y};
  return tilescope_fetch<T>(TILESCOPE_PC, object, at, 2);
}
// --- surfaces: x in bytes. Beyond the edge a read traps; with the other modes it clamps or gives 0.
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
template <class T> TILESCOPE_HELPER T* tilescope_cell(void* pc, cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  const TilescopeTexture& t = *(const TilescopeTexture*)object;
  int last = (int)t.pitch - (int)sizeof(T), height = (int)t.size[1], depth = (int)t.size[2];
  bool is_outside = x < 0 || x > last || y < 0 || y >= height || z < 0 || z >= depth;
  if (is_outside && mode == cudaBoundaryModeTrap) tilescope_trap(pc, "Trap");
  if (is_outside && mode == cudaBoundaryModeZero) return nullptr;
  x = x < 0 ? 0 : x > last ? last : x, y = y < 0 ? 0 : y >= height ? height - 1 : y, z = z < 0 ? 0 : z >= depth ? depth - 1 : z;
  return (T*)(t.memory + ((size_t)z * height + y) * t.pitch + x);
}
template <class T> TILESCOPE_HELPER T tilescope_surface_read(void* pc, cudaSurfaceObject_t s, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  T value = {}, *cell = tilescope_cell<T>(pc, s, x, y, z, mode);
  if (cell) tilescope_memcpy(pc, &value, cell, sizeof(T));
  return value;
}
template <class T> TILESCOPE_HELPER void tilescope_surface_write(void* pc, T value, cudaSurfaceObject_t s, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  if (T* cell = tilescope_cell<T>(pc, s, x, y, z, mode)) tilescope_memcpy(pc, cell, &value, sizeof(T));
}
#define TILESCOPE_SURFACE(name, parameters, x, y, z)                                                \
  template <class T> TILESCOPE_CALL T name##read(cudaSurfaceObject_t s, parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { return tilescope_surface_read<T>(TILESCOPE_PC, s, x, y, z, mode); } \
  template <class T> TILESCOPE_CALL void name##read(T* value, cudaSurfaceObject_t s, parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { *value = tilescope_surface_read<T>(TILESCOPE_PC, s, x, y, z, mode); } \
  template <class T> TILESCOPE_CALL void name##write(T value, cudaSurfaceObject_t s, parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { tilescope_surface_write<T>(TILESCOPE_PC, value, s, x, y, z, mode); }
#define TILESCOPE_COORDINATES int x_, int y_
#define TILESCOPE_COORDINATES3 int x_, int y_, int z_
TILESCOPE_SURFACE(surf1D, int x_, x_, 0, 0) TILESCOPE_SURFACE(surf2D, TILESCOPE_COORDINATES, x_, y_, 0) TILESCOPE_SURFACE(surf3D, TILESCOPE_COORDINATES3, x_, y_, z_)
#undef TILESCOPE_SURFACE
#undef TILESCOPE_COORDINATES
#undef TILESCOPE_COORDINATES3
