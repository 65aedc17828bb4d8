// What kernels call: indices, barriers, warp operations, atomics, bit and math functions.
#pragma once

// Compilers do not instrument loads of constants; the runtime writes them before each turn of a thread.
#define TILESCOPE_INDEX(type, name)                                                                 \
  struct type {                                                                                     \
    static const unsigned x __asm__("tilescope_" #name "_x");                                       \
    static const unsigned y __asm__("tilescope_" #name "_y");                                       \
    static const unsigned z __asm__("tilescope_" #name "_z");                                       \
    TILESCOPE_HELPER operator uint3() const { return uint3{x, y, z}; }                              \
    TILESCOPE_HELPER operator dim3() const { return dim3(x, y, z); }                                \
  };                                                                                                \
  static type name __attribute__((unused));
TILESCOPE_INDEX(TilescopeThreadIdx, threadIdx)
TILESCOPE_INDEX(TilescopeBlockIdx, blockIdx)
TILESCOPE_INDEX(TilescopeBlockDim, blockDim)
TILESCOPE_INDEX(TilescopeGridDim, gridDim)
#undef TILESCOPE_INDEX
static const int warpSize = 32;

// --- barriers and fences
TILESCOPE_CALL inline void __syncthreads() { tilescope_barrier(TILESCOPE_PC, TILESCOPE_SYNC, 0); }
TILESCOPE_CALL inline int __syncthreads_count(int p) { return tilescope_barrier(TILESCOPE_PC, TILESCOPE_COUNT, p); }
TILESCOPE_CALL inline int __syncthreads_and(int p) { return tilescope_barrier(TILESCOPE_PC, TILESCOPE_AND, p); }
TILESCOPE_CALL inline int __syncthreads_or(int p) { return tilescope_barrier(TILESCOPE_PC, TILESCOPE_OR, p); }
TILESCOPE_CALL inline void __syncwarp(unsigned mask = 0xffffffffu) { tilescope_syncwarp(TILESCOPE_PC, mask); }
TILESCOPE_CALL inline void __threadfence() { tilescope_fence(TILESCOPE_PC, 0); }
TILESCOPE_CALL inline void __threadfence_system() { tilescope_fence(TILESCOPE_PC, 0); }
TILESCOPE_CALL inline void __threadfence_block() { tilescope_fence(TILESCOPE_PC, 1); }
TILESCOPE_CALL inline void __trap() { tilescope_trap(TILESCOPE_PC, "Trap"); }
inline void __nanosleep(unsigned) {}
inline void __brkpt() {}
inline void __prof_trigger(int) {}

// --- warp operations
template <class T> TILESCOPE_HELPER inline uint64_t tilescope_bits(T value) {
  static_assert(sizeof(T) <= 8, "a warp operation takes values of up to 8 bytes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T> TILESCOPE_HELPER inline T tilescope_value(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T> TILESCOPE_CALL T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  int lane = tilescope_lane();
  return tilescope_value<T>(tilescope_shuffle(TILESCOPE_PC, mask, tilescope_bits(value), (lane & ~(width - 1)) | (source & (width - 1))));
}
template <class T> TILESCOPE_CALL T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  int lane = tilescope_lane(), source = lane - (int)delta;
  if (source < (lane & ~(width - 1))) source = lane;
  return tilescope_value<T>(tilescope_shuffle(TILESCOPE_PC, mask, tilescope_bits(value), source));
}
template <class T> TILESCOPE_CALL T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  int lane = tilescope_lane(), source = lane + (int)delta;
  if (source > (lane | (width - 1))) source = lane;
  return tilescope_value<T>(tilescope_shuffle(TILESCOPE_PC, mask, tilescope_bits(value), source));
}
template <class T> TILESCOPE_CALL T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
  int lane = tilescope_lane(), source = lane ^ lanes;
  if (source > (lane | (width - 1))) source = lane;
  return tilescope_value<T>(tilescope_shuffle(TILESCOPE_PC, mask, tilescope_bits(value), source));
}
TILESCOPE_CALL inline unsigned __ballot_sync(unsigned mask, int p) {
  unsigned present;
  return tilescope_vote(TILESCOPE_PC, mask, p, &present);
}
TILESCOPE_CALL inline int __any_sync(unsigned mask, int p) {
  unsigned present;
  return tilescope_vote(TILESCOPE_PC, mask, p, &present) != 0;
}
TILESCOPE_CALL inline int __all_sync(unsigned mask, int p) {
  unsigned present, lanes = tilescope_vote(TILESCOPE_PC, mask, p, &present);
  return lanes == present;
}
template <class T> TILESCOPE_CALL unsigned __match_any_sync(unsigned mask, T value) {
  unsigned present;
  return tilescope_match(TILESCOPE_PC, mask, tilescope_bits(value), &present);
}
template <class T> TILESCOPE_CALL unsigned __match_all_sync(unsigned mask, T value, int* same) {
  unsigned present, lanes = tilescope_match(TILESCOPE_PC, mask, tilescope_bits(value), &present);
  *same = lanes == present;
  return *same ? mask : 0;
}
inline unsigned __activemask() { return tilescope_active(); }
#define TILESCOPE_REDUCE(name, T, expression)                                                       \
  TILESCOPE_CALL inline T name(unsigned mask, T value) {                                            \
    return tilescope_value<T>(tilescope_combine(TILESCOPE_PC, mask, tilescope_bits(value), [](uint64_t l, uint64_t r) TILESCOPE_HELPER { \
      T a = tilescope_value<T>(l), b = tilescope_value<T>(r);                                       \
      return tilescope_bits<T>(expression);                                                         \
    }));                                                                                            \
  }
TILESCOPE_REDUCE(__reduce_add_sync, unsigned, a + b) TILESCOPE_REDUCE(__reduce_add_sync, int, a + b)
TILESCOPE_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b) TILESCOPE_REDUCE(__reduce_min_sync, int, a < b ? a : b)
TILESCOPE_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b) TILESCOPE_REDUCE(__reduce_max_sync, int, a > b ? a : b)
TILESCOPE_REDUCE(__reduce_and_sync, unsigned, a & b) TILESCOPE_REDUCE(__reduce_or_sync, unsigned, a | b)
TILESCOPE_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef TILESCOPE_REDUCE

