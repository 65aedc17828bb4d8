#pragma once
#include "nvToolsExt.h"
namespace nvtx3 {
struct scoped_range {
  scoped_range() {}
  template <class... A> explicit scoped_range(const A&...) {}
};
}  // namespace nvtx3
#define NVTX3_FUNC_RANGE()
