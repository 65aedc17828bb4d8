// Arrays, textures and surfaces (CUDA Runtime API, "Texture Object Management"). Fetches are recorded as loads of the
// texture's memory.
#pragma once
#include "small_floats.h"
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone };
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) { return {x, y, z, w, kind}; }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() { return {16, 16, 0, 0, cudaChannelFormatKindFloat}; }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() { return {16, 16, 16, 16, cudaChannelFormatKindFloat}; }
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

// height, depth: 0 where the array has no such dimension. Layers and faces are its depth.
struct cudaArray {
  void* data;
  size_t width, height, depth;
  cudaChannelFormatDesc desc;
  unsigned flags;
  TILESCOPE_HELPER size_t rows() const { return height ? height : 1; }
  TILESCOPE_HELPER size_t slices() const { return depth ? depth : 1; }
  TILESCOPE_HELPER size_t pitch() const { return width * tilescope_texel_size(desc); }
};
typedef cudaArray* cudaArray_t;
typedef const cudaArray* cudaArray_const_t;
enum { cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4, cudaArrayTextureGather = 8 };
// Inlined, so that the runtime finds the program's line as for cudaMalloc.
TILESCOPE_HELPER __attribute__((always_inline)) inline cudaError_t tilescope_new_array(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent size, unsigned flags) {
  int bits[] = {desc->x, desc->y, desc->z, desc->w}, channels = 0;
  while (channels < 4 && bits[channels]) channels++;
  bool is_valid = (channels == 1 || channels == 2 || channels == 4) && (desc->x == 8 || desc->x == 16 || desc->x == 32);
  for (int i = 1; i < channels; i++) is_valid &= bits[i] == desc->x;
  if (!is_valid) return tilescope_result(cudaErrorInvalidChannelDescriptor);
  bool is_cube = flags & cudaArrayCubemap;
  if (!size.width || (is_cube && (size.width != size.height || size.depth % 6 || !size.depth))) return tilescope_result(cudaErrorInvalidValue);
  cudaArray made{nullptr, size.width, size.height, size.depth, *desc, flags};
  if (cudaError_t error = tilescope_allocate_to(&made.data, made.pitch() * made.rows() * made.slices(), 0)) return error;
  *array = new cudaArray(made);
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width, size_t height = 0, unsigned flags = 0) {
  return tilescope_new_array(array, desc, {width, height, 0}, flags);
}
TILESCOPE_HELPER inline cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent size, unsigned flags = 0) {
  return tilescope_new_array(array, desc, size, flags);
}
TILESCOPE_HELPER inline cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* size, unsigned* flags, cudaArray_t array) {
  if (desc) *desc = array->desc;
  if (size) *size = {array->width, array->height, array->depth};
  if (flags) *flags = array->flags;
  return cudaSuccess;
}
inline cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) { *desc = array->desc; return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaFreeArray(cudaArray_t array) {
  if (!array) return cudaSuccess;
  cudaError_t error = cudaFree(array->data);
  delete array;
  return error;
}
// A place in an array; x in bytes.
TILESCOPE_HELPER inline char* tilescope_array_at(cudaArray_const_t array, size_t x, size_t y) { return (char*)array->data + y * array->pitch() + x; }
// Whether an array has a rectangle; x and width in bytes.
TILESCOPE_HELPER inline bool tilescope_has(cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height) {
  return array && x + width <= array->pitch() && y + height <= array->rows();
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  if (!tilescope_has(to, x, y, width, height)) return tilescope_result(cudaErrorInvalidValue);
  return cudaMemcpy2D(tilescope_array_at(to, x, y), to->pitch(), from, pitch, width, height, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  if (!tilescope_has(from, x, y, width, height)) return tilescope_result(cudaErrorInvalidValue);
  return cudaMemcpy2D(to, pitch, tilescope_array_at(from, x, y), from->pitch(), width, height, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind);
}
TILESCOPE_HELPER inline cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind = cudaMemcpyDeviceToDevice) {
  if (!tilescope_has(from, x, y, width, height)) return tilescope_result(cudaErrorInvalidValue);
  return cudaMemcpy2DToArray(to, to_x, to_y, tilescope_array_at(from, x, y), from->pitch(), width, height, kind);
}
// Elements of an array one after the other, over the ends of its rows.
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
    size_t pitch = array ? array->pitch() : pointer.pitch, rows = array ? array->rows() : pointer.ysize;
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
  cudaResourceDesc from;
};
TILESCOPE_HELPER inline cudaError_t tilescope_new_texture(unsigned long long* object, const cudaResourceDesc* from, const cudaTextureDesc* how) {
  const cudaDeviceProp device = tilescope_device();
  TilescopeTexture t{};
  if (from->resType == cudaResourceTypeArray && from->res.array.array) {
    const cudaArray& array = *from->res.array.array;
    t = {(char*)array.data, {array.width, array.rows(), array.slices()}, array.pitch(), array.desc};
  } else if (from->resType == cudaResourceTypeLinear) {
    const auto& linear = from->res.linear;
    t = {(char*)linear.devPtr, {linear.sizeInBytes, 1, 1}, linear.sizeInBytes, linear.desc};
    if (int texel = tilescope_texel_size(t.desc)) t.size[0] /= texel;
  } else if (from->resType == cudaResourceTypePitch2D) {
    const auto& pitched = from->res.pitch2D;
    t = {(char*)pitched.devPtr, {pitched.width, pitched.height, 1}, pitched.pitchInBytes, pitched.desc};
    if (t.pitch % device.texturePitchAlignment) return tilescope_result(cudaErrorInvalidValue);
  } else {
    return tilescope_result(cudaErrorInvalidValue);
  }
  t.from = *from;
  t.texel = tilescope_texel_size(t.desc);
  if (how) t.how = *how;
  if (!t.texel || !tilescope_is_device(t.data) || (uintptr_t)t.data % device.textureAlignment) return tilescope_result(cudaErrorInvalidValue);
  // Numbers of 32 bits become no shares, and only floats can be mixed.
  bool is_share = t.how.readMode == cudaReadModeNormalizedFloat;
  if (is_share && t.desc.x > 16) return tilescope_result(cudaErrorInvalidNormSetting);
  if (t.how.filterMode == cudaFilterModeLinear && t.desc.f != cudaChannelFormatKindFloat && !is_share && from->resType != cudaResourceTypeLinear) {
    return tilescope_result(cudaErrorInvalidFilterSetting);
  }
  *object = (unsigned long long)new TilescopeTexture(t);
  return tilescope_result(cudaSuccess);
}
TILESCOPE_HELPER inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* from, const cudaTextureDesc* how, const cudaResourceViewDesc*) {
  return tilescope_new_texture(object, from, how);
}
TILESCOPE_HELPER inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) { delete (TilescopeTexture*)object; return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* from, cudaTextureObject_t object) { *from = ((TilescopeTexture*)object)->from; return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* how, cudaTextureObject_t object) { *how = ((TilescopeTexture*)object)->how; return cudaSuccess; }
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
// The numbers of a texel; those of integers are shares of their largest value.
TILESCOPE_HELPER inline void tilescope_numbers(const TilescopeTexture& t, const char* texel, float* numbers) {
  int bytes = t.desc.x / 8, count = bytes ? t.texel / bytes : 0;
  for (int i = 0; i < count && i < 4; i++, texel += bytes) {
    if (t.desc.f == cudaChannelFormatKindFloat && bytes == 2) numbers[i] = (float)tilescope_expand(*(const unsigned short*)texel, 5, 10);
    else if (t.desc.f == cudaChannelFormatKindFloat) memcpy(&numbers[i], texel, 4);
    else if (bytes == 1) numbers[i] = t.desc.f == cudaChannelFormatKindUnsigned ? *(const unsigned char*)texel / 255.0f : std::fmax(*(const signed char*)texel / 127.0f, -1.0f);
    else numbers[i] = t.desc.f == cudaChannelFormatKindUnsigned ? *(const unsigned short*)texel / 65535.0f : std::fmax(*(const short*)texel / 32767.0f, -1.0f);
    if (t.how.sRGB && bytes == 1 && i < 3) numbers[i] = std::nearbyint(256 * (numbers[i] <= 0.04045f ? numbers[i] / 12.92f : std::pow((numbers[i] + 0.055f) / 1.055f, 2.4f))) / 256;
  }
}
// A texel as it is in memory and, for `numbers`, as numbers. The border has the low bits of its color, or its color as a share.
TILESCOPE_HELPER inline void tilescope_read_texel(void* pc, const TilescopeTexture& t, long long x, long long y, long long z, void* texel, float* numbers) {
  x = tilescope_texel(t, 0, x), y = tilescope_texel(t, 1, y), z = tilescope_texel(t, 2, z);
  if (x >= 0 && y >= 0 && z >= 0) {
    tilescope_memcpy(pc, texel, t.data + (z * t.size[1] + y) * t.pitch + x * t.texel, t.texel);
    if (numbers) tilescope_numbers(t, (const char*)texel, numbers);
    return;
  }
  int bytes = t.desc.x / 8;
  float low = t.desc.f == cudaChannelFormatKindSigned ? -1 : 0;
  for (int i = 0; i * bytes < t.texel && i < 4; i++) {
    float color = t.how.borderColor[i];
    if (numbers) numbers[i] = t.desc.f == cudaChannelFormatKindFloat ? color : std::fmin(std::fmax(color, low), 1.0f);
    memcpy((char*)texel + i * bytes, &color, bytes);
  }
}
// Fetch with `dimensions` coordinates; `layer` is a layer or face of the array.
template <class T> TILESCOPE_HELPER inline T tilescope_fetch(void* pc, cudaTextureObject_t object, int dimensions, float x, float y, float z, int layer = 0) {
  const TilescopeTexture& t = *(const TilescopeTexture*)object;
  float at[3] = {x, y, z}, numbers[4] = {};
  char texel[16] = {};
  T result{};
  for (int i = 0; i < dimensions && t.how.normalizedCoords; i++) at[i] *= (float)t.size[i];
  long long slice = layer < 0 ? 0 : layer < (long long)t.size[2] ? layer : (long long)t.size[2] - 1;
  bool is_number = t.how.readMode == cudaReadModeNormalizedFloat || t.desc.f == cudaChannelFormatKindFloat;
  if (t.how.filterMode == cudaFilterModePoint) {
    tilescope_read_texel(pc, t, (long long)std::floor(at[0]), dimensions > 1 ? (long long)std::floor(at[1]) : 0, dimensions > 2 ? (long long)std::floor(at[2]) : slice, texel, is_number ? numbers : nullptr);
    if (!is_number) {
      memcpy((void*)&result, texel, sizeof(T) < (size_t)t.texel ? sizeof(T) : (size_t)t.texel);
      return result;
    }
  } else {
    // Weights are multiples of 1/256, also those of corners: an H100 divides them along x, then z, then y, and rounds each
    // time, halves towards the upper part at the upper x. It mixes a line with the border of its second axis, as if the line were a row of an image.
    int axes = dimensions == 1 && t.how.addressMode[1] == cudaAddressModeBorder && t.from.resType == cudaResourceTypeArray ? 2 : dimensions;
    long long first[3] = {0, 0, slice};
    int weight[3] = {}, shares[8] = {256};
    for (int i = 0; i < axes; i++) {
      float place = at[i] - 0.5f;
      first[i] = (long long)std::floor(place);
      weight[i] = (int)std::floor((place - (float)first[i]) * 256 + 0.5f);
    }
    for (int axis : {0, 2, 1}) {
      for (int corner = 0; corner < 8 && axis < axes; corner++) {
        if (corner >> axis & 1) continue;
        int upper = (shares[corner] * weight[axis] + 127 + (corner & 1)) / 256;
        shares[corner | 1 << axis] = upper, shares[corner] -= upper;
      }
    }
    for (int corner = 0; corner < 1 << axes; corner++) {
      float part[4] = {};
      tilescope_read_texel(pc, t, first[0] + (corner & 1), first[1] + (corner >> 1 & 1), first[2] + (corner >> 2 & 1), texel, part);
      for (int i = 0; i < 4; i++) numbers[i] += (float)shares[corner] / 256 * part[i];
    }
    for (float& number : numbers) {
      if (t.desc.f == cudaChannelFormatKindFloat && t.desc.x == 16) number = (float)tilescope_expand(tilescope_round(number, 5, 10), 5, 10);
    }
  }
  memcpy((void*)&result, numbers, sizeof(T) < sizeof numbers ? sizeof(T) : sizeof numbers);
  return result;
}
// Fetch from the face of a cube that a direction meets, the first of its six faces from `layer` on.
template <class T> TILESCOPE_HELPER inline T tilescope_fetch_cube(void* pc, cudaTextureObject_t object, float x, float y, float z, int cube = 0) {
  float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z), m, s, t;
  int face;
  if (ax >= ay && ax >= az) face = x < 0, m = ax, s = x < 0 ? z : -z, t = -y;
  else if (ay >= az) face = 2 + (y < 0), m = ay, s = x, t = y < 0 ? -z : z;
  else face = 4 + (z < 0), m = az, s = z < 0 ? -x : x, t = -y;
  const TilescopeTexture& texture = *(const TilescopeTexture*)object;
  float width = texture.how.normalizedCoords ? 1 : (float)texture.size[0];
  return tilescope_fetch<T>(pc, object, 2, (s / m + 1) / 2 * width, (t / m + 1) / 2 * width, 0, 6 * cube + face);
}
// The component of the four texels that linear filtering would mix, against the clock from the lower left one.
template <class T> TILESCOPE_HELPER inline T tilescope_gather(void* pc, cudaTextureObject_t object, float x, float y, int component) {
  const TilescopeTexture& t = *(const TilescopeTexture*)object;
  if (t.how.normalizedCoords) x *= (float)t.size[0], y *= (float)t.size[1];
  long long left = (long long)std::floor(x - 0.5f), top = (long long)std::floor(y - 0.5f);
  const int corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  bool is_number = t.how.readMode == cudaReadModeNormalizedFloat || t.desc.f == cudaChannelFormatKindFloat;
  T result{};
  for (int i = 0; i < 4; i++) {
    char texel[16] = {};
    float numbers[4] = {};
    tilescope_read_texel(pc, t, left + corners[i][0], top + corners[i][1], 0, texel, is_number ? numbers : nullptr);
    constexpr size_t size = sizeof(result.x);
    if (is_number) memcpy((char*)&result + i * size, &numbers[component & 3], size < 4 ? size : 4);
    else memcpy((char*)&result + i * size, texel + component * t.desc.x / 8, size < (size_t)t.desc.x / 8 ? size : t.desc.x / 8);
  }
  return result;
}
template <class T> TILESCOPE_HELPER inline T tilescope_fetch_linear(void* pc, cudaTextureObject_t object, int x) {
  const TilescopeTexture& t = *(const TilescopeTexture*)object;
  char texel[16] = {};
  float numbers[4] = {};
  T result{};
  if (x >= 0 && (size_t)x < t.size[0]) tilescope_memcpy(pc, texel, t.data + (size_t)x * t.texel, t.texel);
  bool is_number = t.how.readMode == cudaReadModeNormalizedFloat || t.desc.f == cudaChannelFormatKindFloat;
  if (is_number) tilescope_numbers(t, texel, numbers);
  memcpy((void*)&result, is_number ? (const void*)numbers : texel, sizeof(T) < 16 ? sizeof(T) : 16);
  return result;
}
#define TILESCOPE_UNPACK(...) __VA_ARGS__
#define TILESCOPE_TEXTURE(name, parameters, fetch, ...)                                             \
  template <class T> TILESCOPE_CALL T name(cudaTextureObject_t o, TILESCOPE_UNPACK parameters) { return fetch<T>(TILESCOPE_PC, o, __VA_ARGS__); } \
  template <class T> TILESCOPE_CALL void name(T* to, cudaTextureObject_t o, TILESCOPE_UNPACK parameters) { *to = fetch<T>(TILESCOPE_PC, o, __VA_ARGS__); }
