// Cooperative groups of threads (CUDA C++ Programming Guide, "Cooperative Groups").
#pragma once
#include "tilescope/exchange.h"

namespace cooperative_groups {
TILESCOPE_HELPER inline unsigned tilescope_rank_in(unsigned mask) { return __builtin_popcount(mask & ((1u << tilescope_lane()) - 1)); }
// The lane of the rank-th thread of a mask.
TILESCOPE_HELPER inline int tilescope_lane_of(unsigned mask, unsigned rank) {
  while (rank-- && mask) mask &= mask - 1;
  return mask ? __builtin_ctz(mask) : -1;
}
// Lanes of a ballot as ranks of a mask.
TILESCOPE_HELPER inline unsigned tilescope_ranks(unsigned mask, unsigned lanes) {
  unsigned ranks = 0;
  for (int rank = 0; mask; rank++, mask &= mask - 1) ranks |= (lanes >> __builtin_ctz(mask) & 1) << rank;
  return ranks;
}

// Any group: a block, lanes of a warp, or the grid.
class thread_group {
 public:
  enum Kind { BLOCK, LANES, GRID };
  TILESCOPE_HELPER thread_group(Kind kind, unsigned mask, unsigned width = 0) : kind_(kind), mask_(mask), width_(width) {}
  TILESCOPE_CALL void sync() const { tilescope_sync(TILESCOPE_PC); }
  TILESCOPE_HELPER void tilescope_sync(void* pc) const {
    if (kind_ == BLOCK) tilescope_barrier(pc, TILESCOPE_SYNC, 0);
    else if (kind_ == LANES) tilescope_syncwarp(pc, mask_);
    else tilescope_grid_barrier(pc);
  }
  TILESCOPE_HELPER unsigned long long size() const {
    if (kind_ == BLOCK) return tilescope_threads();
    if (kind_ == LANES) return __builtin_popcount(mask_);
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * tilescope_threads();
  }
  TILESCOPE_HELPER unsigned long long num_threads() const { return size(); }
  TILESCOPE_HELPER unsigned long long thread_rank() const {
    if (kind_ == BLOCK) return tilescope_thread();
    if (kind_ == LANES) return tilescope_rank_in(mask_);
    return ((unsigned long long)(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * tilescope_threads() + tilescope_thread();
  }
  TILESCOPE_HELPER bool is_valid() const { return true; }
  TILESCOPE_HELPER unsigned tilescope_mask() const { return mask_; }
  TILESCOPE_HELPER Kind tilescope_kind() const { return kind_; }

 protected:
  Kind kind_;
  unsigned mask_, width_;
};

class thread_block : public thread_group {
 public:
  TILESCOPE_HELPER thread_block() : thread_group(BLOCK, 0) {}
  TILESCOPE_CALL static void sync() { tilescope_barrier(TILESCOPE_PC, TILESCOPE_SYNC, 0); }
  struct arrival_token {};
  TILESCOPE_HELPER arrival_token barrier_arrive() const { return {}; }
  TILESCOPE_CALL void barrier_wait(arrival_token&&) const { tilescope_barrier(TILESCOPE_PC, TILESCOPE_SYNC, 0); }
  TILESCOPE_HELPER static unsigned size() { return tilescope_threads(); }
  TILESCOPE_HELPER static unsigned num_threads() { return tilescope_threads(); }
  TILESCOPE_HELPER static unsigned thread_rank() { return tilescope_thread(); }
  TILESCOPE_HELPER static dim3 group_index() { return blockIdx; }
  TILESCOPE_HELPER static dim3 thread_index() { return threadIdx; }
  TILESCOPE_HELPER static dim3 group_dim() { return blockDim; }
  TILESCOPE_HELPER static dim3 dim_threads() { return blockDim; }
};
TILESCOPE_HELPER inline thread_block this_thread_block() { return {}; }

class grid_group : public thread_group {
 public:
  TILESCOPE_HELPER grid_group() : thread_group(GRID, 0) {}
  TILESCOPE_CALL void sync() const { tilescope_grid_barrier(TILESCOPE_PC); }
  TILESCOPE_HELPER static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  TILESCOPE_HELPER static unsigned long long block_rank() { return (unsigned long long)(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
  TILESCOPE_HELPER static dim3 block_index() { return blockIdx; }
  TILESCOPE_HELPER static dim3 dim_blocks() { return gridDim; }
  TILESCOPE_HELPER static dim3 group_dim() { return gridDim; }
};
TILESCOPE_HELPER inline grid_group this_grid() { return {}; }

// Operations of the lanes of a mask, which ranks name.
class tilescope_lanes : public thread_group {
 public:
  TILESCOPE_HELPER explicit tilescope_lanes(unsigned mask) : thread_group(LANES, mask) {}
  TILESCOPE_CALL void sync() const { tilescope_syncwarp(TILESCOPE_PC, mask_); }
  TILESCOPE_HELPER unsigned size() const { return __builtin_popcount(mask_); }
  TILESCOPE_HELPER unsigned num_threads() const { return size(); }
  TILESCOPE_HELPER unsigned thread_rank() const { return tilescope_rank_in(mask_); }
  template <class T> TILESCOPE_CALL T shfl(T value, int rank) const {
    return tilescope_value_of_lane(TILESCOPE_PC, mask_, value, tilescope_lane_of(mask_, rank % (int)size()));
  }
  template <class T> TILESCOPE_CALL T shfl_up(T value, unsigned delta) const { return tilescope_from(TILESCOPE_PC, value, (int)thread_rank() - (int)delta); }
  template <class T> TILESCOPE_CALL T shfl_down(T value, unsigned delta) const { return tilescope_from(TILESCOPE_PC, value, (int)thread_rank() + (int)delta); }
  template <class T> TILESCOPE_CALL T shfl_xor(T value, unsigned lanes) const { return tilescope_from(TILESCOPE_PC, value, (int)(thread_rank() ^ lanes)); }
  TILESCOPE_CALL unsigned ballot(int predicate) const { return tilescope_ballot(TILESCOPE_PC, predicate); }
  TILESCOPE_CALL int any(int predicate) const { return tilescope_ballot(TILESCOPE_PC, predicate) != 0; }
  TILESCOPE_CALL int all(int predicate) const { return tilescope_ballot(TILESCOPE_PC, !predicate) == 0; }
  template <class T> TILESCOPE_CALL unsigned match_any(T value) const {
    unsigned present;
    return tilescope_ranks(mask_, tilescope_match(TILESCOPE_PC, mask_, tilescope_bits(value), &present));
  }
  template <class T> TILESCOPE_CALL unsigned match_all(T value, int& same) const {
    unsigned present, lanes = tilescope_match(TILESCOPE_PC, mask_, tilescope_bits(value), &present);
    same = lanes == present;
    return same ? tilescope_ranks(mask_, mask_) : 0;
  }
  // The value of a rank, or the thread's own where there is none.
  template <class T> TILESCOPE_HELPER T tilescope_from(void* pc, const T& value, int rank) const {
    int lane = rank >= 0 && rank < (int)size() ? tilescope_lane_of(mask_, rank) : (int)tilescope_lane();
    return tilescope_value_of_lane(pc, mask_, value, lane);
  }
  TILESCOPE_HELPER unsigned tilescope_ballot(void* pc, int predicate) const {
    unsigned present;
    return tilescope_ranks(mask_, tilescope_vote(pc, mask_, predicate, &present));
  }
};

template <unsigned N, class Parent = void> class thread_block_tile : public tilescope_lanes {
  static_assert(N && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  static_assert(N <= 32, "Tilescope does not know tiles of more than 32 threads.");

 public:
  TILESCOPE_HELPER thread_block_tile() : tilescope_lanes(tilescope_tile_mask(N)) {}
  template <class Other> TILESCOPE_HELPER thread_block_tile(const thread_block_tile<N, Other>&) : tilescope_lanes(tilescope_tile_mask(N)) {}
  TILESCOPE_HELPER static constexpr unsigned size() { return N; }
  TILESCOPE_HELPER static constexpr unsigned num_threads() { return N; }
  TILESCOPE_HELPER static unsigned thread_rank() { return tilescope_lane() & (N - 1); }
  TILESCOPE_HELPER static unsigned meta_group_rank() { return tilescope_thread() % tilescope_parent_size() / N; }
  TILESCOPE_HELPER static unsigned meta_group_size() { return (tilescope_parent_size() + N - 1) / N; }

 private:
  // The threads of the group that was divided: a larger tile, or the block.
  TILESCOPE_HELPER static unsigned tilescope_parent_size() {
    if constexpr (std::is_base_of<tilescope_lanes, Parent>::value) return Parent::size();
    else return tilescope_threads();
  }
};

class coalesced_group : public tilescope_lanes {
 public:
  TILESCOPE_HELPER explicit coalesced_group(unsigned mask, unsigned number = 0, unsigned count = 1)
      : tilescope_lanes(mask), number_(number), count_(count) {}
  TILESCOPE_HELPER unsigned meta_group_rank() const { return number_; }
  TILESCOPE_HELPER unsigned meta_group_size() const { return count_; }

 private:
  unsigned number_, count_;
};
TILESCOPE_CALL inline coalesced_group coalesced_threads() { return coalesced_group(tilescope_converge(TILESCOPE_PC)); }

template <unsigned N, class Group> TILESCOPE_HELPER inline thread_block_tile<N, Group> tiled_partition(const Group&) { return {}; }
template <unsigned N> TILESCOPE_HELPER inline thread_block_tile<N, thread_block> tilescope_tile() { return {}; }
TILESCOPE_HELPER inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (parent.tilescope_kind() == thread_group::BLOCK) return thread_group(thread_group::LANES, tilescope_tile_mask(size));
  unsigned mask = parent.tilescope_mask(), first = tilescope_rank_in(mask) / size * size, part = 0;
  for (unsigned rank = first; rank < first + size; rank++) {
    int lane = tilescope_lane_of(mask, rank);
    if (lane >= 0) part |= 1u << lane;
  }
  return thread_group(thread_group::LANES, part);
}
TILESCOPE_HELPER inline thread_group tiled_partition(const thread_block& parent, unsigned size) { return tiled_partition((const thread_group&)parent, size); }
TILESCOPE_HELPER inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  return coalesced_group(tiled_partition((const thread_group&)parent, size).tilescope_mask(), parent.thread_rank() / size, (parent.size() + size - 1) / size);
}
template <class Group> TILESCOPE_CALL inline coalesced_group binary_partition(const Group& group, bool predicate) {
  unsigned present, lanes = tilescope_match(TILESCOPE_PC, group.tilescope_mask(), predicate, &present);
  return coalesced_group(lanes, predicate, 2);
}
template <class Group, class T> TILESCOPE_CALL inline coalesced_group labeled_partition(const Group& group, T label) {
  unsigned present, lanes = tilescope_match(TILESCOPE_PC, group.tilescope_mask(), tilescope_bits(label), &present);
  return coalesced_group(lanes);
}

template <class Group> TILESCOPE_CALL inline void sync(const Group& group) { group.tilescope_sync(TILESCOPE_PC); }
template <class Group> TILESCOPE_HELPER inline unsigned long long thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> TILESCOPE_HELPER inline unsigned long long group_size(const Group& group) { return group.size(); }
template <class Group, class F> TILESCOPE_HELPER inline void invoke_one(const Group& group, F&& function) {
  if (group.thread_rank() == 0) function();
}
TILESCOPE_HELPER inline bool tilescope_is_first(const thread_group& group) { return group.thread_rank() == 0; }

// --- reductions and scans of a warp's groups
template <class T = void> struct plus { TILESCOPE_HELPER T operator()(T a, T b) const { return a + b; } };
template <class T = void> struct less { TILESCOPE_HELPER T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T = void> struct greater { TILESCOPE_HELPER T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T = void> struct bit_and { TILESCOPE_HELPER T operator()(T a, T b) const { return a & b; } };
template <class T = void> struct bit_or { TILESCOPE_HELPER T operator()(T a, T b) const { return a | b; } };
template <class T = void> struct bit_xor { TILESCOPE_HELPER T operator()(T a, T b) const { return a ^ b; } };
template <> struct plus<void> { template <class T> TILESCOPE_HELPER T operator()(T a, T b) const { return a + b; } };
template <> struct less<void> { template <class T> TILESCOPE_HELPER T operator()(T a, T b) const { return b < a ? b : a; } };
template <> struct greater<void> { template <class T> TILESCOPE_HELPER T operator()(T a, T b) const { return a < b ? b : a; } };

template <class Group, class T, class Op> TILESCOPE_HELPER inline T tilescope_reduce(void* pc, const Group& group, T value, Op op) {
  unsigned size = group.size();
  if ((size & (size - 1)) == 0) {
    for (unsigned step = size / 2; step; step /= 2) value = op(value, group.tilescope_from(pc, value, group.thread_rank() ^ step));
    return value;
  }
  T result = group.tilescope_from(pc, value, 0);
  for (unsigned rank = 1; rank < size; rank++) result = op(result, group.tilescope_from(pc, value, rank));
  return result;
}
template <class Group, class T, class Op> TILESCOPE_HELPER inline T tilescope_scan(void* pc, const Group& group, T value, Op op) {
  for (unsigned step = 1; step < group.size(); step *= 2) {
    T before = group.tilescope_from(pc, value, (int)group.thread_rank() - (int)step);
    if (group.thread_rank() >= step) value = op(before, value);
  }
  return value;
}
template <class Group, class T, class Op> TILESCOPE_CALL T reduce(const Group& group, T value, Op op) { return tilescope_reduce(TILESCOPE_PC, group, value, op); }
template <class Group, class T, class Op> TILESCOPE_CALL T inclusive_scan(const Group& group, T value, Op op) { return tilescope_scan(TILESCOPE_PC, group, value, op); }
template <class Group, class T> TILESCOPE_CALL T inclusive_scan(const Group& group, T value) { return tilescope_scan(TILESCOPE_PC, group, value, plus<T>()); }
template <class Group, class T, class Op> TILESCOPE_CALL T exclusive_scan(const Group& group, T value, Op op) {
  T before = group.tilescope_from(TILESCOPE_PC, tilescope_scan(TILESCOPE_PC, group, value, op), (int)group.thread_rank() - 1);
  return group.thread_rank() ? before : T();
}
template <class Group, class T> TILESCOPE_CALL T exclusive_scan(const Group& group, T value) {
  T before = group.tilescope_from(TILESCOPE_PC, tilescope_scan(TILESCOPE_PC, group, value, plus<T>()), (int)group.thread_rank() - 1);
  return group.thread_rank() ? before : T();
}
template <class Group, class T, class Op> TILESCOPE_CALL void reduce_update_async(const Group& group, T& target, T value, Op op) {
  T sum = tilescope_reduce(TILESCOPE_PC, group, value, op);
  if (group.thread_rank() == 0) {
    tilescope_access(TILESCOPE_PC, &target, sizeof(T), TILESCOPE_REDUCTION);
    target = op(target, sum);
  }
}

// --- copies: complete when the call returns, but other threads see them only after `wait`
template <class Group> TILESCOPE_HELPER inline void tilescope_copy(void* pc, const Group& group, char* to, const char* from, size_t size, size_t unit) {
  if (((size_t)to | (size_t)from | size) % 16 == 0) unit = 16;
  for (size_t begin = group.thread_rank() * unit; begin < size; begin += group.size() * unit) {
    tilescope_memcpy(pc, to + begin, from + begin, size - begin < unit ? size - begin : unit);
  }
}
template <class Group, class T, class S> TILESCOPE_CALL void memcpy_async(const Group& group, T* to, const S* from, size_t size) {
  tilescope_copy(TILESCOPE_PC, group, (char*)to, (const char*)from, size, 4);
}
template <class Group, class T> TILESCOPE_CALL void memcpy_async(const Group& group, T* to, size_t most, const T* from, size_t count) {
  tilescope_copy(TILESCOPE_PC, group, (char*)to, (const char*)from, (count < most ? count : most) * sizeof(T), sizeof(T));
}
template <class Group> TILESCOPE_CALL void wait(const Group& group) { group.tilescope_sync(TILESCOPE_PC); }
template <unsigned N, class Group> TILESCOPE_CALL void wait_prior(const Group& group) { group.tilescope_sync(TILESCOPE_PC); }

namespace experimental {
using namespace cooperative_groups;
}
}  // namespace cooperative_groups
