// Linear algebra (cuBLAS): matrices by columns, sums in the order of their elements. Results differ from a GPU's in rounding.
#pragma once
#define CUBLAS_V2_H_
#define CUBLAS_API_H_
#include "cuComplex.h"
#include <vector>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "library_types.h"

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15, CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum { CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3 } cublasMath_t;
typedef enum { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_DFALT_TENSOR_OP = 99 } cublasGemmAlgo_t;
typedef enum { CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70 } cublasComputeType_t;
typedef struct cublasContext { cudaStream_t stream = nullptr; }* cublasHandle_t;
inline const char* cublasGetStatusString(cublasStatus_t status) { return status ? "an error of cuBLAS" : "success"; }
inline const char* cublasGetStatusName(cublasStatus_t status) { return status ? "CUBLAS_STATUS_INVALID_VALUE" : "CUBLAS_STATUS_SUCCESS"; }
inline cublasStatus_t cublasCreate(cublasHandle_t* handle) { tilescope_start(); *handle = new cublasContext(); return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) { delete handle; return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) { handle->stream = stream; return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) { *version = 130000; return CUBLAS_STATUS_SUCCESS; }

TILESCOPE_HELPER inline cublasStatus_t tilescope_copy_matrix(int rows, int columns, int size, const void* from, int from_rows, void* to, int to_rows) {
  if (rows < 0 || columns < 0 || size <= 0 || from_rows < rows || to_rows < rows) return CUBLAS_STATUS_INVALID_VALUE;
  for (int j = 0; j < columns; j++) memmove((char*)to + (size_t)j * to_rows * size, (const char*)from + (size_t)j * from_rows * size, (size_t)rows * size);
  tilescope_touch(to);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void* a, int lda, void* b, int ldb) { return tilescope_copy_matrix(rows, columns, size, a, lda, b, ldb); }
inline cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void* a, int lda, void* b, int ldb) { return tilescope_copy_matrix(rows, columns, size, a, lda, b, ldb); }
inline cublasStatus_t cublasSetVector(int n, int size, const void* x, int step, void* y, int to_step) { return tilescope_copy_matrix(1, n, size, x, step, y, to_step); }
inline cublasStatus_t cublasGetVector(int n, int size, const void* x, int step, void* y, int to_step) { return tilescope_copy_matrix(1, n, size, x, step, y, to_step); }

