// What the headers of libcu++ share.
#pragma once
#include <cstddef>
#include <utility>
#include "../tilescope/exchange.h"
namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
template <size_t N> struct aligned_size_t {
  static constexpr size_t align = N;
  size_t value;
  TILESCOPE_HELPER explicit constexpr aligned_size_t(size_t v) : value(v) {}
  TILESCOPE_HELPER constexpr operator size_t() const { return value; }
};
// A group's copy: its threads copy 16, or else 4, bytes in turn.
template <class Group> TILESCOPE_HELPER inline void tilescope_copy_by_group(void* pc, const Group& group, char* to, const char* from, size_t size) {
  size_t unit = ((size_t)to | (size_t)from | size) % 16 ? 4 : 16;
  for (size_t begin = group.thread_rank() * unit; begin < size; begin += group.size() * unit) {
    tilescope_memcpy(pc, to + begin, from + begin, size - begin < unit ? size - begin : unit);
  }
}
}  // namespace cuda
