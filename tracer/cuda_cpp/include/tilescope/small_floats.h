// Bits of 16-bit and 8-bit floating-point numbers, rounded to nearest even as IEEE 754 states.
#pragma once
// Round a double to a format of `exponent` and `mantissa` bits; too large values become infinite.
TILESCOPE_HELPER inline unsigned tilescope_round(double value, int exponent, int mantissa) {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, 8);
  int bias = (1 << (exponent - 1)) - 1, power = (int)(bits >> 52 & 0x7ff) - 1023;
  unsigned sign = (unsigned)(bits >> 63) << (exponent + mantissa), infinity = ((1u << exponent) - 1) << mantissa;
  uint64_t fraction = bits & ((1ull << 52) - 1);
  if (power == 1024) return fraction ? infinity | ((1u << mantissa) - 1) : sign | infinity;
  if (power == -1023) return sign;
  int drop = 52 - mantissa;
  if (power < 1 - bias) drop += 1 - bias - power;  // subnormal
  if (drop > 54) return sign;
  uint64_t whole = fraction | 1ull << 52, kept = whole >> drop, rest = whole & ((1ull << drop) - 1), half = 1ull << (drop - 1);
  kept += rest > half || (rest == half && (kept & 1));
  if (power >= 1 - bias) kept += (uint64_t)(power + bias - 1) << mantissa;
  return sign | (unsigned)(kept < infinity ? kept : infinity);
}
TILESCOPE_HELPER inline double tilescope_expand(unsigned bits, int exponent, int mantissa) {
  int bias = (1 << (exponent - 1)) - 1, power = bits >> mantissa & ((1u << exponent) - 1);
  double fraction = bits & ((1u << mantissa) - 1), scale = 1ull << mantissa;
  double size = power == (1 << exponent) - 1 ? (fraction ? __builtin_nan("") : __builtin_inf())
                : power ? __builtin_ldexp(1 + fraction / scale, power - bias) : __builtin_ldexp(fraction / scale, 1 - bias);
  return bits >> (exponent + mantissa) & 1 ? -size : size;
}
// a * b + c, rounded to odd where it is inexact, so that a second rounding gives the nearest number. a * b must be exact.
TILESCOPE_HELPER inline double tilescope_fused(double a, double b, double c) {
  volatile double product = a * b, sum = product + c, part = sum - product, error = (product - (sum - part)) + (c - part);
  double result = sum;
  uint64_t bits;
  __builtin_memcpy(&bits, &result, 8);
  if (error == 0 || error != error || __builtin_isinf(result) || bits & 1) return result;
  bits += (error > 0) == (result > 0) ? 1 : -1;
  __builtin_memcpy(&result, &bits, 8);
  return result;
}

