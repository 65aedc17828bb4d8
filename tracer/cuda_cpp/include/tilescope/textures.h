// Arrays, textures and surfaces (CUDA Runtime API, "Texture Object Management"). Fetches are recorded as loads of the
// texture's memory.
#pragma once
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone };
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) { return {x, y, z, w, kind}; }
// The channels of a type: a number, or a vector of up to four.
template <class T, class = void> struct TilescopeChannels { typedef T Number; };
template <class T> struct TilescopeChannels<T, decltype(void(T::x))> { typedef decltype(T::x) Number; };
template <class T> TILESCOPE_HELPER inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  typedef typename TilescopeChannels<T>::Number Number;
  int bits = 8 * sizeof(Number), count = sizeof(T) / sizeof(Number);
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
          std::is_floating_point<Number>::value ? cudaChannelFormatKindFloat
          : std::is_signed<Number>::value       ? cudaChannelFormatKindSigned
                                                : cudaChannelFormatKindUnsigned};
}
TILESCOPE_HELPER inline int tilescope_texel_size(const cudaChannelFormatDesc& d) { return (d.x + d.y + d.z + d.w) / 8; }

struct cudaArray { void* data; size_t width, height, depth; cudaChannelFormatDesc desc; };
typedef cudaArray* cudaArray_t;
typedef const cudaArray* cudaArray_const_t;
enum { cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4, cudaArrayTextureGather = 8 };
// Inlined, so that the runtime finds the program's line as for cudaMalloc.
TILESCOPE_HELPER __attribute__((always_inline)) inline cudaError_t tilescope_new_array(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width, size_t height, size_t depth) {
  void* data;
  if (cudaError_t error = tilescope_allocate_to(&data, width * (height ? height : 1) * (depth ? depth : 1) * tilescope_texel_size(*desc), 0)) return error;
  *array = new cudaArray{data, width, height, depth, *desc};
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width, size_t height = 0, unsigned = 0) {
  return tilescope_new_array(array, desc, width, height, 0);
}
TILESCOPE_HELPER inline cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent size, unsigned flags = 0) {
  if (flags & (cudaArrayLayered | cudaArrayCubemap)) return tilescope_result(cudaErrorNotSupported);
  return tilescope_new_array(array, desc, size.width, size.height, size.depth);
}
TILESCOPE_HELPER inline cudaError_t cudaFreeArray(cudaArray_t array) {
  if (!array) return cudaSuccess;
  cudaError_t error = cudaFree(array->data);
  delete array;
  return error;
}
// A rectangle of an array; x and width in bytes.
TILESCOPE_HELPER inline char* tilescope_array_at(cudaArray_const_t array, size_t x, size_t y) {
  return (char*)array->data + y * array->width * tilescope_texel_size(array->desc) + x;
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2D(tilescope_array_at(to, x, y), to->width * tilescope_texel_size(to->desc), from, pitch, width, height, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2D(to, pitch, tilescope_array_at(from, x, y), from->width * tilescope_texel_size(from->desc), width, height, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t size, cudaMemcpyKind kind) {
  return cudaMemcpy(tilescope_array_at(to, x, y), from, size, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t size, cudaMemcpyKind kind) {
  return cudaMemcpy(to, tilescope_array_at(from, x, y), size, kind);
}
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
TILESCOPE_HELPER inline cudaError_t cudaMalloc3D(cudaPitchedPtr* target, cudaExtent size) {
  target->xsize = size.width, target->ysize = size.height;
  return cudaMallocPitch(&target->ptr, &target->pitch, size.width, size.height * size.depth);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  size_t unit = p->srcArray ? tilescope_texel_size(p->srcArray->desc) : p->dstArray ? tilescope_texel_size(p->dstArray->desc) : 1;
  auto row = [unit](cudaArray_t array, const cudaPitchedPtr& pointer, const cudaPos& at, size_t y, size_t z) TILESCOPE_HELPER {
    size_t pitch = array ? array->width * unit : pointer.pitch, rows = array ? array->height : pointer.ysize;
    return (char*)(array ? array->data : pointer.ptr) + ((at.z + z) * rows + at.y + y) * pitch + at.x * (array ? unit : 1);
  };
  for (size_t z = 0; z < p->extent.depth; z++) {
    for (size_t y = 0; y < p->extent.height; y++) {
      char *to = row(p->dstArray, p->dstPtr, p->dstPos, y, z), *from = row(p->srcArray, p->srcPtr, p->srcPos, y, z);
      if (cudaError_t error = cudaMemcpy(to, from, p->extent.width * unit, p->kind)) return error;
    }
  }
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t = nullptr) { return cudaMemcpy3D(p); }

enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
struct cudaResourceViewDesc;
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
  int disableTrilinearOptimization, seamlessCubemap;
};
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
// A texture's memory and how it is read.
struct TilescopeTexture {
  char* data;
  size_t size[3], pitch;
  cudaChannelFormatDesc desc;
  cudaTextureDesc how;
  int texel;
};
TILESCOPE_HELPER inline cudaError_t tilescope_new_texture(unsigned long long* object, const cudaResourceDesc* from, const cudaTextureDesc* how) {
  TilescopeTexture t{};
  if (from->resType == cudaResourceTypeArray && from->res.array.array) {
    const cudaArray& array = *from->res.array.array;
    t = {(char*)array.data, {array.width, array.height ? array.height : 1, array.depth ? array.depth : 1}, 0, array.desc};
    t.pitch = array.width * tilescope_texel_size(array.desc);
  } else if (from->resType == cudaResourceTypeLinear) {
    const auto& linear = from->res.linear;
    t = {(char*)linear.devPtr, {linear.sizeInBytes, 1, 1}, linear.sizeInBytes, linear.desc};
    if (int texel = tilescope_texel_size(t.desc)) t.size[0] /= texel;
  } else if (from->resType == cudaResourceTypePitch2D) {
    const auto& pitched = from->res.pitch2D;
    t = {(char*)pitched.devPtr, {pitched.width, pitched.height, 1}, pitched.pitchInBytes, pitched.desc};
  } else {
    return tilescope_result(cudaErrorInvalidValue);
  }
  t.texel = tilescope_texel_size(t.desc);
  if (how) t.how = *how;
  // Only whole numbers that become floats can be mixed.
  bool is_float = t.desc.f == cudaChannelFormatKindFloat || t.how.readMode == cudaReadModeNormalizedFloat;
  if (!t.texel || !tilescope_is_device(t.data) || (t.how.filterMode == cudaFilterModeLinear && !is_float)) return tilescope_result(cudaErrorInvalidValue);
  *object = (unsigned long long)new TilescopeTexture(t);
  return tilescope_result(cudaSuccess);
}
TILESCOPE_HELPER inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* from, const cudaTextureDesc* how, const cudaResourceViewDesc*) {
  return tilescope_new_texture(object, from, how);
}
TILESCOPE_HELPER inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) { delete (TilescopeTexture*)object; return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* from) { return tilescope_new_texture(object, from, nullptr); }
TILESCOPE_HELPER inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { delete (TilescopeTexture*)object; return cudaSuccess; }

