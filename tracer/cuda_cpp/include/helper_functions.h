#pragma once
#include <algorithm>
#include <cassert>
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>
#include "helper_string.h"
#include "helper_timer.h"
// Whether numbers equal a reference; `threshold`: the share of numbers that may differ.
template <class T, class S> bool compareData(const T* reference, const T* data, unsigned length, S epsilon, float threshold) {
  unsigned wrong = 0;
  for (unsigned i = 0; i < length; i++) wrong += !(std::fabs((double)reference[i] - (double)data[i]) <= (double)epsilon);
  return wrong <= length * threshold;
}
inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned length, float epsilon) {
  double error = 0, size = 0;
  for (unsigned i = 0; i < length; i++) error += ((double)reference[i] - data[i]) * (reference[i] - data[i]), size += (double)reference[i] * reference[i];
  return size > 0 && std::sqrt(error / size) < epsilon;
}