// The names of a type T with its pair T2, for `cuda_fp16.h` and `cuda_bf16.h`. Operands come by value, so that the
// compiler reports their loads; members that read or write `*this` report it themselves.
#define TILESCOPE_SMALL_FLOAT(T, T2, exponent, mantissa)                                             \
  struct alignas(2) T {                                                                              \
    unsigned short bits;                                                                             \
    T() = default;                                                                                   \
    TILESCOPE_COPIES(T)                                                                              \
    TILESCOPE_HELPER T(float v) : bits((unsigned short)tilescope_round(v, exponent, mantissa)) {}    \
    TILESCOPE_HELPER T(double v) : bits((unsigned short)tilescope_round(v, exponent, mantissa)) {}   \
    TILESCOPE_HELPER T(int v) : T((double)v) {}                                                      \
    TILESCOPE_HELPER T(unsigned v) : T((double)v) {}                                                 \
    TILESCOPE_HELPER T(short v) : T((double)v) {}                                                    \
    TILESCOPE_HELPER T(unsigned short v) : T((double)v) {}                                           \
    TILESCOPE_HELPER T(long v) : T((double)v) {}                                                     \
    TILESCOPE_HELPER T(long long v) : T((double)v) {}                                                \
    TILESCOPE_HELPER T(unsigned long v) : T((double)v) {}                                            \
    TILESCOPE_HELPER T(unsigned long long v) : T((double)v) {}                                       \
    TILESCOPE_CALL operator float() const {                                                          \
      tilescope_access(TILESCOPE_PC, this, 2, TILESCOPE_LOAD);                                       \
      return value();                                                                                \
    }                                                                                                \
    TILESCOPE_HELPER float value() const { return (float)tilescope_expand(bits, exponent, mantissa); } \
    TILESCOPE_HELPER static T of_bits(unsigned short bits) {                                         \
      T r;                                                                                           \
      r.bits = bits;                                                                                 \
      return r;                                                                                      \
    }                                                                                                \
    TILESCOPE_SMALL_ASSIGN(T, +) TILESCOPE_SMALL_ASSIGN(T, -) TILESCOPE_SMALL_ASSIGN(T, *) TILESCOPE_SMALL_ASSIGN(T, /) \
    TILESCOPE_CALL T& operator++() { return tilescope_add(TILESCOPE_PC, T(1.0f)); }                  \
    TILESCOPE_CALL T& operator--() { return tilescope_add(TILESCOPE_PC, T(-1.0f)); }                 \
    TILESCOPE_HELPER T& tilescope_add(void* pc, T other) {                                           \
      tilescope_access(pc, this, 2, TILESCOPE_LOAD);                                                 \
      T r(value() + other.value());                                                                  \
      tilescope_access(pc, this, 2, TILESCOPE_STORE);                                                \
      bits = r.bits;                                                                                 \
      return *this;                                                                                  \
    }                                                                                                \
  };                                                                                                 \
  struct alignas(4) T2 {                                                                             \
    T x, y;                                                                                          \
    T2() = default;                                                                                  \
    TILESCOPE_COPIES(T2)                                                                             \
    TILESCOPE_HELPER T2(T a, T b) : x(a), y(b) {}                                                    \
  };                                                                                                 \
  TILESCOPE_FUNCTION T2 make_##T2(T a, T b) { return T2(a, b); }                                     \
  TILESCOPE_SMALL_BINARY(T, T2, +) TILESCOPE_SMALL_BINARY(T, T2, -) TILESCOPE_SMALL_BINARY(T, T2, *) TILESCOPE_SMALL_BINARY(T, T2, /) \
  TILESCOPE_FUNCTION T operator-(T a) { return T::of_bits(a.bits ^ 0x8000); }                        \
  TILESCOPE_FUNCTION T operator+(T a) { return a; }                                                  \
  TILESCOPE_FUNCTION T2 operator-(T2 a) { return T2(-a.x, -a.y); }                                   \
  TILESCOPE_SMALL_COMPARE(T, ==) TILESCOPE_SMALL_COMPARE(T, !=) TILESCOPE_SMALL_COMPARE(T, <) TILESCOPE_SMALL_COMPARE(T, <=) \
  TILESCOPE_SMALL_COMPARE(T, >) TILESCOPE_SMALL_COMPARE(T, >=)                                       \
  TILESCOPE_FUNCTION bool operator==(T2 a, T2 b) { return a.x == b.x && a.y == b.y; }                \
  TILESCOPE_FUNCTION bool operator!=(T2 a, T2 b) { return !(a == b); }                               \
  /* intrinsics */                                                                                   \
  TILESCOPE_SMALL_NAMES(T, T2, add, a + b) TILESCOPE_SMALL_NAMES(T, T2, sub, a - b) TILESCOPE_SMALL_NAMES(T, T2, mul, a * b) \
  TILESCOPE_FUNCTION T __hdiv(T a, T b) { return a / b; }                                            \
  TILESCOPE_FUNCTION T2 __h2div(T2 a, T2 b) { return a / b; }                                        \
  TILESCOPE_FUNCTION T __hadd_sat(T a, T b) { return T(__saturatef((a + b).value())); }              \
  TILESCOPE_FUNCTION T __hmul_sat(T a, T b) { return T(__saturatef((a * b).value())); }              \
  TILESCOPE_FUNCTION T __hfma(T a, T b, T c) { return T(tilescope_fused(a.value(), b.value(), c.value())); } \
  TILESCOPE_FUNCTION T __hfma_sat(T a, T b, T c) { return T(__saturatef(__hfma(a, b, c).value())); } \
  TILESCOPE_FUNCTION T __hfma_relu(T a, T b, T c) { return T(std::fmax(__hfma(a, b, c).value(), 0.0f)); } \
  TILESCOPE_FUNCTION T2 __hfma2(T2 a, T2 b, T2 c) { return T2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); } \
  TILESCOPE_FUNCTION T __hneg(T a) { return -a; }                                                    \
  TILESCOPE_FUNCTION T2 __hneg2(T2 a) { return -a; }                                                 \
  TILESCOPE_FUNCTION T __habs(T a) { return T::of_bits(a.bits & 0x7fff); }                           \
  TILESCOPE_FUNCTION T2 __habs2(T2 a) { return T2(__habs(a.x), __habs(a.y)); }                       \
  TILESCOPE_FUNCTION bool __hisnan(T a) { return std::isnan(a.value()); }                            \
  TILESCOPE_FUNCTION int __hisinf(T a) { return std::isinf(a.value()) ? a.value() > 0 ? 1 : -1 : 0; } \
  TILESCOPE_FUNCTION T __hmax(T a, T b) { return T(std::fmax(a.value(), b.value())); }               \
  TILESCOPE_FUNCTION T __hmin(T a, T b) { return T(std::fmin(a.value(), b.value())); }               \
  TILESCOPE_FUNCTION T2 __hmax2(T2 a, T2 b) { return T2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }       \
  TILESCOPE_FUNCTION T2 __hmin2(T2 a, T2 b) { return T2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }       \
  TILESCOPE_SMALL_TEST(T, T2, eq, ==) TILESCOPE_SMALL_TEST(T, T2, ne, !=) TILESCOPE_SMALL_TEST(T, T2, lt, <) TILESCOPE_SMALL_TEST(T, T2, le, <=) \
  TILESCOPE_SMALL_TEST(T, T2, gt, >) TILESCOPE_SMALL_TEST(T, T2, ge, >=)                             \
  TILESCOPE_SMALL_MATH(T, T2, sqrt, std::sqrt(v)) TILESCOPE_SMALL_MATH(T, T2, rsqrt, 1 / std::sqrt(v)) TILESCOPE_SMALL_MATH(T, T2, rcp, 1 / v) \
  TILESCOPE_SMALL_MATH(T, T2, exp, std::exp(v)) TILESCOPE_SMALL_MATH(T, T2, exp2, std::exp2(v)) TILESCOPE_SMALL_MATH(T, T2, exp10, std::pow(10.0, v)) \
  TILESCOPE_SMALL_MATH(T, T2, log, std::log(v)) TILESCOPE_SMALL_MATH(T, T2, log2, std::log2(v)) TILESCOPE_SMALL_MATH(T, T2, log10, std::log10(v)) \
  TILESCOPE_SMALL_MATH(T, T2, sin, std::sin(v)) TILESCOPE_SMALL_MATH(T, T2, cos, std::cos(v)) TILESCOPE_SMALL_MATH(T, T2, tanh, std::tanh(v)) \
  TILESCOPE_SMALL_MATH(T, T2, floor, std::floor(v)) TILESCOPE_SMALL_MATH(T, T2, ceil, std::ceil(v)) TILESCOPE_SMALL_MATH(T, T2, trunc, std::trunc(v)) \
  TILESCOPE_SMALL_MATH(T, T2, rint, std::nearbyint(v))                                               \
  TILESCOPE_SMALL_ATOMIC(T, T2, atomicAdd, TILESCOPE_ATOMIC) TILESCOPE_SMALL_ATOMIC(T, T2, AtomicAdd, TILESCOPE_REDUCTION)