// The index of a texel along an axis, or -1 outside of a border.
TILESCOPE_HELPER inline long long tilescope_texel(const TilescopeTexture& t, int axis, long long index) {
  long long size = (long long)t.size[axis];
  cudaTextureAddressMode mode = t.how.addressMode[axis];
  if (index >= 0 && index < size) return index;
  if (mode == cudaAddressModeBorder) return -1;
  if (t.how.normalizedCoords && mode == cudaAddressModeWrap) return (index % size + size) % size;
  if (t.how.normalizedCoords && mode == cudaAddressModeMirror) {
    index = (index % (2 * size) + 2 * size) % (2 * size);
    return index < size ? index : 2 * size - 1 - index;
  }
  return index < 0 ? 0 : size - 1;
}
// A texel as it is in memory, or zeros outside of a border.
TILESCOPE_HELPER inline void tilescope_read_texel(void* pc, const TilescopeTexture& t, long long x, long long y, long long z, void* target) {
  x = tilescope_texel(t, 0, x), y = tilescope_texel(t, 1, y), z = tilescope_texel(t, 2, z);
  if (x < 0 || y < 0 || z < 0) memset(target, 0, t.texel);
  else tilescope_memcpy(pc, target, t.data + (z * t.size[1] + y) * t.pitch + x * t.texel, t.texel);
}
// The numbers of a texel; those of integers are shares of their largest value.
TILESCOPE_HELPER inline void tilescope_numbers(const TilescopeTexture& t, const char* texel, float* numbers) {
  int bytes = t.desc.x / 8, count = bytes ? t.texel / bytes : 0;
  for (int i = 0; i < count && i < 4; i++, texel += bytes) {
    if (t.desc.f == cudaChannelFormatKindFloat) memcpy(&numbers[i], texel, 4);
    else if (bytes == 1) numbers[i] = t.desc.f == cudaChannelFormatKindUnsigned ? *(const unsigned char*)texel / 255.0f : std::fmax(*(const signed char*)texel / 127.0f, -1.0f);
    else numbers[i] = t.desc.f == cudaChannelFormatKindUnsigned ? *(const unsigned short*)texel / 65535.0f : std::fmax(*(const short*)texel / 32767.0f, -1.0f);
  }
}
template <class T> TILESCOPE_HELPER inline T tilescope_fetch(void* pc, cudaTextureObject_t object, int dimensions, float x, float y, float z) {
  const TilescopeTexture& t = *(const TilescopeTexture*)object;
  float at[3] = {x, y, z}, numbers[4] = {};
  char texel[16] = {};
  T result{};
  for (int i = 0; i < dimensions && t.how.normalizedCoords; i++) at[i] *= (float)t.size[i];
  if (t.how.filterMode == cudaFilterModePoint) {
    tilescope_read_texel(pc, t, (long long)std::floor(at[0]), (long long)std::floor(at[1]), (long long)std::floor(at[2]), texel);
    if (t.how.readMode == cudaReadModeElementType) {
      memcpy((void*)&result, texel, sizeof(T) < (size_t)t.texel ? sizeof(T) : (size_t)t.texel);
      return result;
    }
    tilescope_numbers(t, texel, numbers);
  } else {  // the weights have 8 bits of fraction
    long long first[3] = {};
    float weight[3] = {};
    for (int i = 0; i < dimensions; i++) {
      float place = at[i] - 0.5f;
      first[i] = (long long)std::floor(place);
      weight[i] = std::floor((place - (float)first[i]) * 256 + 0.5f) / 256;
    }
    for (int corner = 0; corner < 1 << dimensions; corner++) {
      float part[4] = {}, share = 1;
      for (int i = 0; i < dimensions; i++) share *= corner >> i & 1 ? weight[i] : 1 - weight[i];
      tilescope_read_texel(pc, t, first[0] + (corner & 1), first[1] + (corner >> 1 & 1), first[2] + (corner >> 2 & 1), texel);
      tilescope_numbers(t, texel, part);
      for (int i = 0; i < 4; i++) numbers[i] += share * part[i];
    }
  }
  memcpy((void*)&result, numbers, sizeof(T) < sizeof numbers ? sizeof(T) : sizeof numbers);
  return result;
}
template <class T> TILESCOPE_CALL T tex1Dfetch(cudaTextureObject_t object, int x) {
  const TilescopeTexture& t = *(const TilescopeTexture*)object;
  char texel[16] = {};
  float numbers[4] = {};
  T result{};
  if (x >= 0 && (size_t)x < t.size[0]) tilescope_memcpy(TILESCOPE_PC, texel, t.data + (size_t)x * t.texel, t.texel);
  if (t.how.readMode == cudaReadModeNormalizedFloat) tilescope_numbers(t, texel, numbers), memcpy((void*)&result, numbers, sizeof(T) < 16 ? sizeof(T) : 16);
  else memcpy((void*)&result, texel, sizeof(T) < 16 ? sizeof(T) : 16);
  return result;
}
template <class T> TILESCOPE_CALL T tex1D(cudaTextureObject_t o, float x) { return tilescope_fetch<T>(TILESCOPE_PC, o, 1, x, 0, 0); }
template <class T> TILESCOPE_CALL T tex2D(cudaTextureObject_t o, float x, float y) { return tilescope_fetch<T>(TILESCOPE_PC, o, 2, x, y, 0); }
template <class T> TILESCOPE_CALL T tex3D(cudaTextureObject_t o, float x, float y, float z) { return tilescope_fetch<T>(TILESCOPE_PC, o, 3, x, y, z); }
template <class T> TILESCOPE_CALL void tex1Dfetch(T* to, cudaTextureObject_t o, int x) { *to = tex1Dfetch<T>(o, x); }
template <class T> TILESCOPE_CALL void tex1D(T* to, cudaTextureObject_t o, float x) { *to = tilescope_fetch<T>(TILESCOPE_PC, o, 1, x, 0, 0); }
template <class T> TILESCOPE_CALL void tex2D(T* to, cudaTextureObject_t o, float x, float y) { *to = tilescope_fetch<T>(TILESCOPE_PC, o, 2, x, y, 0); }
template <class T> TILESCOPE_CALL void tex3D(T* to, cudaTextureObject_t o, float x, float y, float z) { *to = tilescope_fetch<T>(TILESCOPE_PC, o, 3, x, y, z); }

enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
// A surface's element; x in bytes. Null outside, where reads give zeros and writes do nothing, as with cudaBoundaryModeZero.
TILESCOPE_HELPER inline char* tilescope_surface_at(void* pc, cudaSurfaceObject_t object, int x, int y, int z, int size, cudaSurfaceBoundaryMode mode) {
  const TilescopeTexture& t = *(const TilescopeTexture*)object;
  int width = (int)t.size[0] * t.texel, height = (int)t.size[1], depth = (int)t.size[2];
  if (mode == cudaBoundaryModeClamp) {
    x = std::min(std::max(x, 0), width - size), y = std::min(std::max(y, 0), height - 1), z = std::min(std::max(z, 0), depth - 1);
  }
  if (x < 0 || y < 0 || z < 0 || x + size > width || y >= height || z >= depth) {
    if (mode == cudaBoundaryModeTrap) tilescope_trap(pc, "Trap");
    return nullptr;
  }
  return t.data + ((size_t)z * t.size[1] + y) * t.pitch + x;
}
#define TILESCOPE_SURFACE(name, parameters, x, y, z)                                                \
  template <class T> TILESCOPE_CALL T name##read(cudaSurfaceObject_t object, TILESCOPE_UNPACK parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    T value{};                                                                                      \
    if (char* at = tilescope_surface_at(TILESCOPE_PC, object, x, y, z, sizeof(T), mode)) tilescope_memcpy(TILESCOPE_PC, (void*)&value, at, sizeof(T)); \
    return value;                                                                                   \
  }                                                                                                 \
  template <class T> TILESCOPE_CALL void name##read(T* to, cudaSurfaceObject_t object, TILESCOPE_UNPACK parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    T value{};                                                                                      \
    if (char* at = tilescope_surface_at(TILESCOPE_PC, object, x, y, z, sizeof(T), mode)) tilescope_memcpy(TILESCOPE_PC, (void*)&value, at, sizeof(T)); \
    *to = value;                                                                                    \
  }                                                                                                 \
  template <class T> TILESCOPE_CALL void name##write(T value, cudaSurfaceObject_t object, TILESCOPE_UNPACK parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    if (char* at = tilescope_surface_at(TILESCOPE_PC, object, x, y, z, sizeof(T), mode)) tilescope_memcpy(TILESCOPE_PC, at, (const void*)&value, sizeof(T)); \
  }
#define TILESCOPE_UNPACK(...) __VA_ARGS__
TILESCOPE_SURFACE(surf1D, (int x), x, 0, 0)
TILESCOPE_SURFACE(surf2D, (int x, int y), x, y, 0)
TILESCOPE_SURFACE(surf3D, (int x, int y, int z), x, y, z)
#undef TILESCOPE_SURFACE
#undef TILESCOPE_UNPACK