// --- atomics. The names with a capital letter are calls whose result is not used (see `rewrite.py`).
template <class T> struct TilescopeSame { typedef T type; };
#define TILESCOPE_ATOMIC_AS(name, operation, expression)                                            \
  template <class T> TILESCOPE_CALL T name(T* address, typename TilescopeSame<T>::type value) {     \
    tilescope_access(TILESCOPE_PC, address, sizeof(T), operation);                                  \
    T old = *address;                                                                               \
    *address = (expression);                                                                        \
    return old;                                                                                     \
  }
#define TILESCOPE_ATOMIC_FORMS(small, capital, expression)                                          \
  TILESCOPE_ATOMIC_AS(small, TILESCOPE_ATOMIC, expression)                                          \
  TILESCOPE_ATOMIC_AS(capital, TILESCOPE_REDUCTION, expression)                                     \
  TILESCOPE_ATOMIC_AS(small##_block, TILESCOPE_ATOMIC, expression)                                  \
  TILESCOPE_ATOMIC_AS(capital##_block, TILESCOPE_REDUCTION, expression)                             \
  TILESCOPE_ATOMIC_AS(small##_system, TILESCOPE_ATOMIC, expression)                                 \
  TILESCOPE_ATOMIC_AS(capital##_system, TILESCOPE_REDUCTION, expression)
TILESCOPE_ATOMIC_FORMS(atomicAdd, AtomicAdd, old + value)
TILESCOPE_ATOMIC_FORMS(atomicSub, AtomicSub, old - value)
TILESCOPE_ATOMIC_FORMS(atomicMax, AtomicMax, old > value ? old : value)
TILESCOPE_ATOMIC_FORMS(atomicMin, AtomicMin, old < value ? old : value)
TILESCOPE_ATOMIC_FORMS(atomicAnd, AtomicAnd, old & value)
TILESCOPE_ATOMIC_FORMS(atomicOr, AtomicOr, old | value)
TILESCOPE_ATOMIC_FORMS(atomicXor, AtomicXor, old ^ value)
TILESCOPE_ATOMIC_FORMS(atomicInc, AtomicInc, old >= value ? 0 : old + 1)
TILESCOPE_ATOMIC_FORMS(atomicDec, AtomicDec, old == 0 || old > value ? value : old - 1)
TILESCOPE_ATOMIC_AS(atomicExch, TILESCOPE_ATOMIC, value)
TILESCOPE_ATOMIC_AS(atomicExch_block, TILESCOPE_ATOMIC, value)
TILESCOPE_ATOMIC_AS(atomicExch_system, TILESCOPE_ATOMIC, value)
#undef TILESCOPE_ATOMIC_FORMS
#undef TILESCOPE_ATOMIC_AS
#define TILESCOPE_CAS(name)                                                                         \
  template <class T>                                                                                \
  TILESCOPE_CALL T name(T* address, typename TilescopeSame<T>::type compare, typename TilescopeSame<T>::type value) { \
    tilescope_access(TILESCOPE_PC, address, sizeof(T), TILESCOPE_ATOMIC);                           \
    T old = *address;                                                                               \
    if (!__builtin_memcmp(&old, &compare, sizeof(T))) *address = value;                             \
    return old;                                                                                     \
  }
TILESCOPE_CAS(atomicCAS) TILESCOPE_CAS(atomicCAS_block) TILESCOPE_CAS(atomicCAS_system)
#undef TILESCOPE_CAS

// --- loads and stores with cache hints
#define TILESCOPE_HINTED_LOAD(name)                                                                 \
  template <class T> TILESCOPE_CALL T name(const T* address) {                                      \
    tilescope_access(TILESCOPE_PC, address, sizeof(T), TILESCOPE_LOAD);                             \
    return *address;                                                                                \
  }
TILESCOPE_HINTED_LOAD(__ldg) TILESCOPE_HINTED_LOAD(__ldcg) TILESCOPE_HINTED_LOAD(__ldca) TILESCOPE_HINTED_LOAD(__ldcs)
TILESCOPE_HINTED_LOAD(__ldlu) TILESCOPE_HINTED_LOAD(__ldcv)
#undef TILESCOPE_HINTED_LOAD
#define TILESCOPE_HINTED_STORE(name)                                                                \
  template <class T> TILESCOPE_CALL void name(T* address, typename TilescopeSame<T>::type value) {  \
    tilescope_access(TILESCOPE_PC, address, sizeof(T), TILESCOPE_STORE);                            \
    *address = value;                                                                               \
  }
TILESCOPE_HINTED_STORE(__stwb) TILESCOPE_HINTED_STORE(__stcg) TILESCOPE_HINTED_STORE(__stcs) TILESCOPE_HINTED_STORE(__stwt)
#undef TILESCOPE_HINTED_STORE

// --- integers and bits
#define TILESCOPE_FUNCTION TILESCOPE_HELPER inline
TILESCOPE_FUNCTION int __popc(unsigned x) { return __builtin_popcount(x); }
TILESCOPE_FUNCTION int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
TILESCOPE_FUNCTION int __ffs(int x) { return __builtin_ffs(x); }
TILESCOPE_FUNCTION int __ffsll(long long x) { return __builtin_ffsll(x); }
TILESCOPE_FUNCTION int __clz(int x) { return x ? __builtin_clz(x) : 32; }
TILESCOPE_FUNCTION int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
TILESCOPE_FUNCTION unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r = r << 1 | (x >> i & 1);
  return r;
}
TILESCOPE_FUNCTION unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
TILESCOPE_FUNCTION int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
TILESCOPE_FUNCTION unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
TILESCOPE_FUNCTION int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
TILESCOPE_FUNCTION unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
TILESCOPE_FUNCTION long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
TILESCOPE_FUNCTION unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
TILESCOPE_FUNCTION unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
TILESCOPE_FUNCTION unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
TILESCOPE_FUNCTION unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
TILESCOPE_FUNCTION unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
TILESCOPE_FUNCTION unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; i++) {
    unsigned byte = (unsigned)(both >> (selector >> 4 * i & 7) * 8) & 0xff;
    if (selector >> (4 * i + 3) & 1) byte = byte & 0x80 ? 0xff : 0;
    r |= byte << 8 * i;
  }
  return r;
}
TILESCOPE_FUNCTION unsigned __sad(int a, int b, unsigned c) { return c + (unsigned)(a > b ? a - b : b - a); }
TILESCOPE_FUNCTION unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
TILESCOPE_FUNCTION int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
TILESCOPE_FUNCTION unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
TILESCOPE_FUNCTION unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
TILESCOPE_FUNCTION int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
TILESCOPE_FUNCTION int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; i++) c += (int)(signed char)(a >> 8 * i) * (int)(signed char)(b >> 8 * i);
  return c;
}

