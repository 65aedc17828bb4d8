// Matrix fragments of a warp (CUDA C++ Programming Guide, "Warp Matrix Functions"). Which lane holds which element is not
// documented by CUDA and is our own choice here: a lane holds successive elements. Products are summed in float, in order.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "tilescope/exchange.h"

namespace nvcuda {
namespace wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}
template <class T> struct tilescope_storage { typedef T type; };
template <> struct tilescope_storage<precision::tf32> { typedef float type; };
template <class Use, int M, int N, int K> struct tilescope_shape { static constexpr int rows = M, columns = N; };
template <int M, int N, int K> struct tilescope_shape<matrix_a, M, N, K> { static constexpr int rows = M, columns = K; };
template <int M, int N, int K> struct tilescope_shape<matrix_b, M, N, K> { static constexpr int rows = K, columns = N; };

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
  static constexpr int rows = tilescope_shape<Use, M, N, K>::rows, columns = tilescope_shape<Use, M, N, K>::columns, num_elements = rows * columns / 32;
  static constexpr bool is_by_columns = std::is_same<Layout, col_major>::value;
  typedef typename tilescope_storage<T>::type element_type, storage_element_type;
  element_type x[num_elements];
  // The lane and the element of x for a row and a column.
  TILESCOPE_HELPER static int number(int row, int column) { return is_by_columns ? column * rows + row : row * columns + column; }
};
TILESCOPE_HELPER inline float tilescope_plain(half v) { return v.value(); }
TILESCOPE_HELPER inline float tilescope_plain(nv_bfloat16 v) { return v.value(); }
TILESCOPE_HELPER inline float tilescope_plain(float v) { return v; }
TILESCOPE_HELPER inline double tilescope_plain(double v) { return v; }
TILESCOPE_HELPER inline int tilescope_plain(signed char v) { return v; }
TILESCOPE_HELPER inline int tilescope_plain(unsigned char v) { return v; }
TILESCOPE_HELPER inline int tilescope_plain(int v) { return v; }
// TF32 has 10 bits of mantissa.
TILESCOPE_HELPER inline float __float_to_tf32(float v) { return (float)tilescope_expand(tilescope_round(v, 8, 10), 8, 10); }

template <class F, class V> TILESCOPE_HELPER inline void fill_fragment(F& f, const V& value) {
  for (int i = 0; i < F::num_elements; i++) f.x[i] = typename F::element_type(value);
}
template <class F, class P> TILESCOPE_HELPER void tilescope_load_matrix(void* pc, F& f, P* from, unsigned leading, bool is_by_columns) {
  const int inner = F::is_by_columns ? F::rows : F::columns;
  for (int i = 0; i < F::num_elements;) {
    int number = tilescope_lane() * F::num_elements + i, line = number / inner, at = number % inner, count = 1;
    if (is_by_columns == F::is_by_columns) {  // as many neighbours as a request of 16 bytes takes
      count = inner - at < F::num_elements - i ? inner - at : F::num_elements - i;
      tilescope_memcpy(pc, &f.x[i], from + (size_t)line * leading + at, count * sizeof(*from));
    } else {
      tilescope_memcpy(pc, &f.x[i], from + (size_t)at * leading + line, sizeof(*from));
    }
    i += count;
  }
}
template <class F, class P> TILESCOPE_CALL auto load_matrix_sync(F& f, const P* from, unsigned leading) -> decltype((void)f.x) {
  tilescope_syncwarp(TILESCOPE_PC, 0xffffffffu);
  tilescope_load_matrix(TILESCOPE_PC, f, from, leading, F::is_by_columns);
}
template <class F, class P> TILESCOPE_CALL auto load_matrix_sync(F& f, const P* from, unsigned leading, layout_t layout) -> decltype((void)f.x) {
  tilescope_syncwarp(TILESCOPE_PC, 0xffffffffu);
  tilescope_load_matrix(TILESCOPE_PC, f, from, leading, layout == mem_col_major);
}
template <class P, class F> TILESCOPE_CALL auto store_matrix_sync(P* to, const F& f, unsigned leading, layout_t layout) -> decltype((void)f.x) {
  for (int i = 0; i < F::num_elements;) {
    int number = tilescope_lane() * F::num_elements + i, row = number / F::columns, column = number % F::columns, count = 1;
    if (layout == mem_row_major) {
      count = F::columns - column < F::num_elements - i ? F::columns - column : F::num_elements - i;
      tilescope_memcpy(TILESCOPE_PC, to + (size_t)row * leading + column, &f.x[i], count * sizeof(*to));
    } else {
      tilescope_memcpy(TILESCOPE_PC, to + (size_t)column * leading + row, &f.x[i], sizeof(*to));
    }
    i += count;
  }
  tilescope_syncwarp(TILESCOPE_PC, 0xffffffffu);
}
template <int M, int N, int K, class T, class A, class B, class LA, class LB, class C>
TILESCOPE_CALL void mma_sync(fragment<accumulator, M, N, K, T>& d, const fragment<matrix_a, M, N, K, A, LA>& a, const fragment<matrix_b, M, N, K, B, LB>& b, const fragment<accumulator, M, N, K, C>& c) {
  typedef fragment<matrix_a, M, N, K, A, LA> FA;
  typedef fragment<matrix_b, M, N, K, B, LB> FB;
  typedef fragment<accumulator, M, N, K, T> FD;
  uint64_t all_a[32], all_b[32];
  tilescope_share(TILESCOPE_PC, 0xffffffffu, (uint64_t)&a, all_a);
  unsigned present = tilescope_share(TILESCOPE_PC, 0xffffffffu, (uint64_t)&b, all_b);
  typename FD::element_type results[FD::num_elements];
  for (int i = 0; i < FD::num_elements && present == 0xffffffffu; i++) {
    int number = tilescope_lane() * FD::num_elements + i, row = number / N, column = number % N;
    auto sum = tilescope_plain(c.x[i]);
    for (int k = 0; k < K; k++) {
      int ia = FA::number(row, k), ib = FB::number(k, column);
      sum += tilescope_plain(((const FA*)all_a[ia / FA::num_elements])->x[ia % FA::num_elements]) *
             tilescope_plain(((const FB*)all_b[ib / FB::num_elements])->x[ib % FB::num_elements]);
    }
    results[i] = typename FD::element_type(sum);
  }
  tilescope_syncwarp(TILESCOPE_PC, 0xffffffffu);  // all lanes have read the fragments
  for (int i = 0; i < FD::num_elements; i++) d.x[i] = results[i];
}
}  // namespace wmma
}  // namespace nvcuda
