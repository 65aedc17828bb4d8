// Fetches of textures and accesses of surfaces in every form; each line is a case and its values.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdio>
#include <cstring>
#include <vector>

#define CALL(call)                                                                   \
  do {                                                                               \
    cudaError_t error = (call);                                                      \
    if (error != cudaSuccess) printf("%s: %s\n", #call, cudaGetErrorName(error));    \
  } while (0)

static float* out;
static const int COUNT = 24;

__global__ void sample1(cudaTextureObject_t t, float first, float step, float* to) {
  to[threadIdx.x] = tex1D<float>(t, first + step * threadIdx.x);
}
__global__ void sample2(cudaTextureObject_t t, float first, float step, float y, float* to) {
  to[threadIdx.x] = tex2D<float>(t, first + step * threadIdx.x, y + 0.25f * (threadIdx.x % 5));
}
__global__ void sample3(cudaTextureObject_t t, float first, float step, float* to) {
  float p = first + step * threadIdx.x;
  to[threadIdx.x] = tex3D<float>(t, p, 3 - p, p / 2);
}
__global__ void layered(cudaTextureObject_t t, float* to) {
  to[threadIdx.x] = tex2DLayered<float>(t, 0.3f * threadIdx.x, 1.2f, threadIdx.x % 4);
}
__global__ void layered1(cudaTextureObject_t t, float* to) {
  to[threadIdx.x] = tex1DLayered<float>(t, 0.3f * threadIdx.x, threadIdx.x % 3);
}
__global__ void cube(cudaTextureObject_t t, float* to) {
  const float d[8][3] = {{1, 0.3f, -0.2f}, {-1, 0.3f, 0.6f}, {0.1f, 1, 0.5f}, {0.3f, -1, -0.4f}, {0.2f, 0.7f, 1}, {-0.9f, 0.1f, -1}, {2, 0.1f, 0.1f}, {0.1f, 0.2f, -0.9f}};
  int i = threadIdx.x % 8;
  to[threadIdx.x] = texCubemap<float>(t, d[i][0], d[i][1], d[i][2]);
}

__global__ void gather(cudaTextureObject_t t, float* to) {
  float4 v = tex2Dgather<float4>(t, 1.2f + threadIdx.x % 3, 0.9f + threadIdx.x / 3 % 2, 0);
  to[threadIdx.x] = v.x + 100 * v.y + 10000 * v.z + 1000000 * v.w;
}
template <class T> __global__ void elements(cudaTextureObject_t t, float* to) {
  int i = threadIdx.x;
  T v = tex2D<T>(t, i - 2 + 0.5f, 1.5f);
  to[i] = v.x + 1000 * (float)v.y;
}
__global__ void words(cudaTextureObject_t t, float* to) { to[threadIdx.x] = tex2D<int>(t, (int)threadIdx.x - 2 + 0.5f, 1.5f); }
__global__ void bytes(cudaTextureObject_t t, float* to) { to[threadIdx.x] = tex2D<float4>(t, (int)threadIdx.x - 2 + 0.5f, 0.5f).y; }
__global__ void fetch(cudaTextureObject_t t, float* to) { to[threadIdx.x] = tex1Dfetch<float>(t, (int)threadIdx.x - 3); }
__global__ void fetch4(cudaTextureObject_t t, float* to) { float4 v = tex1Dfetch<float4>(t, (int)threadIdx.x - 3); to[threadIdx.x] = v.x + v.w; }

static void show(const char* name) {
  cudaError_t error = cudaDeviceSynchronize();
  printf("%s", name);
  if (error) printf(" %s", cudaGetErrorName(error));
  else for (int i = 0; i < COUNT; i++) printf(" %.9g", out[i]);
  printf("\n");
}
static cudaTextureObject_t texture(const cudaResourceDesc& from, cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized, cudaTextureReadMode read = cudaReadModeElementType, bool srgb = false) {
  cudaTextureDesc how = {};
  for (auto& m : how.addressMode) m = mode;
  how.filterMode = filter, how.normalizedCoords = normalized, how.readMode = read, how.sRGB = srgb;
  how.borderColor[0] = 7, how.borderColor[1] = 8, how.borderColor[2] = 9, how.borderColor[3] = 10;
  cudaTextureObject_t t = 0;
  cudaError_t error = cudaCreateTextureObject(&t, &from, &how, nullptr);
  if (error) printf("texture %d %d %d %d: %s\n", mode, filter, normalized, read, cudaGetErrorName(error));
  return t;
}
static cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  return r;
}
template <class T> static cudaArray_t image(int width, int height, const T* from, unsigned flags = 0) {
  cudaChannelFormatDesc d = cudaCreateChannelDesc<T>();
  cudaArray_t array;
  CALL(cudaMallocArray(&array, &d, width, height, flags));
  CALL(cudaMemcpy2DToArray(array, 0, 0, from, width * sizeof(T), width * sizeof(T), height ? height : 1, cudaMemcpyHostToDevice));
  return array;
}
static cudaArray_t volume(int w, int h, int d, const float* from, unsigned flags) {
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CALL(cudaMalloc3DArray(&array, &desc, make_cudaExtent(w, h, d), flags));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr((void*)from, w * sizeof(float), w, h ? h : 1);
  p.dstArray = array, p.extent = make_cudaExtent(w, h ? h : 1, d), p.kind = cudaMemcpyHostToDevice;
  CALL(cudaMemcpy3D(&p));
  return array;
}
__global__ void surface2(cudaSurfaceObject_t s, cudaSurfaceObject_t into, float* to) {
  int i = threadIdx.x;
  float a = surf2Dread<float>(s, (i - 2) * 4, 1, cudaBoundaryModeClamp), b;
  surf2Dread(&b, s, (i - 2) * 4, 1, cudaBoundaryModeZero);
  to[i] = a + 100 * b;
  surf2Dwrite(a + 1, into, (i - 2) * 4, 2, cudaBoundaryModeZero);
}
__global__ void surface2clamp(cudaSurfaceObject_t into) { if (threadIdx.x == 0) surf2Dwrite(500.0f, into, -4, 0, cudaBoundaryModeClamp); }
__global__ void surface3(cudaSurfaceObject_t s, float* to) {
  int i = threadIdx.x;
  to[i] = surf3Dread<float>(s, i % 4 * 4, i / 4 % 3, i % 2);
  surf3Dwrite(to[i] * 2, s, i % 4 * 4, i / 4 % 3, i % 2);
}
__global__ void surfaceLayered(cudaSurfaceObject_t s, float* to) {
  int i = threadIdx.x;
  to[i] = surf2DLayeredread<float>(s, i % 4 * 4, i / 4 % 3, i % 3);
  surf2DLayeredwrite(to[i] + 5, s, i % 4 * 4, i / 4 % 3, i % 3);
}
__global__ void surface1(cudaSurfaceObject_t s, float* to) {
  to[threadIdx.x] = surf1Dread<float>(s, threadIdx.x * 4, cudaBoundaryModeZero);
  surf1Dwrite(1.0f, s, threadIdx.x * 4, cudaBoundaryModeZero);
}
__global__ void trap(cudaSurfaceObject_t s, float* to) { to[threadIdx.x] = surf2Dread<float>(s, (int)threadIdx.x * 4, 1); }