// --- conversions
TILESCOPE_FUNCTION int __float_as_int(float x) { return tilescope_value<int>(tilescope_bits(x)); }
TILESCOPE_FUNCTION unsigned __float_as_uint(float x) { return tilescope_value<unsigned>(tilescope_bits(x)); }
TILESCOPE_FUNCTION float __int_as_float(int x) { return tilescope_value<float>(tilescope_bits(x)); }
TILESCOPE_FUNCTION float __uint_as_float(unsigned x) { return tilescope_value<float>(tilescope_bits(x)); }
TILESCOPE_FUNCTION long long __double_as_longlong(double x) { return tilescope_value<long long>(tilescope_bits(x)); }
TILESCOPE_FUNCTION double __longlong_as_double(long long x) { return tilescope_value<double>(tilescope_bits(x)); }
TILESCOPE_FUNCTION int __double2hiint(double x) { return (int)(tilescope_bits(x) >> 32); }
TILESCOPE_FUNCTION int __double2loint(double x) { return (int)tilescope_bits(x); }
TILESCOPE_FUNCTION double __hiloint2double(int high, int low) {
  return tilescope_value<double>((uint64_t)(unsigned)high << 32 | (unsigned)low);
}
#define TILESCOPE_TO_INT(suffix, round)                                                             \
  TILESCOPE_FUNCTION int __float2int_##suffix(float x) { return (int)round(x); }                    \
  TILESCOPE_FUNCTION unsigned __float2uint_##suffix(float x) { return (unsigned)round(x); }         \
  TILESCOPE_FUNCTION long long __float2ll_##suffix(float x) { return (long long)round(x); }         \
  TILESCOPE_FUNCTION unsigned long long __float2ull_##suffix(float x) { return (unsigned long long)round(x); } \
  TILESCOPE_FUNCTION int __double2int_##suffix(double x) { return (int)round(x); }                  \
  TILESCOPE_FUNCTION unsigned __double2uint_##suffix(double x) { return (unsigned)round(x); }       \
  TILESCOPE_FUNCTION long long __double2ll_##suffix(double x) { return (long long)round(x); }