#define TILESCOPE_SMALL_ASSIGN(T, op)                                                                \
  TILESCOPE_CALL T& operator op##=(T other) {                                                        \
    tilescope_access(TILESCOPE_PC, this, 2, TILESCOPE_LOAD);                                         \
    T r((double)value() op (double)other.value());                                                   \
    tilescope_access(TILESCOPE_PC, this, 2, TILESCOPE_STORE);                                        \
    bits = r.bits;                                                                                   \
    return *this;                                                                                    \
  }
// In double, sums and products of these types are exact or far from the middle of two neighbours.
#define TILESCOPE_SMALL_BINARY(T, T2, op)                                                            \
  TILESCOPE_FUNCTION T operator op(T a, T b) { return T((double)a.value() op (double)b.value()); }   \
  TILESCOPE_FUNCTION T2 operator op(T2 a, T2 b) { return T2(a.x op b.x, a.y op b.y); }               \
  TILESCOPE_CALL inline T2& operator op##=(T2& a, T2 b) {                                            \
    tilescope_access(TILESCOPE_PC, &a, 4, TILESCOPE_LOAD);                                           \
    T2 r = T2(a.x op b.x, a.y op b.y);                                                               \
    tilescope_access(TILESCOPE_PC, &a, 4, TILESCOPE_STORE);                                          \
    a.x.bits = r.x.bits, a.y.bits = r.y.bits;                                                        \
    return a;                                                                                        \
  }                                                                                                  \
  TILESCOPE_SMALL_MIXED(T, op, float, float) TILESCOPE_SMALL_MIXED(T, op, double, double) TILESCOPE_SMALL_MIXED(T, op, int, T)
