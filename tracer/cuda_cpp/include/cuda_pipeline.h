// Asynchronous copies to shared memory (`cp.async`). They are made at once; the waits need nothing more.
#pragma once
#include "tilescope/exchange.h"
TILESCOPE_CALL inline void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0) {
  tilescope_memcpy(TILESCOPE_PC, to, from, size - zeros);
  static const char zero[16] = {};
  for (size_t i = size - zeros; i < size; i++) {
    tilescope_access(TILESCOPE_PC, (char*)to + i, 1, TILESCOPE_STORE);
    ((char*)to)[i] = zero[0];
  }
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(size_t) {}
namespace nvcuda {
namespace experimental {
struct pipeline {
  void commit() {}
  void wait() {}
  template <unsigned N> void wait_prior() {}
};
template <class T> TILESCOPE_CALL void memcpy_async(T& to, const T& from, pipeline&) { tilescope_memcpy(TILESCOPE_PC, (void*)&to, (const void*)&from, sizeof(T)); }
}  // namespace experimental
}  // namespace nvcuda
