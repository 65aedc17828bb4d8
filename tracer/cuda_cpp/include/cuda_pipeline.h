// Asynchronous copies to shared memory. They are complete when the call returns, so a missing wait has no effect here.
#pragma once
TILESCOPE_CALL inline void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0) {
  static const char zero[16] = {};
  tilescope_memcpy(TILESCOPE_PC, to, from, size - zeros);
  if (zeros) {
    tilescope_access(TILESCOPE_PC, (char*)to + size - zeros, (int)zeros, TILESCOPE_STORE);
    __builtin_memcpy((char*)to + size - zeros, zero, zeros);
  }
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(unsigned) {}