TILESCOPE_TO_INT(rn, std::nearbyint) TILESCOPE_TO_INT(rz, std::trunc) TILESCOPE_TO_INT(ru, std::ceil) TILESCOPE_TO_INT(rd, std::floor)
#undef TILESCOPE_TO_INT
TILESCOPE_FUNCTION float __int2float_rn(int x) { return (float)x; }
TILESCOPE_FUNCTION float __uint2float_rn(unsigned x) { return (float)x; }
TILESCOPE_FUNCTION float __ll2float_rn(long long x) { return (float)x; }
TILESCOPE_FUNCTION double __int2double_rn(int x) { return x; }
TILESCOPE_FUNCTION double __uint2double_rn(unsigned x) { return x; }
TILESCOPE_FUNCTION double __ll2double_rn(long long x) { return (double)x; }
TILESCOPE_FUNCTION float __double2float_rn(double x) { return (float)x; }

// --- arithmetic and math functions that the C library does not have
#define TILESCOPE_ARITHMETIC(prefix, T)                                                             \
  TILESCOPE_FUNCTION T __##prefix##add_rn(T a, T b) { volatile T r = a + b; return r; }             \
  TILESCOPE_FUNCTION T __##prefix##sub_rn(T a, T b) { volatile T r = a - b; return r; }             \
  TILESCOPE_FUNCTION T __##prefix##mul_rn(T a, T b) { volatile T r = a * b; return r; }             \
  TILESCOPE_FUNCTION T __##prefix##div_rn(T a, T b) { return a / b; }                               \
  TILESCOPE_FUNCTION T __##prefix##rcp_rn(T a) { return 1 / a; }                                    \
  TILESCOPE_FUNCTION T __##prefix##sqrt_rn(T a) { return std::sqrt(a); }
