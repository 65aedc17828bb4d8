// CUDA's vector types, `dim3` and their constructors (CUDA C++ Programming Guide, "Built-in Vector Types").
#pragma once
#define TILESCOPE_VECTORS(T, N, one, two, four)                                                    \
  struct alignas(one) N##1 { T x; };                                                               \
  struct alignas(two) N##2 { T x, y; };                                                            \
  struct N##3 { T x, y, z; };                                                                      \
  struct alignas(four) N##4 { T x, y, z, w; };                                                     \
  TILESCOPE_HELPER inline N##1 make_##N##1(T x) { return {x}; }                                    \
  TILESCOPE_HELPER inline N##2 make_##N##2(T x, T y) { return {x, y}; }                            \
  TILESCOPE_HELPER inline N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }                    \
  TILESCOPE_HELPER inline N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }
TILESCOPE_VECTORS(signed char, char, 1, 2, 4)
TILESCOPE_VECTORS(unsigned char, uchar, 1, 2, 4)
TILESCOPE_VECTORS(short, short, 2, 4, 8)
TILESCOPE_VECTORS(unsigned short, ushort, 2, 4, 8)
TILESCOPE_VECTORS(int, int, 4, 8, 16)
TILESCOPE_VECTORS(unsigned int, uint, 4, 8, 16)
TILESCOPE_VECTORS(long, long, 8, 16, 16)
TILESCOPE_VECTORS(unsigned long, ulong, 8, 16, 16)
TILESCOPE_VECTORS(long long, longlong, 8, 16, 16)
TILESCOPE_VECTORS(unsigned long long, ulonglong, 8, 16, 16)
TILESCOPE_VECTORS(float, float, 4, 8, 16)
TILESCOPE_VECTORS(double, double, 8, 16, 16)
#undef TILESCOPE_VECTORS
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};
