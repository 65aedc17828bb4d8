// Random numbers from the host (cuRAND, "Host API"). XORWOW's integers and uniform numbers are in cuRAND's legacy order:
// number n is number n / 4096 of subsequence n % 4096. All other generators and distributions differ from a GPU's numbers.
#pragma once
#define CURAND_H_
#include <vector>

#include "curand_kernel.h"

typedef enum curandStatus {
  CURAND_STATUS_SUCCESS = 0, CURAND_STATUS_VERSION_MISMATCH = 100, CURAND_STATUS_NOT_INITIALIZED = 101, CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103, CURAND_STATUS_OUT_OF_RANGE = 104, CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106, CURAND_STATUS_LAUNCH_FAILURE = 201, CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203, CURAND_STATUS_ARCH_MISMATCH = 204, CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;
typedef enum curandRngType {
  CURAND_RNG_TEST = 0, CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW = 101, CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141, CURAND_RNG_PSEUDO_MT19937 = 142, CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161, CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201
} curandRngType_t;
typedef enum curandOrdering { CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_PSEUDO_DEFAULT, CURAND_ORDERING_PSEUDO_SEEDED, CURAND_ORDERING_PSEUDO_LEGACY, CURAND_ORDERING_PSEUDO_DYNAMIC } curandOrdering_t;
struct curandGenerator_st {
  unsigned long long seed = 0, place = 0;
  std::vector<curandStateXORWOW> states;
};
typedef curandGenerator_st* curandGenerator_t;
inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t) { *generator = new curandGenerator_st(); return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) { return curandCreateGenerator(generator, type); }
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) { delete generator; return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  generator->seed = seed, generator->place = 0;
  generator->states.clear();
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  generator->place = offset;
  generator->states.clear();
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) { return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) { return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandGenerateSeeds(curandGenerator_t) { return CURAND_STATUS_SUCCESS; }
TILESCOPE_HELPER inline unsigned tilescope_next(curandGenerator_t generator) {
  size_t subsequence = generator->place % 4096;
  while (generator->states.size() <= subsequence) {
    curandStateXORWOW s;
    tilescope_seed(s, generator->seed, generator->states.size(), generator->place / 4096);
    generator->states.push_back(s);
  }
  generator->place++;
  return tilescope_next(generator->states[subsequence]);
}
template <class T, class F> TILESCOPE_HELPER inline curandStatus_t tilescope_generate(T* out, size_t n, F next) {
  for (size_t i = 0; i < n; i++) out[i] = next();
  tilescope_touch(out);
  return CURAND_STATUS_SUCCESS;
}
template <class T> TILESCOPE_HELPER inline curandStatus_t tilescope_generate_normal(curandGenerator_t g, T* out, size_t n, T mean, T deviation) {
  for (size_t i = 0; i < n; i += 2) {
    unsigned x = tilescope_next(g), y = tilescope_next(g);
    float2 pair = tilescope_box_muller(x, y);
    out[i] = mean + deviation * pair.x;
    if (i + 1 < n) out[i + 1] = mean + deviation * pair.y;
  }
  tilescope_touch(out);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerate(curandGenerator_t g, unsigned* out, size_t n) { return tilescope_generate(out, n, [&] { return tilescope_next(g); }); }
inline curandStatus_t curandGenerateUniform(curandGenerator_t g, float* out, size_t n) { return tilescope_generate(out, n, [&] { return tilescope_uniform(tilescope_next(g)); }); }
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double* out, size_t n) {
  return tilescope_generate(out, n, [&] {
    unsigned x = tilescope_next(g);
    return tilescope_uniform(x, tilescope_next(g));
  });
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t g, float* out, size_t n, float mean, float deviation) { return tilescope_generate_normal(g, out, n, mean, deviation); }
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double* out, size_t n, double mean, double deviation) { return tilescope_generate_normal(g, out, n, mean, deviation); }
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float* out, size_t n, float mean, float deviation) {
  tilescope_generate_normal(g, out, n, mean, deviation);
  for (size_t i = 0; i < n; i++) out[i] = std::exp(out[i]);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double* out, size_t n, double mean, double deviation) {
  tilescope_generate_normal(g, out, n, mean, deviation);
  for (size_t i = 0; i < n; i++) out[i] = std::exp(out[i]);
  return CURAND_STATUS_SUCCESS;
}
#define CURAND_VERSION 10400