TILESCOPE_ARITHMETIC(f, float) TILESCOPE_ARITHMETIC(d, double)
#undef TILESCOPE_ARITHMETIC
TILESCOPE_FUNCTION float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
TILESCOPE_FUNCTION double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
TILESCOPE_FUNCTION float __fdividef(float a, float b) { return a / b; }
TILESCOPE_FUNCTION float fdividef(float a, float b) { return a / b; }
TILESCOPE_FUNCTION float __expf(float x) { return std::exp(x); }
TILESCOPE_FUNCTION float __exp10f(float x) { return std::pow(10.0f, x); }
TILESCOPE_FUNCTION float __logf(float x) { return std::log(x); }
TILESCOPE_FUNCTION float __log2f(float x) { return std::log2(x); }
TILESCOPE_FUNCTION float __log10f(float x) { return std::log10(x); }
TILESCOPE_FUNCTION float __sinf(float x) { return std::sin(x); }
TILESCOPE_FUNCTION float __cosf(float x) { return std::cos(x); }
TILESCOPE_FUNCTION float __tanf(float x) { return std::tan(x); }
TILESCOPE_FUNCTION float __powf(float x, float y) { return std::pow(x, y); }
TILESCOPE_FUNCTION float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
TILESCOPE_FUNCTION float __frsqrt_rn(float x) { return 1 / std::sqrt(x); }
TILESCOPE_FUNCTION float rsqrtf(float x) { return 1 / std::sqrt(x); }
TILESCOPE_FUNCTION double rsqrt(double x) { return 1 / std::sqrt(x); }
TILESCOPE_FUNCTION float rsqrt(float x) { return 1 / std::sqrt(x); }
TILESCOPE_FUNCTION float rcbrtf(float x) { return 1 / std::cbrt(x); }
TILESCOPE_FUNCTION double rcbrt(double x) { return 1 / std::cbrt(x); }
TILESCOPE_FUNCTION float sinpif(float x) { return (float)std::sin(x * 3.14159265358979323846); }
TILESCOPE_FUNCTION float cospif(float x) { return (float)std::cos(x * 3.14159265358979323846); }
TILESCOPE_FUNCTION double sinpi(double x) { return std::sin(x * 3.14159265358979323846); }
TILESCOPE_FUNCTION double cospi(double x) { return std::cos(x * 3.14159265358979323846); }
TILESCOPE_FUNCTION void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
TILESCOPE_FUNCTION void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
TILESCOPE_FUNCTION void __sincosf(float x, float* s, float* c) { *s = std::sin(x), *c = std::cos(x); }
TILESCOPE_FUNCTION float norm3df(float a, float b, float c) { return std::sqrt(a * a + b * b + c * c); }
TILESCOPE_FUNCTION double norm3d(double a, double b, double c) { return std::sqrt(a * a + b * b + c * c); }
TILESCOPE_FUNCTION float rnorm3df(float a, float b, float c) { return 1 / std::sqrt(a * a + b * b + c * c); }
TILESCOPE_FUNCTION float rhypotf(float a, float b) { return 1 / std::hypot(a, b); }
TILESCOPE_FUNCTION float normcdff(float x) { return 0.5f * std::erfc(-x * 0.70710678f); }
TILESCOPE_FUNCTION double normcdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }
// The inverse of the distribution function: Newton steps from a point on the right side of the root.
TILESCOPE_FUNCTION double normcdfinv(double p) {
  if (p <= 0 || p >= 1) return p == 0 ? -HUGE_VAL : p == 1 ? HUGE_VAL : std::nan("");
  double low = -40, high = 40, x = 0;
  for (int i = 0; i < 80; i++) {
    (normcdf(x) < p ? low : high) = x;
    double next = x - (normcdf(x) - p) * 2.50662827463100050242 * std::exp(x * x / 2);
    x = next > low && next < high ? next : (low + high) / 2;
  }
  return x;
}
TILESCOPE_FUNCTION float normcdfinvf(float p) { return (float)normcdfinv(p); }
TILESCOPE_FUNCTION double erfinv(double y) { return normcdfinv((y + 1) / 2) * 0.70710678118654752440; }
TILESCOPE_FUNCTION float erfinvf(float y) { return (float)erfinv(y); }
TILESCOPE_FUNCTION double erfcinv(double y) { return -normcdfinv(y / 2) * 0.70710678118654752440; }
TILESCOPE_FUNCTION float erfcinvf(float y) { return (float)erfcinv(y); }
TILESCOPE_FUNCTION float rnormf(int n, const float* p) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (double)p[i] * p[i];
  return (float)(1 / std::sqrt(sum));
}
TILESCOPE_FUNCTION float normf(int n, const float* p) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (double)p[i] * p[i];
  return (float)std::sqrt(sum);
}
TILESCOPE_FUNCTION float norm4df(float a, float b, float c, float d) { return std::sqrt(a * a + b * b + c * c + d * d); }
TILESCOPE_FUNCTION float erfcxf(float x) { return (float)(std::exp((double)x * x) * std::erfc((double)x)); }

