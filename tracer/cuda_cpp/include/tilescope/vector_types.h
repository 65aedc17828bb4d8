// CUDA's vector types, `dim3` and their constructors (CUDA C++ Programming Guide, "Built-in Vector Types").
#pragma once
// g++ does not report the loads of structures that are operands of calls, nor the stores of their results: copies do.
#if defined(__clang__)
#define TILESCOPE_COPIES(T)
#define TILESCOPE_MEMBERS(N, ...)
#else
#define TILESCOPE_COPIES(T)                                                                        \
  TILESCOPE_CALL T(const T& other) { tilescope_memcpy(TILESCOPE_PC, (void*)this, (const void*)&other, sizeof(T)); } \
  TILESCOPE_CALL T& operator=(const T& other) {                                                    \
    tilescope_memcpy(TILESCOPE_PC, (void*)this, (const void*)&other, sizeof(T));                   \
    return *this;                                                                                  \
  }
#define TILESCOPE_MEMBERS(N, parameters, ...)                                                      \
  N() = default;                                                                                   \
  TILESCOPE_HELPER constexpr N parameters : __VA_ARGS__ {}                                         \
  TILESCOPE_COPIES(N)
#endif
#define TILESCOPE_VECTORS(T, N, one, two, four)                                                    \
  struct alignas(one) N##1 { T x; };                                                               \
  struct alignas(two) N##2 { T x, y; TILESCOPE_MEMBERS(N##2, (T x_, T y_), x(x_), y(y_)) };    \
  struct N##3 { T x, y, z; TILESCOPE_MEMBERS(N##3, (T x_, T y_, T z_ = 0), x(x_), y(y_), z(z_)) }; \
  struct alignas(four) N##4 { T x, y, z, w; TILESCOPE_MEMBERS(N##4, (T x_, T y_, T z_ = 0, T w_ = 0), x(x_), y(y_), z(z_), w(w_)) }; \
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
#undef TILESCOPE_MEMBERS
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};