int main() {
  CALL(cudaMallocManaged(&out, COUNT * sizeof(float)));
  std::vector<float> numbers(64);
  for (int i = 0; i < 64; i++) numbers[i] = i * i % 37 + 0.125f * i;
  const cudaTextureAddressMode modes[] = {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder};
  const char* names[] = {"wrap", "clamp", "mirror", "border"};
  cudaArray_t line = image(7, 0, numbers.data()), square = image(5, 4, numbers.data());
  cudaArray_t solid = volume(4, 3, 5, numbers.data(), 0);
  char name[99];
  for (int mode = 0; mode < 4; mode++) {
    for (int linear = 0; linear < 2; linear++) {
      for (int normal = 0; normal < 2; normal++) {
        auto filter = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        float scale = normal ? 1 / 7.0f : 1;
        if (cudaTextureObject_t t = texture(of(line), modes[mode], filter, normal)) {
          sample1<<<1, COUNT>>>(t, -3.3f * scale, 0.61f * scale, out);
          snprintf(name, sizeof name, "1D %s %s %s", names[mode], linear ? "linear" : "point", normal ? "normalized" : "plain");
          show(name);
        }
        if (cudaTextureObject_t t = texture(of(square), modes[mode], filter, normal)) {
          scale = normal ? 0.2f : 1;
          sample2<<<1, COUNT>>>(t, -2.9f * scale, 0.437f * scale, normal ? -0.3f : 1.1f, out);
          name[0] = '2';
          show(name);
        }
        if (cudaTextureObject_t t = texture(of(solid), modes[mode], filter, normal)) {
          scale = normal ? 0.25f : 1;
          sample3<<<1, COUNT>>>(t, -1.3f * scale, 0.31f * scale, out);
          name[0] = '3';
          show(name);
        }
      }
    }
  }
  // the weights of linear filtering: steps of 1/1024 of a texel
  float two[2] = {0, 1};
  cudaTextureObject_t slope = texture(of(image(2, 0, two)), cudaAddressModeClamp, cudaFilterModeLinear, false);
  for (int part = 0; part < 3; part++) {
    sample1<<<1, COUNT>>>(slope, 0.5f + part * 0.3f, 1 / 1024.0f, out);
    show("weights");
  }
  sample1<<<1, COUNT>>>(texture(of(image(2, 0, two)), cudaAddressModeWrap, cudaFilterModeLinear, true), 0.3f, 1 / 2048.0f, out);
  show("normalized weights");

  layered<<<1, COUNT>>>(texture(of(volume(4, 3, 3, numbers.data(), cudaArrayLayered)), cudaAddressModeClamp, cudaFilterModeLinear, false), out);
  show("layered");
  layered1<<<1, COUNT>>>(texture(of(volume(6, 0, 3, numbers.data(), cudaArrayLayered)), cudaAddressModeClamp, cudaFilterModePoint, false), out);
  show("layered 1D");
  cube<<<1, COUNT>>>(texture(of(volume(3, 3, 6, numbers.data(), cudaArrayCubemap)), cudaAddressModeClamp, cudaFilterModePoint, true), out);
  show("cube");
  cube<<<1, COUNT>>>(texture(of(volume(3, 3, 6, numbers.data(), cudaArrayCubemap)), cudaAddressModeClamp, cudaFilterModeLinear, true), out);
  show("cube linear");
  float small[20];
  for (int i = 0; i < 20; i++) small[i] = i;
  gather<<<1, COUNT>>>(texture(of(image(5, 4, small, cudaArrayTextureGather)), cudaAddressModeClamp, cudaFilterModePoint, false), out);
  show("gather");

  // other types of elements
  int whole[12];
  for (int i = 0; i < 12; i++) whole[i] = 3 * i - 7;
  cudaArray_t integers = image(4, 3, whole);
  for (int mode : {1, 3}) {
    words<<<1, COUNT>>>(texture(of(integers), modes[mode], cudaFilterModePoint, false), out);
    show("int");
  }
  if (auto t = texture(of(integers), cudaAddressModeClamp, cudaFilterModeLinear, false)) { words<<<1, COUNT>>>(t, out); show("int linear"); }
  texture(of(integers), cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat);
  uchar4 pixels[12];
  for (int i = 0; i < 12; i++) pixels[i] = make_uchar4(i, 255 - 13 * i, 3, 4);
  cudaArray_t colors = image(4, 3, pixels);
  elements<uchar4><<<1, COUNT>>>(texture(of(colors), cudaAddressModeBorder, cudaFilterModePoint, false), out);
  show("uchar4");
  bytes<<<1, COUNT>>>(texture(of(colors), cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat), out);
  show("uchar4 normalized");
  bytes<<<1, COUNT>>>(texture(of(colors), cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat, true), out);
  show("uchar4 sRGB");
  if (auto t = texture(of(colors), cudaAddressModeClamp, cudaFilterModeLinear, false, cudaReadModeElementType)) { bytes<<<1, COUNT>>>(t, out); show("uchar4 linear"); }
  sample2<<<1, COUNT>>>(texture(of(colors), cudaAddressModeBorder, cudaFilterModeLinear, false, cudaReadModeNormalizedFloat), -1.1f, 0.3f, 0.6f, out);
  show("uchar4 mixed");
  char4 marks[12];
  for (int i = 0; i < 12; i++) marks[i] = make_char4(i, -128 + 25 * i, 3, 4);
  bytes<<<1, COUNT>>>(texture(of(image(4, 3, marks)), cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat), out);
  show("char4 normalized");
  short2 pairs[12];
  for (int i = 0; i < 12; i++) pairs[i] = make_short2(-32768 + 6000 * i, i);
  sample2<<<1, COUNT>>>(texture(of(image(4, 3, pairs)), cudaAddressModeClamp, cudaFilterModeLinear, false, cudaReadModeNormalizedFloat), -1.1f, 0.3f, 0.6f, out);
  show("short2 mixed");
  elements<short2><<<1, COUNT>>>(texture(of(image(4, 3, pairs)), cudaAddressModeClamp, cudaFilterModePoint, false), out);
  show("short2");
  float4 wide[12];
  for (int i = 0; i < 12; i++) wide[i] = make_float4(i, 2 * i, 3 * i, 4 * i);
  elements<float4><<<1, COUNT>>>(texture(of(image(4, 3, wide)), cudaAddressModeBorder, cudaFilterModeLinear, false), out);
  show("float4");
  elements<uint2><<<1, COUNT>>>(texture(of(image(4, 3, (uint2*)whole)), cudaAddressModeClamp, cudaFilterModePoint, false), out);
  show("uint2");
  {
    __half halves[12];
    for (int i = 0; i < 12; i++) halves[i] = __float2half(i * 0.3f);
    cudaChannelFormatDesc d = cudaCreateChannelDescHalf();
    printf("half %d %d %d %d %d\n", d.x, d.y, d.z, d.w, d.f);
    cudaArray_t array;
    CALL(cudaMallocArray(&array, &d, 4, 3));
    CALL(cudaMemcpy2DToArray(array, 0, 0, halves, 8, 8, 3, cudaMemcpyHostToDevice));
    sample2<<<1, COUNT>>>(texture(of(array), cudaAddressModeClamp, cudaFilterModeLinear, false), -1.1f, 0.3f, 0.6f, out);
    show("half");
  }
  // linear and pitched memory
  float* memory;
  CALL(cudaMalloc(&memory, 64 * sizeof(float)));
  CALL(cudaMemcpy(memory, numbers.data(), 64 * sizeof(float), cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = memory, r.res.linear.desc = cudaCreateChannelDesc<float>(), r.res.linear.sizeInBytes = 12 * sizeof(float);
  fetch<<<1, COUNT>>>(texture(r, cudaAddressModeClamp, cudaFilterModePoint, false), out);
  show("fetch");
  fetch<<<1, COUNT>>>(texture(r, cudaAddressModeBorder, cudaFilterModeLinear, false), out);
  show("fetch border");
  r.res.linear.desc = cudaCreateChannelDesc<float4>();
  fetch4<<<1, COUNT>>>(texture(r, cudaAddressModeClamp, cudaFilterModePoint, false), out);
  show("fetch4");
  r.res.linear.devPtr = memory + 1;
  texture(r, cudaAddressModeClamp, cudaFilterModePoint, false);
  float* rows;
  size_t pitch;
  CALL(cudaMallocPitch(&rows, &pitch, 5 * sizeof(float), 4));
  printf("pitch %zu\n", pitch);
  CALL(cudaMemcpy2D(rows, pitch, numbers.data(), 20, 20, 4, cudaMemcpyHostToDevice));
  r = {};
  r.resType = cudaResourceTypePitch2D, r.res.pitch2D.devPtr = rows, r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  r.res.pitch2D.width = 5, r.res.pitch2D.height = 4, r.res.pitch2D.pitchInBytes = pitch;
  for (int mode = 0; mode < 4; mode++) {
    sample2<<<1, COUNT>>>(texture(r, modes[mode], cudaFilterModeLinear, true), -0.7f, 0.083f, -0.3f, out);
    show("pitched");
  }
  r.res.pitch2D.pitchInBytes = 20;
  texture(r, cudaAddressModeClamp, cudaFilterModePoint, false);
  // arrays: parts, and copies between them
  cudaArray_t copied = image(5, 4, small);
  CALL(cudaMemcpy2DToArray(copied, 8, 1, numbers.data(), 16, 12, 2, cudaMemcpyHostToDevice));
  float back[20];
  CALL(cudaMemcpy2DFromArray(back, 20, copied, 0, 0, 20, 4, cudaMemcpyDeviceToHost));
  for (float v : back) printf("%g ", v);
  CALL(cudaMemcpy2DArrayToArray(copied, 0, 0, square, 4, 1, 16, 2, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpy2DFromArray(back, 20, copied, 0, 0, 20, 4, cudaMemcpyDeviceToHost));
  for (float v : back) printf("%g ", v);
  printf("\n");
  CALL(cudaMemcpy2DToArray(copied, 8, 1, numbers.data(), 16, 16, 2, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2DToArray(copied, 0, 3, numbers.data(), 16, 16, 2, cudaMemcpyHostToDevice));
  cudaChannelFormatDesc d;
  cudaExtent e;
  unsigned flags;
  CALL(cudaArrayGetInfo(&d, &e, &flags, copied));
  printf("%d %d %d %d %d, %zu %zu %zu, %u\n", d.x, d.y, d.z, d.w, d.f, e.width, e.height, e.depth, flags);
  CALL(cudaGetChannelDesc(&d, colors));
  printf("%d %d %d %d %d\n", d.x, d.y, d.z, d.w, d.f);
  cudaChannelFormatDesc odd = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
  cudaArray_t none;
  CALL(cudaMallocArray(&none, &odd, 4, 4));
  odd = cudaCreateChannelDesc<float>();
  CALL(cudaMallocArray(&none, &odd, 0, 4));

  // surfaces
  cudaSurfaceObject_t s = 0, into = 0;
  cudaResourceDesc plain = of(square);
  CALL(cudaCreateSurfaceObject(&s, &plain));
  cudaArray_t board = image(5, 4, numbers.data(), cudaArraySurfaceLoadStore), target = image(5, 4, small, cudaArraySurfaceLoadStore);
  cudaResourceDesc b = of(board), t = of(target);
  CALL(cudaCreateSurfaceObject(&s, &b));
  CALL(cudaCreateSurfaceObject(&into, &t));
  surface2<<<1, COUNT>>>(s, into, out);
  show("surface");
  surface2clamp<<<1, 32>>>(into);
  CALL(cudaMemcpy2DFromArray(back, 20, target, 0, 0, 20, 4, cudaMemcpyDeviceToHost));
  for (float v : back) printf("%g ", v);
  printf("\n");
  cudaResourceDesc v = of(volume(4, 3, 2, numbers.data(), cudaArraySurfaceLoadStore));
  cudaSurfaceObject_t s3 = 0, sl = 0, s1 = 0;
  CALL(cudaCreateSurfaceObject(&s3, &v));
  surface3<<<1, COUNT>>>(s3, out), surface3<<<1, COUNT>>>(s3, out);
  show("surface 3D");
  v = of(volume(4, 3, 3, numbers.data(), cudaArraySurfaceLoadStore | cudaArrayLayered));
  CALL(cudaCreateSurfaceObject(&sl, &v));
  surfaceLayered<<<1, 12>>>(sl, out), surfaceLayered<<<1, 12>>>(sl, out);
  show("surface layered");
  v = of(image(7, 0, numbers.data(), cudaArraySurfaceLoadStore));
  CALL(cudaCreateSurfaceObject(&s1, &v));
  surface1<<<1, COUNT>>>(s1, out), surface1<<<1, COUNT>>>(s1, out);
  show("surface 1D");
  for (cudaArray_t a : {line, square, solid}) CALL(cudaFreeArray(a));
  trap<<<1, 8>>>(s, out);
  show("trap");
}
