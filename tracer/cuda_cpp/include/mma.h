// Matrix fragments of a warp (CUDA C++ Programming Guide, "Warp Matrix Functions"). Which thread holds which element is
// not specified; here a thread holds pairs of a row, and the pairs of a matrix go to the threads in turn.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "tilescope/exchange.h"
namespace nvcuda {
namespace wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
template <class T> struct tilescope_element { typedef T type; };
template <> struct tilescope_element<precision::tf32> { typedef float type; };
template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
  typedef typename tilescope_element<T>::type element_type;
  static constexpr int rows = std::is_same<Use, matrix_b>::value ? K : M, columns = std::is_same<Use, matrix_a>::value ? K : N;
  static constexpr bool is_by_columns = std::is_same<Layout, col_major>::value;
  static constexpr int num_elements = rows * columns / 32, num_storage_elements = num_elements;
  element_type x[num_elements];
  // Pairs lie along the direction of a load: its elements are neighbours in memory.
  TILESCOPE_HELPER static int line(int element, int lane) { return tilescope_at(element, lane) / (is_by_columns ? rows : columns); }
  TILESCOPE_HELPER static int offset(int element, int lane) { return tilescope_at(element, lane) % (is_by_columns ? rows : columns); }
  TILESCOPE_HELPER static int tilescope_at(int element, int lane) {
    return num_elements % 2 ? element * 32 + lane : (element / 2 * 32 + lane) * 2 + element % 2;
  }
};
template <class F, class T> TILESCOPE_HELPER inline void fill_fragment(F& target, T value) {
  for (auto& x : target.x) x = typename F::element_type(value);
}
template <class F> TILESCOPE_HELPER inline void tilescope_load_lines(void* pc, F& target, const typename F::element_type* from, unsigned stride) {
  constexpr int unit = F::num_elements % 2 ? 1 : 2;
  int lane = (int)tilescope_lane();
  for (int i = 0; i < F::num_elements; i += unit) {
    tilescope_memcpy(pc, &target.x[i], from + (size_t)F::line(i, lane) * stride + F::offset(i, lane), unit * sizeof target.x[0]);
  }
}
template <class Use, int M, int N, int K, class T, class Layout>
TILESCOPE_CALL void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& target, const typename tilescope_element<T>::type* from, unsigned stride) {
  tilescope_load_lines(TILESCOPE_PC, target, from, stride);
}
// Accumulators: pairs along rows, whichever the layout in memory is.
template <int M, int N, int K, class T>
TILESCOPE_CALL void load_matrix_sync(fragment<accumulator, M, N, K, T>& target, const T* from, unsigned stride, layout_t layout) {
  typedef fragment<accumulator, M, N, K, T> F;
  if (layout == mem_row_major) {
    tilescope_load_lines(TILESCOPE_PC, target, from, stride);
    return;
  }
  int lane = (int)tilescope_lane();
  for (int i = 0; i < F::num_elements; i++) tilescope_memcpy(TILESCOPE_PC, &target.x[i], from + (size_t)F::offset(i, lane) * stride + F::line(i, lane), sizeof(T));
}
template <int M, int N, int K, class T>
TILESCOPE_CALL void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& source, unsigned stride, layout_t layout) {
  typedef fragment<accumulator, M, N, K, T> F;
  int lane = (int)tilescope_lane(), unit = layout == mem_row_major && F::num_elements % 2 == 0 ? 2 : 1;
  for (int i = 0; i < F::num_elements; i += unit) {
    int row = F::line(i, lane), column = F::offset(i, lane);
    tilescope_memcpy(TILESCOPE_PC, to + (layout == mem_row_major ? (size_t)row * stride + column : (size_t)column * stride + row), &source.x[i], unit * sizeof(T));
  }
}
TILESCOPE_FUNCTION float __float_to_tf32(float v) {
  unsigned bits = (unsigned)tilescope_bits(v);
  return tilescope_value<float>((bits + 0x1000) & ~0x1fffu);
}
template <class T> TILESCOPE_HELPER inline double tilescope_number(const T& value) {
  if constexpr (std::is_arithmetic<T>::value) return (double)value;
  else return value.value();
}
// Element (row, column) of a matrix whose fragments the threads of a warp hold.
template <class F> TILESCOPE_HELPER inline double tilescope_element_of(const F* const* parts, int row, int column) {
  int at = F::is_by_columns ? column * F::rows + row : row * F::columns + column;
  if (F::num_elements % 2) return tilescope_number(parts[at % 32]->x[at / 32]);
  return tilescope_number(parts[at / 2 % 32]->x[at / 64 * 2 + at % 2]);
}
// Products are exact and sums are rounded once for each element, so the last bits differ from a tensor core's.
template <int M, int N, int K, class D, class T, class LA, class LB, class C>
TILESCOPE_CALL void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, T, LA>& a, const fragment<matrix_b, M, N, K, T, LB>& b,
                             const fragment<accumulator, M, N, K, C>& c, bool = false) {
  typedef fragment<matrix_a, M, N, K, T, LA> A;
  typedef fragment<matrix_b, M, N, K, T, LB> B;
  struct Table { const A* a[32]; const B* b[32]; } own;
  void* pc = TILESCOPE_PC;
  int lane = (int)tilescope_lane();
  // Stacks of all threads are in one address space: the first thread's table holds the places of all fragments.
  Table* table = tilescope_value<Table*>(tilescope_shuffle(pc, 0xffffffffu, tilescope_bits(&own), 0));
  table->a[lane] = &a, table->b[lane] = &b;
  tilescope_syncwarp(pc, 0xffffffffu);
  typename tilescope_element<D>::type sums[fragment<accumulator, M, N, K, D>::num_elements];
  for (int i = 0; i < d.num_elements; i++) {
    int row = d.line(i, lane), column = d.offset(i, lane);
    double sum = tilescope_number(c.x[i]);
    for (int k = 0; k < K; k++) sum += tilescope_element_of<A>(table->a, row, k) * tilescope_element_of<B>(table->b, k, column);
    if constexpr (std::is_integral<D>::value) sums[i] = (D)(long long)sum;
    else sums[i] = typename tilescope_element<D>::type(sum);
  }
  tilescope_syncwarp(pc, 0xffffffffu);
  for (int i = 0; i < d.num_elements; i++) d.x[i] = sums[i];
}
}  // namespace wmma
}  // namespace nvcuda
