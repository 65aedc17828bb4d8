// Exchanges of values of any size within a warp, for the headers of collective functions. `pc` is in the user's code.
#pragma once
// The value of another lane, given by its number in the warp.
template <class T> TILESCOPE_HELPER inline T tilescope_value_of_lane(void* pc, unsigned mask, const T& value, int source) {
  T result;
  for (size_t offset = 0; offset < sizeof(T); offset += 8) {
    uint64_t bits = 0;
    size_t size = sizeof(T) - offset < 8 ? sizeof(T) - offset : 8;
    __builtin_memcpy(&bits, (const char*)&value + offset, size);
    bits = tilescope_shuffle(pc, mask, bits, source);
    __builtin_memcpy((char*)&result + offset, &bits, size);
  }
  return result;
}
// Loads and stores that are recorded at the user's line.
template <class T> TILESCOPE_HELPER inline T tilescope_load(void* pc, const T* address) {
  T value;
  tilescope_memcpy(pc, (void*)&value, (const void*)address, sizeof(T));
  return value;
}
template <class T> TILESCOPE_HELPER inline void tilescope_store(void* pc, T* address, const T& value) {
  tilescope_memcpy(pc, (void*)address, (const void*)&value, sizeof(T));
}
// The number of a thread in its block.
TILESCOPE_HELPER inline unsigned tilescope_thread() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
TILESCOPE_HELPER inline unsigned tilescope_threads() { return blockDim.x * blockDim.y * blockDim.z; }
// The lanes of the calling thread's part of a warp: `size` lanes, less those without a thread.
TILESCOPE_HELPER inline unsigned tilescope_tile_mask(unsigned size) {
  unsigned base = tilescope_lane() & ~(size - 1), threads = tilescope_threads(), first = (tilescope_thread() & ~31u) + base;
  unsigned there = first + size > threads ? threads - first : size;
  return (there == 32 ? 0xffffffffu : (1u << there) - 1) << base;
}