// CUDA has `min` and `max` of all pairs of number types; the standard library only of equal ones.
using std::abs;
using std::max;
using std::min;
#define TILESCOPE_PAIR(A, B)                                                                        \
  TILESCOPE_FUNCTION std::common_type_t<A, B> min(A a, B b) {                                       \
    std::common_type_t<A, B> x = a, y = b;                                                          \
    return x < y ? x : y;                                                                           \
  }                                                                                                 \
  TILESCOPE_FUNCTION std::common_type_t<A, B> max(A a, B b) {                                       \
    std::common_type_t<A, B> x = a, y = b;                                                          \
    return x > y ? x : y;                                                                           \
  }
#define TILESCOPE_PAIRS(A, B) TILESCOPE_PAIR(A, B) TILESCOPE_PAIR(B, A)
TILESCOPE_PAIRS(int, unsigned) TILESCOPE_PAIRS(int, long) TILESCOPE_PAIRS(int, unsigned long) TILESCOPE_PAIRS(int, long long)
TILESCOPE_PAIRS(int, unsigned long long) TILESCOPE_PAIRS(unsigned, long) TILESCOPE_PAIRS(unsigned, unsigned long)
TILESCOPE_PAIRS(unsigned, long long) TILESCOPE_PAIRS(unsigned, unsigned long long) TILESCOPE_PAIRS(long, unsigned long)
TILESCOPE_PAIRS(long, long long) TILESCOPE_PAIRS(float, double) TILESCOPE_PAIRS(int, float) TILESCOPE_PAIRS(int, double)
TILESCOPE_PAIRS(unsigned, float) TILESCOPE_PAIRS(long long, unsigned long long) TILESCOPE_PAIRS(unsigned long, unsigned long long)
TILESCOPE_PAIRS(unsigned long, long long) TILESCOPE_PAIRS(unsigned long long, long)
#undef TILESCOPE_PAIRS
#undef TILESCOPE_PAIR
TILESCOPE_FUNCTION unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
TILESCOPE_FUNCTION unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
TILESCOPE_FUNCTION long long llmin(long long a, long long b) { return a < b ? a : b; }
TILESCOPE_FUNCTION long long llmax(long long a, long long b) { return a > b ? a : b; }