// The element of a vector with a step, which may be negative.
template <class T> TILESCOPE_HELPER T& tilescope_element(T* x, int n, int step, int i) { return x[step >= 0 ? (ptrdiff_t)i * step : (ptrdiff_t)(i - n + 1) * step]; }
TILESCOPE_HELPER inline bool tilescope_fits(cublasOperation_t op, int rows, int columns, int leading) { return leading >= (op == CUBLAS_OP_N ? rows : columns); }
TILESCOPE_HELPER inline void tilescope_multiply(bool ta, bool tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  tilescope_multiply_float(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
TILESCOPE_HELPER inline void tilescope_multiply(bool ta, bool tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  tilescope_multiply_double(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <class T>
TILESCOPE_HELPER cublasStatus_t tilescope_gemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || k < 0 || !tilescope_fits(ta, m, k, lda) || !tilescope_fits(tb, k, n, ldb) || ldc < m) return CUBLAS_STATUS_INVALID_VALUE;
  if (tilescope_capture(handle->stream, cudaGraphNodeTypeKernel, [=, alpha = *alpha, beta = *beta] { tilescope_gemm(handle, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc); })) return CUBLAS_STATUS_SUCCESS;
  tilescope_multiply(ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
  tilescope_touch(c);
  return CUBLAS_STATUS_SUCCESS;
}
// A matrix of any type as floats.
TILESCOPE_HELPER inline std::vector<float> tilescope_floats(const void* data, cudaDataType_t type, size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; i++) {
    values[i] = type == CUDA_R_32F ? ((const float*)data)[i] : type == CUDA_R_16F ? ((const half*)data)[i].value() : type == CUDA_R_16BF ? ((const nv_bfloat16*)data)[i].value() : (float)((const signed char*)data)[i];
  }
  return values;
}
TILESCOPE_HELPER inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const void* alpha, const void* a, cudaDataType_t a_type, int lda, const void* b, cudaDataType_t b_type, int ldb, const void* beta, void* c, cudaDataType_t c_type, int ldc, int compute, cublasGemmAlgo_t) {
  if (a_type == CUDA_R_64F) return tilescope_gemm(handle, ta, tb, m, n, k, (const double*)alpha, (const double*)a, lda, (const double*)b, ldb, (const double*)beta, (double*)c, ldc);
  bool is_half = compute == CUBLAS_COMPUTE_16F;
  float scale = is_half ? ((const half*)alpha)->value() : *(const float*)alpha, kept = is_half ? ((const half*)beta)->value() : *(const float*)beta;
  size_t c_count = (size_t)ldc * (n - 1) + m;
  std::vector<float> fa = tilescope_floats(a, a_type, (size_t)lda * ((ta == CUBLAS_OP_N ? k : m) - 1) + (ta == CUBLAS_OP_N ? m : k));
  std::vector<float> fb = tilescope_floats(b, b_type, (size_t)ldb * ((tb == CUBLAS_OP_N ? n : k) - 1) + (tb == CUBLAS_OP_N ? k : n)), fc = tilescope_floats(c, c_type, c_count);
  cublasStatus_t status = tilescope_gemm(handle, ta, tb, m, n, k, &scale, fa.data(), lda, fb.data(), ldb, &kept, fc.data(), ldc);
  for (size_t i = 0; i < c_count && i % ldc < (size_t)ldc; i++) {
    if (c_type == CUDA_R_32F) ((float*)c)[i] = fc[i];
    else if (c_type == CUDA_R_16F) ((half*)c)[i] = half(fc[i]);
    else if (c_type == CUDA_R_16BF) ((nv_bfloat16*)c)[i] = nv_bfloat16(fc[i]);
  }
  tilescope_touch(c);
  return status;
}
TILESCOPE_HELPER inline cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const half* alpha, const half* a, int lda, const half* b, int ldb, const half* beta, half* c, int ldc) {
  return cublasGemmEx(handle, ta, tb, m, n, k, alpha, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb, beta, c, CUDA_R_16F, ldc, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}
#define TILESCOPE_BLAS(P, T, asum_prefix)                                                           \
  inline cublasStatus_t cublas##P##gemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) { \
    return tilescope_gemm(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                 \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##gemmStridedBatched(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T* alpha, const T* a, int lda, long long sa, const T* b, int ldb, long long sb, const T* beta, T* c, int ldc, long long sc, int count) { \
    for (int i = 0; i < count; i++) {                                                               \
      if (cublasStatus_t s = tilescope_gemm(h, ta, tb, m, n, k, alpha, a + i * sa, lda, b + i * sb, ldb, beta, c + i * sc, ldc)) return s; \
    }                                                                                               \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##gemmBatched(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T* alpha, const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc, int count) { \
    for (int i = 0; i < count; i++) {                                                               \
      if (cublasStatus_t s = tilescope_gemm(h, ta, tb, m, n, k, alpha, a[i], lda, b[i], ldb, beta, c[i], ldc)) return s; \
    }                                                                                               \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##geam(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n, const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc) { \
    for (int j = 0; j < n; j++) {                                                                   \
      for (int i = 0; i < m; i++) {                                                                 \
        T x = *alpha == 0 ? 0 : *alpha * a[ta == CUBLAS_OP_N ? (size_t)j * lda + i : (size_t)i * lda + j]; \
        c[(size_t)j * ldc + i] = x + (*beta == 0 ? 0 : *beta * b[tb == CUBLAS_OP_N ? (size_t)j * ldb + i : (size_t)i * ldb + j]); \
      }                                                                                             \
    }                                                                                               \
    tilescope_touch(c);                                                                             \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##gemv(cublasHandle_t h, cublasOperation_t op, int m, int n, const T* alpha, const T* a, int lda, const T* x, int sx, const T* beta, T* y, int sy) { \
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;                                                   \
    if (lda < m || !sx || !sy) return CUBLAS_STATUS_INVALID_VALUE;                                  \
    int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;                      \
    for (int i = 0; i < rows; i++) {                                                                \
      T sum = 0;                                                                                    \
      for (int k = 0; k < columns; k++) sum += a[op == CUBLAS_OP_N ? (size_t)k * lda + i : (size_t)i * lda + k] * tilescope_element(x, columns, sx, k); \
      T& out = tilescope_element(y, rows, sy, i);                                                   \
      out = *alpha * sum + (*beta == 0 ? 0 : *beta * out);                                          \
    }                                                                                               \
    tilescope_touch(y);                                                                             \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##ger(cublasHandle_t, int m, int n, const T* alpha, const T* x, int sx, const T* y, int sy, T* a, int lda) { \
    for (int j = 0; j < n; j++) for (int i = 0; i < m; i++) a[(size_t)j * lda + i] += *alpha * tilescope_element(x, m, sx, i) * tilescope_element(y, n, sy, j); \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int sx, T* y, int sy) { \
    if (handle && tilescope_capture(handle->stream, cudaGraphNodeTypeKernel, [=, alpha = *alpha] { cublas##P##axpy(handle, n, &alpha, x, sx, y, sy); })) return CUBLAS_STATUS_SUCCESS; \
    for (int i = 0; i < n; i++) tilescope_element(y, n, sy, i) += *alpha * tilescope_element(x, n, sx, i); \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int sx) { \
    if (handle && tilescope_capture(handle->stream, cudaGraphNodeTypeKernel, [=, alpha = *alpha] { cublas##P##scal(handle, n, &alpha, x, sx); })) return CUBLAS_STATUS_SUCCESS; \
    for (int i = 0; i < n; i++) tilescope_element(x, n, sx, i) *= *alpha;                           \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##copy(cublasHandle_t, int n, const T* x, int sx, T* y, int sy) { \
    for (int i = 0; i < n; i++) tilescope_element(y, n, sy, i) = tilescope_element(x, n, sx, i);    \
    tilescope_touch(y);                                                                             \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##swap(cublasHandle_t, int n, T* x, int sx, T* y, int sy) { \
    for (int i = 0; i < n; i++) std::swap(tilescope_element(y, n, sy, i), tilescope_element(x, n, sx, i)); \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##dot(cublasHandle_t, int n, const T* x, int sx, const T* y, int sy, T* result) { \
    T sum = 0;                                                                                      \
    for (int i = 0; i < n; i++) sum += tilescope_element(x, n, sx, i) * tilescope_element(y, n, sy, i); \
    *result = sum;                                                                                  \
    tilescope_touch(result);                                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##nrm2(cublasHandle_t, int n, const T* x, int sx, T* result) { \
    double sum = 0;                                                                                 \
    for (int i = 0; i < n; i++) sum += (double)tilescope_element(x, n, sx, i) * tilescope_element(x, n, sx, i); \
    *result = (T)std::sqrt(sum);                                                                    \
    tilescope_touch(result);                                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublas##P##asum(cublasHandle_t, int n, const T* x, int sx, T* result) { \
    T sum = 0;                                                                                      \
    for (int i = 0; i < n; i++) sum += std::abs(tilescope_element(x, n, sx, i));                    \
    *result = sum;                                                                                  \
    tilescope_touch(result);                                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublasI##asum_prefix##amax(cublasHandle_t, int n, const T* x, int sx, int* result) { \
    int best = 0;                                                                                   \
    for (int i = 1; i < n; i++) if (std::abs(tilescope_element(x, n, sx, i)) > std::abs(tilescope_element(x, n, sx, best))) best = i; \
    *result = n > 0 ? best + 1 : 0;                                                                 \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }                                                                                                 \
  TILESCOPE_HELPER inline cublasStatus_t cublasI##asum_prefix##amin(cublasHandle_t, int n, const T* x, int sx, int* result) { \
    int best = 0;                                                                                   \
    for (int i = 1; i < n; i++) if (std::abs(tilescope_element(x, n, sx, i)) < std::abs(tilescope_element(x, n, sx, best))) best = i; \
    *result = n > 0 ? best + 1 : 0;                                                                 \
    return CUBLAS_STATUS_SUCCESS;                                                                   \
  }
TILESCOPE_BLAS(S, float, s) TILESCOPE_BLAS(D, double, d)
#undef TILESCOPE_BLAS