TILESCOPE_TEXTURE(tex1Dfetch, (int x), tilescope_fetch_linear, x)
TILESCOPE_TEXTURE(tex1D, (float x), tilescope_fetch, 1, x, 0, 0)
TILESCOPE_TEXTURE(tex2D, (float x, float y), tilescope_fetch, 2, x, y, 0)
TILESCOPE_TEXTURE(tex3D, (float x, float y, float z), tilescope_fetch, 3, x, y, z)
TILESCOPE_TEXTURE(tex1DLayered, (float x, int layer), tilescope_fetch, 1, x, 0, 0, layer)
TILESCOPE_TEXTURE(tex2DLayered, (float x, float y, int layer), tilescope_fetch, 2, x, y, 0, layer)
TILESCOPE_TEXTURE(texCubemap, (float x, float y, float z), tilescope_fetch_cube, x, y, z)
TILESCOPE_TEXTURE(texCubemapLayered, (float x, float y, float z, int layer), tilescope_fetch_cube, x, y, z, layer)
TILESCOPE_TEXTURE(tex2Dgather, (float x, float y, int component = 0), tilescope_gather, x, y, component)
#undef TILESCOPE_TEXTURE

enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
// A surface's element; x in bytes. Null outside, where reads give zeros and writes do nothing, as with cudaBoundaryModeZero.
TILESCOPE_HELPER inline char* tilescope_surface_at(void* pc, cudaSurfaceObject_t object, int x, int y, int z, int size, cudaSurfaceBoundaryMode mode) {
  const TilescopeTexture& t = *(const TilescopeTexture*)object;
  int width = (int)t.size[0] * t.texel, height = (int)t.size[1], depth = (int)t.size[2];
  if (mode == cudaBoundaryModeClamp) {
    x = std::min(std::max(x, 0), width - size) / size * size, y = std::min(std::max(y, 0), height - 1), z = std::min(std::max(z, 0), depth - 1);
  }
  if (x < 0 || y < 0 || z < 0 || x + size > width || y >= height || z >= depth) {
    if (mode == cudaBoundaryModeTrap) tilescope_trap(pc, "SurfaceBounds");
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
TILESCOPE_SURFACE(surf1D, (int x), x, 0, 0)
TILESCOPE_SURFACE(surf2D, (int x, int y), x, y, 0)
TILESCOPE_SURFACE(surf3D, (int x, int y, int z), x, y, z)
TILESCOPE_SURFACE(surf1DLayered, (int x, int layer), x, 0, layer)
TILESCOPE_SURFACE(surf2DLayered, (int x, int y, int layer), x, y, layer)
TILESCOPE_SURFACE(surfCubemap, (int x, int y, int face), x, y, face)
TILESCOPE_SURFACE(surfCubemapLayered, (int x, int y, int face), x, y, face)
#undef TILESCOPE_SURFACE
#undef TILESCOPE_UNPACK