// --- clocks: they count accesses of memory, as this machine's time says nothing about a GPU's
TILESCOPE_FUNCTION long long clock64() { return tilescope_clock(); }
TILESCOPE_FUNCTION clock_t tilescope_device_clock() { return (clock_t)tilescope_clock(); }
// Special registers that inline PTX reads (`rewrite.py`). Which multiprocessor runs a block is not known: all are numbered 0.
TILESCOPE_FUNCTION unsigned tilescope_register_laneid() { return tilescope_lane(); }
TILESCOPE_FUNCTION unsigned tilescope_register_warpid() { return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / 32; }
TILESCOPE_FUNCTION unsigned tilescope_register_dynamic_smem_size() { return tilescope_dynamic_size(); }
TILESCOPE_FUNCTION unsigned tilescope_register_nwarpid() { return (blockDim.x * blockDim.y * blockDim.z + 31) / 32; }
TILESCOPE_FUNCTION unsigned tilescope_register_smid() { return 0; }
TILESCOPE_FUNCTION unsigned tilescope_register_nsmid() { return 132; }
TILESCOPE_FUNCTION unsigned tilescope_register_clock() { return (unsigned)tilescope_clock(); }
TILESCOPE_FUNCTION unsigned tilescope_register_clock_hi() { return (unsigned)(tilescope_clock() >> 32); }
TILESCOPE_FUNCTION unsigned long long tilescope_register_clock64() { return (unsigned long long)tilescope_clock(); }
TILESCOPE_FUNCTION unsigned long long tilescope_register_globaltimer() { return (unsigned long long)tilescope_clock(); }
TILESCOPE_FUNCTION unsigned tilescope_register_lanemask_eq() { return 1u << tilescope_lane(); }
TILESCOPE_FUNCTION unsigned tilescope_register_lanemask_lt() { return (1u << tilescope_lane()) - 1; }
TILESCOPE_FUNCTION unsigned tilescope_register_lanemask_le() { return (2u << tilescope_lane()) - 1; }
TILESCOPE_FUNCTION unsigned tilescope_register_lanemask_gt() { return ~tilescope_register_lanemask_le(); }
TILESCOPE_FUNCTION unsigned tilescope_register_lanemask_ge() { return ~tilescope_register_lanemask_lt(); }
TILESCOPE_FUNCTION unsigned long long __globaltimer() { return (unsigned long long)tilescope_clock(); }

// Operations of inline PTX that are no operators of C++ (`inline_ptx.py`).
template <class T> TILESCOPE_FUNCTION T tilescope_ptx_shl(T a, unsigned n) { return n < 8 * sizeof(T) ? (T)(a << n) : T(0); }
template <class T> TILESCOPE_FUNCTION T tilescope_ptx_shr(T a, unsigned n) { return n < 8 * sizeof(T) ? (T)(a >> n) : (T)(a < T(0) ? -1 : 0); }
template <class T> TILESCOPE_FUNCTION T tilescope_ptx_high(T a, T b) {
  using Wide = std::conditional_t<std::is_signed<T>::value, __int128, unsigned __int128>;
  return (T)((Wide)a * (Wide)b >> 8 * sizeof(T));
}
template <class T> TILESCOPE_FUNCTION T tilescope_ptx_extract(T a, unsigned position, unsigned length) {
  constexpr unsigned bits = 8 * sizeof(T);
  T result = 0;
  position &= 255, length &= 255;
  if (!length) return 0;
  unsigned top = position + length - 1 < bits ? position + length - 1 : bits - 1;
  bool sign = std::is_signed<T>::value && (a >> top & 1);
  for (unsigned i = 0; i < bits; i++) {
    bool bit = i < length && position + i < bits ? (a >> (position + i) & 1) != 0 : sign;
    result |= (T)bit << i;
  }
  return result;
}
template <class T> TILESCOPE_FUNCTION T tilescope_ptx_insert(T a, T into, unsigned position, unsigned length) {
  for (unsigned i = 0; i < (length & 255) && (position & 255) + i < 8 * sizeof(T); i++) {
    T bit = (T)1 << ((position & 255) + i);
    into = a >> i & 1 ? into | bit : into & ~bit;
  }
  return into;
}
TILESCOPE_FUNCTION unsigned tilescope_ptx_lop3(unsigned a, unsigned b, unsigned c, unsigned table) {
  unsigned result = 0;
  for (unsigned i = 0; i < 8; i++) {
    if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  }
  return result;
}

// --- addresses
TILESCOPE_FUNCTION size_t __cvta_generic_to_shared(const void* p) { return (size_t)p; }
TILESCOPE_FUNCTION unsigned __isShared(const void* p) { return tilescope_space(p) == 1; }
TILESCOPE_FUNCTION size_t __cvta_generic_to_global(const void* p) { return (size_t)p; }
TILESCOPE_FUNCTION unsigned __isLocal(const void* p) { return tilescope_space(p) == 2; }
TILESCOPE_FUNCTION unsigned __isConstant(const void*) { return 0; }
TILESCOPE_FUNCTION unsigned __isGlobal(const void* p) { return tilescope_space(p) == 0; }
