// Random numbers in kernels (cuRAND, "Device API"): XORWOW (Marsaglia, "Xorshift RNGs", 2003) and Philox-4x32-10 (Salmon
// et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), with cuRAND's seeds and order of numbers.
// MRG32k3a states are Philox states here: their numbers differ from a GPU's. So do those of curand_poisson.
#pragma once
#include "tilescope/exchange.h"

struct curandStateXORWOW {
  unsigned d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStateXORWOW curandStateXORWOW_t, curandState, curandState_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
struct curandStateMRG32k3a : curandStatePhilox4_32_10 {};
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

// --- XORWOW
TILESCOPE_HELPER inline unsigned tilescope_next(curandStateXORWOW& s) {
  unsigned t = s.v[0] ^ (s.v[0] >> 2);
  s.v[0] = s.v[1], s.v[1] = s.v[2], s.v[2] = s.v[3], s.v[3] = s.v[4];
  s.v[4] = (s.v[4] ^ (s.v[4] << 4)) ^ (t ^ (t << 1));
  return s.v[4] + (s.d += 362437);
}
TILESCOPE_HELPER inline void tilescope_skip(curandStateXORWOW& s, unsigned long long n, int power) { tilescope_xorwow_skip(s.v, n, power); }
TILESCOPE_HELPER inline void tilescope_seed(curandStateXORWOW& s, unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
  unsigned s0 = (unsigned)seed ^ 0xaad26b49u, s1 = (unsigned)(seed >> 32) ^ 0xf7dcefddu;
  unsigned t0 = 1099087573u * s0, t1 = 2591861531u * s1;
  s = curandStateXORWOW{};
  s.d = 6615241u + t1 + t0;
  s.v[0] = 123456789u + t0, s.v[1] = 362436069u ^ t0, s.v[2] = 521288629u + t1, s.v[3] = 88675123u ^ t1, s.v[4] = 5783321u + t0;
  tilescope_skip(s, subsequence, 67);
  tilescope_skip(s, offset, 0);
  s.d += (unsigned)offset * 362437u;
}

// --- Philox
TILESCOPE_HELPER inline void tilescope_fill(curandStatePhilox4_32_10& s) {
  uint4 c = s.ctr;
  uint2 key = s.key;
  for (int round = 0; round < 10; round++) {
    uint64_t first = (uint64_t)0xD2511F53u * c.x, second = (uint64_t)0xCD9E8D57u * c.z;
    c = uint4{(unsigned)(second >> 32) ^ c.y ^ key.x, (unsigned)second, (unsigned)(first >> 32) ^ c.w ^ key.y, (unsigned)first};
    key.x += 0x9E3779B9u, key.y += 0xBB67AE85u;
  }
  s.output = c;
}
TILESCOPE_HELPER inline void tilescope_count(curandStatePhilox4_32_10& s, unsigned long long n) {
  unsigned long long low = (unsigned long long)s.ctr.y << 32 | s.ctr.x, sum = low + n;
  s.ctr.x = (unsigned)sum, s.ctr.y = (unsigned)(sum >> 32);
  if (sum < low && !++s.ctr.z) ++s.ctr.w;
}
TILESCOPE_HELPER inline unsigned tilescope_next(curandStatePhilox4_32_10& s) {
  unsigned value = s.STATE == 0 ? s.output.x : s.STATE == 1 ? s.output.y : s.STATE == 2 ? s.output.z : s.output.w;
  if (++s.STATE == 4) {
    s.STATE = 0;
    tilescope_count(s, 1);
    tilescope_fill(s);
  }
  return value;
}
TILESCOPE_HELPER inline void tilescope_seed(curandStatePhilox4_32_10& s, unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
  memset((void*)&s, 0, sizeof s);
  s.key.x = (unsigned)seed, s.key.y = (unsigned)(seed >> 32);
  s.ctr.z = (unsigned)subsequence, s.ctr.w = (unsigned)(subsequence >> 32);
  s.STATE = offset & 3;
  tilescope_count(s, offset / 4);
  tilescope_fill(s);
}

// --- distributions. A state in memory is loaded and stored at the user's line.
TILESCOPE_HELPER inline float tilescope_uniform(unsigned x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }
TILESCOPE_HELPER inline double tilescope_uniform(unsigned x, unsigned y) {
  uint64_t z = (uint64_t)x ^ (uint64_t)y << 21;
  return z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2.0;
}
TILESCOPE_HELPER inline float2 tilescope_box_muller(unsigned x, unsigned y) {
  float u = tilescope_uniform(x), v = y * (2.3283064e-10f * 6.2831855f) + 2.3283064e-10f * 6.2831855f / 2.0f, s = std::sqrt(-2.0f * std::log(u));
  return float2{std::sin(v) * s, std::cos(v) * s};
}
TILESCOPE_HELPER inline double2 tilescope_box_muller(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  double u = tilescope_uniform(x0, x1), v = ((uint64_t)y0 ^ (uint64_t)y1 << 21) * 2.220446049250313e-16 + 1.1102230246251565e-16;
  double s = std::sqrt(-2.0 * std::log(u));
  return double2{std::sin(v * 3.14159265358979323846) * s, std::cos(v * 3.14159265358979323846) * s};
}
template <class S> TILESCOPE_HELPER inline float tilescope_normal(S& s) {
  if (s.boxmuller_flag) {
    s.boxmuller_flag = 0;
    return s.boxmuller_extra;
  }
  unsigned x = tilescope_next(s), y = tilescope_next(s);
  float2 pair = tilescope_box_muller(x, y);
  s.boxmuller_flag = 1, s.boxmuller_extra = pair.y;
  return pair.x;
}
template <class S> TILESCOPE_HELPER inline double tilescope_normal_double(S& s) {
  if (s.boxmuller_flag_double) {
    s.boxmuller_flag_double = 0;
    return s.boxmuller_extra_double;
  }
  unsigned x0 = tilescope_next(s), x1 = tilescope_next(s), y0 = tilescope_next(s), y1 = tilescope_next(s);
  double2 pair = tilescope_box_muller(x0, x1, y0, y1);
  s.boxmuller_flag_double = 1, s.boxmuller_extra_double = pair.y;
  return pair.x;
}
template <class S> TILESCOPE_HELPER inline unsigned tilescope_poisson(S& s, double lambda) {
  double limit = std::exp(-lambda), product = 1;  // Knuth's method
  if (lambda > 500) return (unsigned)std::fmax(0.0, std::nearbyint(lambda + std::sqrt(lambda) * tilescope_normal_double(s)));
  unsigned count = 0;
  while ((product *= tilescope_uniform(tilescope_next(s))) > limit) count++;
  return count;
}
#define TILESCOPE_RANDOM(R, declaration, expression)                                                \
  template <class S> TILESCOPE_CALL R declaration {                                                 \
    S s = tilescope_load(TILESCOPE_PC, state);                                                      \
    R result = expression;                                                                          \
    tilescope_store(TILESCOPE_PC, state, s);                                                        \
    return result;                                                                                  \
  }
TILESCOPE_RANDOM(unsigned, curand(S* state), tilescope_next(s))
TILESCOPE_RANDOM(float, curand_uniform(S* state), tilescope_uniform(tilescope_next(s)))
TILESCOPE_RANDOM(float, curand_normal(S* state), tilescope_normal(s))
TILESCOPE_RANDOM(double, curand_normal_double(S* state), tilescope_normal_double(s))
TILESCOPE_RANDOM(float, curand_log_normal(S* state, float mean, float deviation), std::exp(mean + deviation * tilescope_normal(s)))
TILESCOPE_RANDOM(double, curand_log_normal_double(S* state, double mean, double deviation), std::exp(mean + deviation * tilescope_normal_double(s)))
TILESCOPE_RANDOM(unsigned, curand_poisson(S* state, double lambda), tilescope_poisson(s, lambda))
TILESCOPE_HELPER inline float2 tilescope_normal2(unsigned x, unsigned y) { return tilescope_box_muller(x, y); }
template <class S> TILESCOPE_CALL double curand_uniform_double(S* state) {
  S s = tilescope_load(TILESCOPE_PC, state);
  unsigned x = tilescope_next(s);
  double result = std::is_same<S, curandStateXORWOW>::value ? tilescope_uniform(x, tilescope_next(s)) : x * 2.3283064365386963e-10 + 2.3283064365386963e-10;
  tilescope_store(TILESCOPE_PC, state, s);
  return result;
}
template <class S> TILESCOPE_CALL float2 curand_normal2(S* state) {
  S s = tilescope_load(TILESCOPE_PC, state);
  unsigned x = tilescope_next(s), y = tilescope_next(s);
  tilescope_store(TILESCOPE_PC, state, s);
  return tilescope_box_muller(x, y);
}
TILESCOPE_HELPER inline uint4 tilescope_next4(curandStatePhilox4_32_10& s) {
  uint4 r;
  r.x = tilescope_next(s), r.y = tilescope_next(s), r.z = tilescope_next(s), r.w = tilescope_next(s);
  return r;
}
TILESCOPE_HELPER inline float4 tilescope_uniform4(uint4 r) { return float4{tilescope_uniform(r.x), tilescope_uniform(r.y), tilescope_uniform(r.z), tilescope_uniform(r.w)}; }
TILESCOPE_HELPER inline float4 tilescope_normal4(uint4 r) {
  float2 a = tilescope_box_muller(r.x, r.y), b = tilescope_box_muller(r.z, r.w);
  return float4{a.x, a.y, b.x, b.y};
}
TILESCOPE_RANDOM(uint4, curand4(S* state), tilescope_next4(s))
TILESCOPE_RANDOM(float4, curand_uniform4(S* state), tilescope_uniform4(tilescope_next4(s)))
TILESCOPE_RANDOM(float4, curand_normal4(S* state), tilescope_normal4(tilescope_next4(s)))
#undef TILESCOPE_RANDOM
template <class S> TILESCOPE_CALL void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, S* state) {
  S s;
  tilescope_seed(s, seed, subsequence, offset);
  tilescope_store(TILESCOPE_PC, state, s);
}
TILESCOPE_CALL inline void skipahead(unsigned long long n, curandStateXORWOW* state) {
  curandStateXORWOW s = tilescope_load(TILESCOPE_PC, state);
  tilescope_skip(s, n, 0);
  s.d += (unsigned)n * 362437u;
  tilescope_store(TILESCOPE_PC, state, s);
}
TILESCOPE_CALL inline void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
  curandStateXORWOW s = tilescope_load(TILESCOPE_PC, state);
  tilescope_skip(s, n, 67);
  tilescope_store(TILESCOPE_PC, state, s);
}