// With a float the half is converted, as C++ would choose; with an integer the integer is.
#define TILESCOPE_SMALL_MIXED(T, op, U, R)                                                           \
  TILESCOPE_FUNCTION R operator op(T a, U b) { return R((double)a.value() op (double)b); }           \
  TILESCOPE_FUNCTION R operator op(U a, T b) { return R((double)a op (double)b.value()); }
#define TILESCOPE_SMALL_COMPARE(T, op)                                                               \
  TILESCOPE_FUNCTION bool operator op(T a, T b) { return a.value() op b.value(); }                   \
  template <class U, class = std::enable_if_t<std::is_arithmetic<U>::value>> TILESCOPE_FUNCTION bool operator op(T a, U b) { return a.value() op b; } \
  template <class U, class = std::enable_if_t<std::is_arithmetic<U>::value>> TILESCOPE_FUNCTION bool operator op(U a, T b) { return a op b.value(); }
#define TILESCOPE_SMALL_NAMES(T, T2, name, expression)                                               \
  TILESCOPE_FUNCTION T __h##name(T a, T b) { return expression; }                                    \
  TILESCOPE_FUNCTION T __h##name##_rn(T a, T b) { return expression; }                               \
  TILESCOPE_FUNCTION T2 __h##name##2(T2 a, T2 b) { return expression; }                              \
  TILESCOPE_FUNCTION T2 __h##name##2_rn(T2 a, T2 b) { return expression; }
#define TILESCOPE_SMALL_TEST(T, T2, name, op)                                                        \
  TILESCOPE_FUNCTION bool __h##name(T a, T b) { return a op b; }                                     \
  TILESCOPE_FUNCTION T2 __h##name##2(T2 a, T2 b) { return T2(T(a.x op b.x ? 1.0f : 0.0f), T(a.y op b.y ? 1.0f : 0.0f)); } \
  TILESCOPE_FUNCTION bool __hb##name##2(T2 a, T2 b) { return a.x op b.x && a.y op b.y; }
#define TILESCOPE_SMALL_MATH(T, T2, name, expression)                                                \
  TILESCOPE_FUNCTION T h##name(T a) {                                                                \
    double v = a.value();                                                                            \
    return T((double)(expression));                                                                  \
  }                                                                                                  \
  TILESCOPE_FUNCTION T2 h2##name(T2 a) { return T2(h##name(a.x), h##name(a.y)); }
#define TILESCOPE_SMALL_ATOMIC(T, T2, name, operation)                                               \
  TILESCOPE_CALL inline T name(T* address, T value) {                                                \
    tilescope_access(TILESCOPE_PC, address, 2, operation);                                           \
    T old = *address, sum = old + value;                                                             \
    address->bits = sum.bits;                                                                        \
    return old;                                                                                      \
  }                                                                                                  \
  TILESCOPE_CALL inline T2 name(T2* address, T2 value) {                                             \
    tilescope_access(TILESCOPE_PC, address, 4, operation);                                           \
    T2 old = *address, sum = old + value;                                                            \
    address->x.bits = sum.x.bits, address->y.bits = sum.y.bits;                                      \
    return old;                                                                                      \
  }
