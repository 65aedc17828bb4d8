// CUB (NVIDIA's collective algorithms): for warps and blocks with real shuffles, barriers and shared memory, for the
// device on the host and in order.
#pragma once
#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "../tilescope/exchange.h"

namespace cub {
struct NullType {};
template <class K, class V> struct KeyValuePair {
  typedef K Key;
  typedef V Value;
  K key;
  V value;
};
struct Sum { template <class A, class B> TILESCOPE_HELPER auto operator()(const A& a, const B& b) const { return a + b; } };
struct Max { template <class T> TILESCOPE_HELPER T operator()(const T& a, const T& b) const { return a < b ? b : a; } };
struct Min { template <class T> TILESCOPE_HELPER T operator()(const T& a, const T& b) const { return b < a ? b : a; } };
struct Difference { template <class T> TILESCOPE_HELPER T operator()(const T& a, const T& b) const { return a - b; } };
struct Equality { template <class T> TILESCOPE_HELPER bool operator()(const T& a, const T& b) const { return a == b; } };
struct Inequality { template <class T> TILESCOPE_HELPER bool operator()(const T& a, const T& b) const { return a != b; } };
struct ArgMax {
  template <class K, class V> TILESCOPE_HELPER KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class V> TILESCOPE_HELPER KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED };

// --- warps
// The first `valid` lanes reduce to lane 0, from lane to lane as CUB does.
template <int W, class T, class F> TILESCOPE_HELPER T tilescope_warp_reduce(void* pc, T value, F op, int valid = W) {
  unsigned mask = tilescope_tile_mask(W);
  int lane = tilescope_lane(), rank = lane & (W - 1), count = __builtin_popcount(mask);
  if (valid < count) count = valid;
  for (int step = 1; step < W; step *= 2) {
    T other = tilescope_value_of_lane(pc, mask, value, rank + step < W ? lane + step : lane);
    if (rank + step < count) value = op(value, other);
  }
  return value;
}
template <int W, class T, class F> TILESCOPE_HELPER T tilescope_warp_scan(void* pc, T value, F op) {
  unsigned mask = tilescope_tile_mask(W);
  int lane = tilescope_lane(), rank = lane & (W - 1);
  for (int step = 1; step < W; step *= 2) {
    T other = tilescope_value_of_lane(pc, mask, value, rank >= step ? lane - step : lane);
    if (rank >= step) value = op(other, value);
  }
  return value;
}
template <class T, int W = 32, int = 0> class WarpReduce {
 public:
  struct TempStorage { NullType unused; };
  TILESCOPE_HELPER WarpReduce(TempStorage&) {}
  TILESCOPE_CALL T Sum(T value) { return tilescope_warp_reduce<W>(TILESCOPE_PC, value, cub::Sum()); }
  TILESCOPE_CALL T Sum(T value, int valid) { return tilescope_warp_reduce<W>(TILESCOPE_PC, value, cub::Sum(), valid); }
  TILESCOPE_CALL T Max(T value) { return tilescope_warp_reduce<W>(TILESCOPE_PC, value, cub::Max()); }
  TILESCOPE_CALL T Min(T value) { return tilescope_warp_reduce<W>(TILESCOPE_PC, value, cub::Min()); }
  template <class F> TILESCOPE_CALL T Reduce(T value, F op) { return tilescope_warp_reduce<W>(TILESCOPE_PC, value, op); }
  template <class F> TILESCOPE_CALL T Reduce(T value, F op, int valid) { return tilescope_warp_reduce<W>(TILESCOPE_PC, value, op, valid); }
};
template <class T, int W = 32, int = 0> class WarpScan {
 public:
  struct TempStorage { NullType unused; };
  TILESCOPE_HELPER WarpScan(TempStorage&) {}
  TILESCOPE_CALL void InclusiveSum(T in, T& out) { out = tilescope_warp_scan<W>(TILESCOPE_PC, in, cub::Sum()); }
  TILESCOPE_CALL void InclusiveSum(T in, T& out, T& total) { out = tilescope_warp_scan<W>(TILESCOPE_PC, in, cub::Sum()), total = last(TILESCOPE_PC, out); }
  TILESCOPE_CALL void ExclusiveSum(T in, T& out) { out = before(TILESCOPE_PC, tilescope_warp_scan<W>(TILESCOPE_PC, in, cub::Sum()), T()); }
  TILESCOPE_CALL void ExclusiveSum(T in, T& out, T& total) {
    T scanned = tilescope_warp_scan<W>(TILESCOPE_PC, in, cub::Sum());
    out = before(TILESCOPE_PC, scanned, T()), total = last(TILESCOPE_PC, scanned);
  }
  template <class F> TILESCOPE_CALL void InclusiveScan(T in, T& out, F op) { out = tilescope_warp_scan<W>(TILESCOPE_PC, in, op); }
  template <class F> TILESCOPE_CALL void InclusiveScan(T in, T& out, F op, T& total) { out = tilescope_warp_scan<W>(TILESCOPE_PC, in, op), total = last(TILESCOPE_PC, out); }
  template <class F> TILESCOPE_CALL void ExclusiveScan(T in, T& out, F op) { out = before(TILESCOPE_PC, tilescope_warp_scan<W>(TILESCOPE_PC, in, op), T()); }
  template <class F> TILESCOPE_CALL void ExclusiveScan(T in, T& out, T init, F op) {
    T scanned = before(TILESCOPE_PC, tilescope_warp_scan<W>(TILESCOPE_PC, in, op), T());
    out = tilescope_lane() & (W - 1) ? op(init, scanned) : init;
  }
  TILESCOPE_CALL T Broadcast(T value, unsigned lane) { return tilescope_value_of_lane(TILESCOPE_PC, tilescope_tile_mask(W), value, (tilescope_lane() & ~(W - 1)) + lane); }

 private:
  TILESCOPE_HELPER static T before(void* pc, T scanned, T first) {
    int lane = tilescope_lane(), rank = lane & (W - 1);
    T other = tilescope_value_of_lane(pc, tilescope_tile_mask(W), scanned, rank ? lane - 1 : lane);
    return rank ? other : first;
  }
  TILESCOPE_HELPER static T last(void* pc, T scanned) {
    unsigned mask = tilescope_tile_mask(W);
    return tilescope_value_of_lane(pc, mask, scanned, 31 - __builtin_clz(mask));
  }
};

// --- blocks
TILESCOPE_HELPER inline int tilescope_warps() { return (tilescope_threads() + 31) / 32; }
template <class T, int N> struct tilescope_items { T values[N]; };
template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0> class BlockReduce {
 public:
  struct TempStorage { T warps[(X * Y * Z + 31) / 32]; };
  TILESCOPE_HELPER BlockReduce(TempStorage& storage) : storage_(storage) {}
  TILESCOPE_CALL T Sum(T value) { return reduce(TILESCOPE_PC, value, cub::Sum(), X * Y * Z); }
  TILESCOPE_CALL T Sum(T value, int valid) { return reduce(TILESCOPE_PC, value, cub::Sum(), valid); }
  template <int N> TILESCOPE_CALL T Sum(T (&values)[N]) { return reduce(TILESCOPE_PC, own(values, cub::Sum()), cub::Sum(), X * Y * Z); }
  template <class F> TILESCOPE_CALL T Reduce(T value, F op) { return reduce(TILESCOPE_PC, value, op, X * Y * Z); }
  template <class F> TILESCOPE_CALL T Reduce(T value, F op, int valid) { return reduce(TILESCOPE_PC, value, op, valid); }
  template <int N, class F> TILESCOPE_CALL T Reduce(T (&values)[N], F op) { return reduce(TILESCOPE_PC, own(values, op), op, X * Y * Z); }

 private:
  TempStorage& storage_;
  template <int N, class F> TILESCOPE_HELPER static T own(T (&values)[N], F op) {
    T total = values[0];
    for (int i = 1; i < N; i++) total = op(total, values[i]);
    return total;
  }
  template <class F> TILESCOPE_HELPER T reduce(void* pc, T value, F op, int valid) {
    int thread = tilescope_thread(), warp = thread / 32;
    value = tilescope_warp_reduce<32>(pc, value, op, valid - warp * 32);
    if (thread % 32 == 0) tilescope_store(pc, &storage_.warps[warp], value);
    tilescope_barrier(pc, TILESCOPE_SYNC, 0);
    if (thread == 0) {
      for (int i = 1; i < tilescope_warps() && i * 32 < valid; i++) value = op(value, tilescope_load(pc, &storage_.warps[i]));
    }
    return value;
  }
};
template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0> class BlockScan {
 public:
  struct TempStorage { T warps[(X * Y * Z + 31) / 32]; };
  TILESCOPE_HELPER BlockScan(TempStorage& storage) : storage_(storage) {}
  TILESCOPE_CALL void InclusiveSum(T in, T& out) { T all; inclusive<1>(TILESCOPE_PC, &in, &out, cub::Sum(), all); }
  TILESCOPE_CALL void InclusiveSum(T in, T& out, T& all) { inclusive<1>(TILESCOPE_PC, &in, &out, cub::Sum(), all); }
  template <int N> TILESCOPE_CALL void InclusiveSum(T (&in)[N], T (&out)[N]) { T all; inclusive<N>(TILESCOPE_PC, in, out, cub::Sum(), all); }
  template <int N> TILESCOPE_CALL void InclusiveSum(T (&in)[N], T (&out)[N], T& all) { inclusive<N>(TILESCOPE_PC, in, out, cub::Sum(), all); }
  template <class F> TILESCOPE_CALL void InclusiveScan(T in, T& out, F op) { T all; inclusive<1>(TILESCOPE_PC, &in, &out, op, all); }
  template <class F> TILESCOPE_CALL void InclusiveScan(T in, T& out, F op, T& all) { inclusive<1>(TILESCOPE_PC, &in, &out, op, all); }
  template <int N, class F> TILESCOPE_CALL void InclusiveScan(T (&in)[N], T (&out)[N], F op) { T all; inclusive<N>(TILESCOPE_PC, in, out, op, all); }
  template <int N, class F> TILESCOPE_CALL void InclusiveScan(T (&in)[N], T (&out)[N], F op, T& all) { inclusive<N>(TILESCOPE_PC, in, out, op, all); }
  TILESCOPE_CALL void ExclusiveSum(T in, T& out) { T all; exclusive<1>(TILESCOPE_PC, &in, &out, T(), cub::Sum(), all); }
  TILESCOPE_CALL void ExclusiveSum(T in, T& out, T& all) { exclusive<1>(TILESCOPE_PC, &in, &out, T(), cub::Sum(), all); }
  template <int N> TILESCOPE_CALL void ExclusiveSum(T (&in)[N], T (&out)[N]) { T all; exclusive<N>(TILESCOPE_PC, in, out, T(), cub::Sum(), all); }
  template <int N> TILESCOPE_CALL void ExclusiveSum(T (&in)[N], T (&out)[N], T& all) { exclusive<N>(TILESCOPE_PC, in, out, T(), cub::Sum(), all); }
  template <class P> TILESCOPE_CALL auto ExclusiveSum(T in, T& out, P& prefix) -> decltype((void)prefix(in)) {
    T all;
    exclusive<1>(TILESCOPE_PC, &in, &out, T(), cub::Sum(), all);
    out = prefixed(TILESCOPE_PC, prefix, all) + out;
  }
  template <class P> TILESCOPE_CALL auto InclusiveSum(T in, T& out, P& prefix) -> decltype((void)prefix(in)) {
    T all;
    inclusive<1>(TILESCOPE_PC, &in, &out, cub::Sum(), all);
    out = prefixed(TILESCOPE_PC, prefix, all) + out;
  }
  template <class F> TILESCOPE_CALL void ExclusiveScan(T in, T& out, T init, F op) { T all; exclusive<1>(TILESCOPE_PC, &in, &out, init, op, all); }
  template <class F> TILESCOPE_CALL void ExclusiveScan(T in, T& out, T init, F op, T& all) { exclusive<1>(TILESCOPE_PC, &in, &out, init, op, all); }
  template <int N, class F> TILESCOPE_CALL void ExclusiveScan(T (&in)[N], T (&out)[N], T init, F op) { T all; exclusive<N>(TILESCOPE_PC, in, out, init, op, all); }
  template <int N, class F> TILESCOPE_CALL void ExclusiveScan(T (&in)[N], T (&out)[N], T init, F op, T& all) { exclusive<N>(TILESCOPE_PC, in, out, init, op, all); }

 private:
  TempStorage& storage_;
  // Scan one value a thread: return the result without it in `before`, which the first thread has not, and that of all.
  template <class F> TILESCOPE_HELPER void scan(void* pc, T value, F op, T& before, T& all) {
    int thread = tilescope_thread(), lane = tilescope_lane(), warp = thread / 32;
    unsigned mask = tilescope_tile_mask(32);
    T scanned = tilescope_warp_scan<32>(pc, value, op);
    before = tilescope_value_of_lane(pc, mask, scanned, lane ? lane - 1 : lane);
    if (lane == 31 - __builtin_clz(mask)) tilescope_store(pc, &storage_.warps[warp], scanned);
    tilescope_barrier(pc, TILESCOPE_SYNC, 0);
    T earlier = all = tilescope_load(pc, &storage_.warps[0]);
    for (int i = 1; i < tilescope_warps(); i++) {
      if (i == warp) earlier = all;
      all = op(all, tilescope_load(pc, &storage_.warps[i]));
    }
    if (warp) before = lane ? op(earlier, before) : earlier;
  }
  template <int N, class F> TILESCOPE_HELPER void inclusive(void* pc, const T* in, T* out, F op, T& all) {
    T total = in[0], before;
    for (int i = 1; i < N; i++) total = op(total, in[i]);
    scan(pc, total, op, before, all);
    total = tilescope_thread() ? op(before, in[0]) : in[0];
    for (int i = 0; i < N; i++) {
      T next = i + 1 < N ? op(total, in[i + 1]) : total;
      tilescope_store(pc, &out[i], total);
      total = next;
    }
  }
  template <int N, class F> TILESCOPE_HELPER void exclusive(void* pc, const T* in, T* out, T init, F op, T& all) {
    T total = in[0], before;
    for (int i = 1; i < N; i++) total = op(total, in[i]);
    scan(pc, total, op, before, all);
    total = tilescope_thread() ? op(init, before) : init;
    for (int i = 0; i < N; i++) {
      T next = op(total, in[i]);
      tilescope_store(pc, &out[i], total);
      total = next;
    }
  }
  // The first warp asks for the prefix of the block.
  template <class P> TILESCOPE_HELPER T prefixed(void* pc, P& prefix, T all) {
    tilescope_barrier(pc, TILESCOPE_SYNC, 0);
    if (tilescope_thread() < 32) {
      T result = prefix(all);
      if (tilescope_thread() == 0) tilescope_store(pc, &storage_.warps[0], result);
    }
    tilescope_barrier(pc, TILESCOPE_SYNC, 0);
    return tilescope_load(pc, &storage_.warps[0]);
  }
};
template <class T, int X, int N, bool = false, int Y = 1, int Z = 1> class BlockExchange {
 public:
  struct TempStorage { T values[X * Y * Z * N]; };
  TILESCOPE_HELPER BlockExchange(TempStorage& storage) : storage_(storage) {}
  TILESCOPE_CALL void StripedToBlocked(T (&in)[N], T (&out)[N]) { tilescope_move(TILESCOPE_PC, storage_.values, in, out, true); }
  TILESCOPE_CALL void BlockedToStriped(T (&in)[N], T (&out)[N]) { tilescope_move(TILESCOPE_PC, storage_.values, in, out, false); }
  TILESCOPE_CALL void StripedToBlocked(T (&items)[N]) { tilescope_move(TILESCOPE_PC, storage_.values, items, items, true); }
  TILESCOPE_CALL void BlockedToStriped(T (&items)[N]) { tilescope_move(TILESCOPE_PC, storage_.values, items, items, false); }
  TILESCOPE_HELPER static void tilescope_move(void* pc, T* memory, T (&in)[N], T (&out)[N], bool to_blocked) {
    int thread = tilescope_thread(), threads = X * Y * Z;
    for (int i = 0; i < N; i++) tilescope_store(pc, &memory[to_blocked ? i * threads + thread : thread * N + i], in[i]);
    tilescope_barrier(pc, TILESCOPE_SYNC, 0);
    for (int i = 0; i < N; i++) out[i] = tilescope_load(pc, &memory[to_blocked ? thread * N + i : i * threads + thread]);
  }

 private:
  TempStorage& storage_;
};
template <class T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1> class BlockLoad {
  static constexpr bool is_transposed = A >= BLOCK_LOAD_TRANSPOSE;

 public:
  struct TempStorage { T values[is_transposed ? X * Y * Z * N : 1]; };
  TILESCOPE_HELPER BlockLoad() : storage_(nullptr) {}
  TILESCOPE_HELPER BlockLoad(TempStorage& storage) : storage_(&storage) {}
  template <class I> TILESCOPE_CALL void Load(I from, T (&items)[N]) { load(TILESCOPE_PC, from, items, X * Y * Z * N, nullptr); }
  template <class I> TILESCOPE_CALL void Load(I from, T (&items)[N], int valid) { load(TILESCOPE_PC, from, items, valid, nullptr); }
  template <class I, class D> TILESCOPE_CALL void Load(I from, T (&items)[N], int valid, D other) { T value = other; load(TILESCOPE_PC, from, items, valid, &value); }

 private:
  TempStorage* storage_;
  template <class I> TILESCOPE_HELPER void load(void* pc, I from, T (&items)[N], int valid, const T* other) {
    bool is_striped = is_transposed || A == BLOCK_LOAD_STRIPED;
    for (int i = 0; i < N; i++) {
      int at = is_striped ? i * X * Y * Z + tilescope_thread() : tilescope_thread() * N + i;
      if (at < valid) items[i] = fetch(pc, from, at);
      else if (other) items[i] = *other;
    }
    if (is_transposed) BlockExchange<T, X, N, false, Y, Z>::tilescope_move(pc, storage_->values, items, items, true);
  }
  template <class U> TILESCOPE_HELPER static T fetch(void* pc, U* from, int at) { return (T)tilescope_load(pc, from + at); }
  template <class I> TILESCOPE_HELPER static T fetch(void*, I from, int at) { return from[at]; }
};
template <class T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1> class BlockStore {
  static constexpr bool is_transposed = A >= BLOCK_STORE_TRANSPOSE;

 public:
  struct TempStorage { T values[is_transposed ? X * Y * Z * N : 1]; };
  TILESCOPE_HELPER BlockStore() : storage_(nullptr) {}
  TILESCOPE_HELPER BlockStore(TempStorage& storage) : storage_(&storage) {}
  TILESCOPE_CALL void Store(T* to, T (&items)[N]) { store(TILESCOPE_PC, to, items, X * Y * Z * N); }
  TILESCOPE_CALL void Store(T* to, T (&items)[N], int valid) { store(TILESCOPE_PC, to, items, valid); }

 private:
  TempStorage* storage_;
  TILESCOPE_HELPER void store(void* pc, T* to, T (&items)[N], int valid) {
    if (is_transposed) BlockExchange<T, X, N, false, Y, Z>::tilescope_move(pc, storage_->values, items, items, false);
    bool is_striped = is_transposed || A == BLOCK_STORE_STRIPED;
    for (int i = 0; i < N; i++) {
      int at = is_striped ? i * X * Y * Z + tilescope_thread() : tilescope_thread() * N + i;
      if (at < valid) tilescope_store(pc, &to[at], items[i]);
    }
  }
};
// Sorts by ranks: each thread counts the keys before its own. The real one counts digits.
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
// Counts in memory that all threads of the block see, with atomics.
template <class T, int X, int N, int BINS, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int Y = 1, int Z = 1, int = 0> class BlockHistogram {
 public:
  struct TempStorage {};
  TILESCOPE_HELPER BlockHistogram() {}
  TILESCOPE_HELPER explicit BlockHistogram(TempStorage&) {}
  template <class C> TILESCOPE_CALL void InitHistogram(C (&counts)[BINS]) { clear(TILESCOPE_PC, counts); }
  template <class C> TILESCOPE_CALL void Composite(T (&items)[N], C (&counts)[BINS]) { add(TILESCOPE_PC, items, counts); }
  template <class C> TILESCOPE_CALL void Histogram(T (&items)[N], C (&counts)[BINS]) {
    clear(TILESCOPE_PC, counts);
    tilescope_barrier(TILESCOPE_PC, TILESCOPE_SYNC, 0);
    add(TILESCOPE_PC, items, counts);
  }

 private:
  template <class C> TILESCOPE_HELPER void clear(void* pc, C* counts) {
    for (int i = tilescope_thread(); i < BINS; i += X * Y * Z) tilescope_store(pc, counts + i, C(0));
  }
  template <class C> TILESCOPE_HELPER void add(void* pc, T* items, C* counts) {
    for (int i = 0; i < N; i++) {
      tilescope_access(pc, counts + items[i], sizeof(C), TILESCOPE_REDUCTION);
      counts[items[i]]++;
    }
  }
};

template <class K, int X, int N, class V = NullType, int = 4, bool = true, int = 0, int = 0, int Y = 1, int Z = 1> class BlockRadixSort {
 public:
  struct TempStorage {
    K keys[X * Y * Z * N];
    V values[std::is_same<V, NullType>::value ? 1 : X * Y * Z * N];
  };
  TILESCOPE_HELPER BlockRadixSort(TempStorage& storage) : storage_(storage) {}
  TILESCOPE_CALL void Sort(K (&keys)[N]) { sort(TILESCOPE_PC, keys, nullptr, false, false); }
  TILESCOPE_CALL void Sort(K (&keys)[N], V (&values)[N]) { sort(TILESCOPE_PC, keys, values, false, false); }
  TILESCOPE_CALL void SortDescending(K (&keys)[N]) { sort(TILESCOPE_PC, keys, nullptr, true, false); }
  TILESCOPE_CALL void SortDescending(K (&keys)[N], V (&values)[N]) { sort(TILESCOPE_PC, keys, values, true, false); }
  TILESCOPE_CALL void SortBlockedToStriped(K (&keys)[N]) { sort(TILESCOPE_PC, keys, nullptr, false, true); }
  TILESCOPE_CALL void SortBlockedToStriped(K (&keys)[N], V (&values)[N]) { sort(TILESCOPE_PC, keys, values, false, true); }

 private:
  TempStorage& storage_;
  TILESCOPE_HELPER void sort(void* pc, K* keys, V* values, bool is_descending, bool is_striped) {
    const int threads = X * Y * Z;
    int thread = tilescope_thread(), ranks[N];
    for (int i = 0; i < N; i++) tilescope_store(pc, &storage_.keys[thread * N + i], keys[i]);
    tilescope_barrier(pc, TILESCOPE_SYNC, 0);
    for (int i = 0; i < N; i++) {
      ranks[i] = 0;
      for (int k = 0; k < threads * N; k++) {
        const K& key = storage_.keys[k];
        bool is_before = is_descending ? keys[i] < key : key < keys[i], is_after = is_descending ? key < keys[i] : keys[i] < key;
        ranks[i] += is_before || (!is_after && k < thread * N + i);
      }
    }
    tilescope_barrier(pc, TILESCOPE_SYNC, 0);
    for (int i = 0; i < N; i++) {
      tilescope_store(pc, &storage_.keys[ranks[i]], keys[i]);
      if (values) tilescope_store(pc, &storage_.values[ranks[i]], values[i]);
    }
    tilescope_barrier(pc, TILESCOPE_SYNC, 0);
    for (int i = 0; i < N; i++) {
      int at = is_striped ? i * threads + thread : thread * N + i;
      keys[i] = tilescope_load(pc, &storage_.keys[at]);
      if (values) values[i] = tilescope_load(pc, &storage_.values[at]);
    }
  }
};

// --- iterators
template <class Value, class F> struct tilescope_input {
  typedef std::random_access_iterator_tag iterator_category;
  typedef Value value_type;
  typedef ptrdiff_t difference_type;
  typedef const Value* pointer;
  typedef Value reference;
  F at;
  ptrdiff_t place = 0;
  Value operator*() const { return at(place); }
  Value operator[](ptrdiff_t i) const { return at(place + i); }
  tilescope_input operator+(ptrdiff_t n) const { return {at, place + n}; }
  tilescope_input& operator++() { ++place; return *this; }
  tilescope_input& operator+=(ptrdiff_t n) { place += n; return *this; }
  ptrdiff_t operator-(const tilescope_input& other) const { return place - other.place; }
  bool operator==(const tilescope_input& other) const { return place == other.place; }
  bool operator!=(const tilescope_input& other) const { return place != other.place; }
};
template <class T> struct tilescope_counted { T first; T operator()(ptrdiff_t i) const { return first + (T)i; } };
template <class T> struct tilescope_same { T value; T operator()(ptrdiff_t) const { return value; } };
template <class V, class F, class I> struct tilescope_mapped { I in; F function; V operator()(ptrdiff_t i) const { return function(in[i]); } };
template <class T, class = ptrdiff_t> struct CountingInputIterator : tilescope_input<T, tilescope_counted<T>> {
  CountingInputIterator(T first) : tilescope_input<T, tilescope_counted<T>>{{first}} {}
};
template <class T, class = ptrdiff_t> struct ConstantInputIterator : tilescope_input<T, tilescope_same<T>> {
  ConstantInputIterator(T value) : tilescope_input<T, tilescope_same<T>>{{value}} {}
};
template <class V, class F, class I, class = ptrdiff_t> struct TransformInputIterator : tilescope_input<V, tilescope_mapped<V, F, I>> {
  TransformInputIterator(I in, F function) : tilescope_input<V, tilescope_mapped<V, F, I>>{{in, function}} {}
};
template <class T> struct DoubleBuffer {
  T* d_buffers[2];
  int selector = 0;
  DoubleBuffer() : d_buffers{nullptr, nullptr} {}
  DoubleBuffer(T* current, T* other) : d_buffers{current, other} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

// --- the device. The first call, without memory, gives the bytes that the second one wants.
template <class I> using tilescope_type = typename std::iterator_traits<I>::value_type;
inline bool tilescope_asks(void* memory, size_t& bytes) {
  if (!memory) bytes = 1024;
  return !memory;
}
#define TILESCOPE_STORAGE if (tilescope_asks(memory, bytes)) return cudaSuccess;
template <class I> inline cudaError_t tilescope_done(I) { return tilescope_result(cudaSuccess); }
template <class T> inline cudaError_t tilescope_done(T* out) { tilescope_touch((const void*)out); return tilescope_result(cudaSuccess); }
struct DeviceReduce {
  template <class I, class O, class F, class T> static cudaError_t Reduce(void* memory, size_t& bytes, I in, O out, size_t n, F op, T init, cudaStream_t = nullptr) {
    TILESCOPE_STORAGE
    T total = init;
    for (size_t i = 0; i < n; i++) total = op(total, in[i]);
    out[0] = total;
    return tilescope_done(out);
  }
  template <class I, class O> static cudaError_t Sum(void* memory, size_t& bytes, I in, O out, size_t n, cudaStream_t = nullptr) {
    return Reduce(memory, bytes, in, out, n, cub::Sum(), tilescope_type<O>());
  }
  template <class I, class O> static cudaError_t Max(void* memory, size_t& bytes, I in, O out, size_t n, cudaStream_t = nullptr) {
    return Reduce(memory, bytes, in, out, n, cub::Max(), std::numeric_limits<tilescope_type<I>>::lowest());
  }
  template <class I, class O> static cudaError_t Min(void* memory, size_t& bytes, I in, O out, size_t n, cudaStream_t = nullptr) {
    return Reduce(memory, bytes, in, out, n, cub::Min(), std::numeric_limits<tilescope_type<I>>::max());
  }
  template <class I, class O> static cudaError_t ArgMax(void* memory, size_t& bytes, I in, O out, size_t n, cudaStream_t = nullptr) {
    return best(memory, bytes, in, out, n, [](const auto& a, const auto& b) { return a > b; });
  }
  template <class I, class O> static cudaError_t ArgMin(void* memory, size_t& bytes, I in, O out, size_t n, cudaStream_t = nullptr) {
    return best(memory, bytes, in, out, n, [](const auto& a, const auto& b) { return a < b; });
  }
  template <class K, class U, class V, class A, class C, class F>
  static cudaError_t ReduceByKey(void* memory, size_t& bytes, K keys, U unique, V values, A sums, C count, F op, size_t n, cudaStream_t = nullptr) {
    TILESCOPE_STORAGE
    size_t groups = 0;
    for (size_t i = 0; i < n; groups++) {
      auto key = keys[i];
      auto total = values[i];
      for (i++; i < n && keys[i] == key; i++) total = op(total, values[i]);
      unique[groups] = key, sums[groups] = total;
    }
    *count = groups;
    tilescope_done(unique), tilescope_done(sums);
    return tilescope_done(count);
  }

 private:
  template <class I, class O, class F> static cudaError_t best(void* memory, size_t& bytes, I in, O out, size_t n, F is_better) {
    TILESCOPE_STORAGE
    size_t at = 0;
    for (size_t i = 1; i < n; i++) if (is_better(in[i], in[at])) at = i;
    out->key = at, out->value = in[at];
    return tilescope_done(out);
  }
};
struct DeviceSegmentedReduce {
  template <class I, class O, class B, class E> static cudaError_t Sum(void* memory, size_t& bytes, I in, O out, int segments, B begins, E ends, cudaStream_t = nullptr) {
    return Reduce(memory, bytes, in, out, segments, begins, ends, cub::Sum(), tilescope_type<I>());
  }
  template <class I, class O, class B, class E, class F, class T>
  static cudaError_t Reduce(void* memory, size_t& bytes, I in, O out, int segments, B begins, E ends, F op, T init, cudaStream_t = nullptr) {
    TILESCOPE_STORAGE
    for (int s = 0; s < segments; s++) {
      T total = init;
      for (auto i = begins[s]; i < ends[s]; i++) total = op(total, in[i]);
      out[s] = total;
    }
    return tilescope_done(out);
  }
};
struct DeviceScan {
  template <class I, class O, class F> static cudaError_t InclusiveScan(void* memory, size_t& bytes, I in, O out, F op, size_t n, cudaStream_t = nullptr) {
    TILESCOPE_STORAGE
    tilescope_type<I> total{};
    for (size_t i = 0; i < n; i++) total = i ? op(total, in[i]) : in[i], out[i] = total;
    return tilescope_done(out);
  }
  template <class I, class O, class F, class T> static cudaError_t ExclusiveScan(void* memory, size_t& bytes, I in, O out, F op, T init, size_t n, cudaStream_t = nullptr) {
    TILESCOPE_STORAGE
    T total = init;
    for (size_t i = 0; i < n; i++) {
      T next = op(total, in[i]);
      out[i] = total, total = next;
    }
    return tilescope_done(out);
  }
  template <class I, class O> static cudaError_t InclusiveSum(void* memory, size_t& bytes, I in, O out, size_t n, cudaStream_t = nullptr) { return InclusiveScan(memory, bytes, in, out, cub::Sum(), n); }
  template <class I, class O> static cudaError_t ExclusiveSum(void* memory, size_t& bytes, I in, O out, size_t n, cudaStream_t = nullptr) { return ExclusiveScan(memory, bytes, in, out, cub::Sum(), tilescope_type<I>(), n); }
};
struct DeviceRadixSort {
  template <class K, class N> static cudaError_t SortKeys(void* memory, size_t& bytes, const K* in, K* out, N n, int low = 0, int high = sizeof(K) * 8, cudaStream_t = nullptr) {
    return sort<K, NullType>(memory, bytes, in, out, nullptr, nullptr, n, low, high, false);
  }
  template <class K, class N> static cudaError_t SortKeysDescending(void* memory, size_t& bytes, const K* in, K* out, N n, int low = 0, int high = sizeof(K) * 8, cudaStream_t = nullptr) {
    return sort<K, NullType>(memory, bytes, in, out, nullptr, nullptr, n, low, high, true);
  }
  template <class K, class V, class N>
  static cudaError_t SortPairs(void* memory, size_t& bytes, const K* in, K* out, const V* values, V* values_out, N n, int low = 0, int high = sizeof(K) * 8, cudaStream_t = nullptr) {
    return sort(memory, bytes, in, out, values, values_out, n, low, high, false);
  }
  template <class K, class V, class N>
  static cudaError_t SortPairsDescending(void* memory, size_t& bytes, const K* in, K* out, const V* values, V* values_out, N n, int low = 0, int high = sizeof(K) * 8, cudaStream_t = nullptr) {
    return sort(memory, bytes, in, out, values, values_out, n, low, high, true);
  }
  template <class K, class N> static cudaError_t SortKeys(void* memory, size_t& bytes, DoubleBuffer<K>& keys, N n, int low = 0, int high = sizeof(K) * 8, cudaStream_t = nullptr) {
    cudaError_t error = sort<K, NullType>(memory, bytes, keys.Current(), keys.Alternate(), nullptr, nullptr, n, low, high, false);
    if (memory) keys.selector ^= 1;
    return error;
  }
  template <class K, class V, class N>
  static cudaError_t SortPairs(void* memory, size_t& bytes, DoubleBuffer<K>& keys, DoubleBuffer<V>& values, N n, int low = 0, int high = sizeof(K) * 8, cudaStream_t = nullptr) {
    cudaError_t error = sort(memory, bytes, keys.Current(), keys.Alternate(), values.Current(), values.Alternate(), n, low, high, false);
    if (memory) keys.selector ^= 1, values.selector ^= 1;
    return error;
  }

 private:
  // A key as an unsigned number with the same order.
  template <class K> static uint64_t digits(K key, int low, int high) {
    uint64_t bits = tilescope_bits(key), sign = 1ull << (sizeof(K) * 8 - 1);
    if (std::is_floating_point<K>::value) bits = bits & sign ? ~bits : bits | sign;
    else if (std::is_signed<K>::value) bits ^= sign;
    if (high < 64) bits &= (1ull << high) - 1;
    return bits >> low;
  }
  template <class K, class V>
  static cudaError_t sort(void* memory, size_t& bytes, const K* in, K* out, const V* values, V* values_out, size_t n, int low, int high, bool is_descending) {
    TILESCOPE_STORAGE
    std::vector<size_t> order(n);
    for (size_t i = 0; i < n; i++) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return is_descending ? digits(in[a], low, high) > digits(in[b], low, high) : digits(in[a], low, high) < digits(in[b], low, high);
    });
    for (size_t i = 0; i < n; i++) {
      out[i] = in[order[i]];
      if (values) values_out[i] = values[order[i]];
    }
    if (values) tilescope_done(values_out);
    return tilescope_done(out);
  }
};
struct DeviceMergeSort {
  template <class I, class N, class F> static cudaError_t SortKeys(void* memory, size_t& bytes, I keys, N n, F before, cudaStream_t = nullptr) {
    TILESCOPE_STORAGE
    std::stable_sort(keys, keys + n, before);
    return tilescope_done(keys);
  }
};
struct DeviceSelect {
  template <class I, class O, class C, class F> static cudaError_t If(void* memory, size_t& bytes, I in, O out, C count, size_t n, F is_selected, cudaStream_t = nullptr) {
    TILESCOPE_STORAGE
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) if (is_selected(in[i])) out[kept++] = in[i];
    *count = kept;
    tilescope_done(count);
    return tilescope_done(out);
  }
  template <class I, class G, class O, class C> static cudaError_t Flagged(void* memory, size_t& bytes, I in, G flags, O out, C count, size_t n, cudaStream_t = nullptr) {
    TILESCOPE_STORAGE
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) if (flags[i]) out[kept++] = in[i];
    *count = kept;
    tilescope_done(count);
    return tilescope_done(out);
  }
  template <class I, class O, class C> static cudaError_t Unique(void* memory, size_t& bytes, I in, O out, C count, size_t n, cudaStream_t = nullptr) {
    TILESCOPE_STORAGE
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) if (!i || !(in[i] == in[i - 1])) out[kept++] = in[i];
    *count = kept;
    tilescope_done(count);
    return tilescope_done(out);
  }
};
struct DeviceRunLengthEncode {
  template <class I, class U, class L, class C> static cudaError_t Encode(void* memory, size_t& bytes, I in, U unique, L lengths, C count, size_t n, cudaStream_t = nullptr) {
    return DeviceReduce::ReduceByKey(memory, bytes, in, unique, ConstantInputIterator<int>(1), lengths, count, cub::Sum(), n);
  }
};
struct DeviceHistogram {
  template <class I, class C, class L> static cudaError_t HistogramEven(void* memory, size_t& bytes, I in, C* counts, int levels, L low, L high, size_t n, cudaStream_t = nullptr) {
    TILESCOPE_STORAGE
    int bins = levels - 1;
    for (int b = 0; b < bins; b++) counts[b] = 0;
    for (size_t i = 0; i < n; i++) {
      if (in[i] < low || !(in[i] < high)) continue;
      int bin = (int)((double)(in[i] - low) * bins / (high - low));
      counts[bin < bins ? bin : bins - 1]++;
    }
    return tilescope_done(counts);
  }
};
#undef TILESCOPE_STORAGE
}  // namespace cub
#define CUB_VERSION 300000

// What programs use around CUB's algorithms.
namespace cub {
TILESCOPE_HELPER inline unsigned LaneId() { return tilescope_lane(); }
TILESCOPE_HELPER inline unsigned WarpId() { return tilescope_thread() / 32; }
}  // namespace cub
#define CubDebug(call) (call)
#define CubDebugExit(call)                                                                          \
  do {                                                                                              \
    if (cudaError_t tilescope_result_of_call = (call)) {                                            \
      fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", (int)tilescope_result_of_call, __FILE__, __LINE__, cudaGetErrorString(tilescope_result_of_call)); \
      exit(1);                                                                                      \
    }                                                                                               \
  } while (0)
