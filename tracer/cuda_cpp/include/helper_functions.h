// The helpers of NVIDIA's CUDA samples without those for images.
#pragma once
#include <cmath>
#include <cstdio>

#include "helper_string.h"
#include "helper_timer.h"
template <class T> bool compareData(const T* reference, const T* data, unsigned count, T epsilon, float threshold) {
  unsigned errors = 0;
  for (unsigned i = 0; i < count; i++) errors += !((T)std::abs((double)reference[i] - (double)data[i]) <= epsilon);
  return threshold == 0 ? errors == 0 : errors <= count * threshold;
}
inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned count, float epsilon) {
  double error = 0, norm = 0;
  for (unsigned i = 0; i < count; i++) error += std::pow((double)reference[i] - data[i], 2), norm += (double)reference[i] * reference[i];
  return norm > 0 && std::sqrt(error) / std::sqrt(norm) < epsilon;
}
