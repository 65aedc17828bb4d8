// Fourier transforms (cuFFT): Cooley and Tukey's algorithm for any factors, in double precision. Results differ from a GPU's in rounding.
#pragma once
#define _CUFFT_H_
#include <vector>

#include "cuComplex.h"

typedef enum {
  CUFFT_SUCCESS = 0, CUFFT_INVALID_PLAN = 1, CUFFT_ALLOC_FAILED = 2, CUFFT_INVALID_TYPE = 3, CUFFT_INVALID_VALUE = 4, CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6, CUFFT_SETUP_FAILED = 7, CUFFT_INVALID_SIZE = 8, CUFFT_UNALIGNED_DATA = 9
} cufftResult;
typedef enum { CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c, CUFFT_C2C = 0x29, CUFFT_D2Z = 0x6a, CUFFT_Z2D = 0x6c, CUFFT_Z2Z = 0x69 } cufftType;
typedef cufftResult cufftResult_t;
typedef cufftType cufftType_t;
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
#define CUFFT_FORWARD (-1)
#define CUFFT_INVERSE 1

struct TilescopeFourierPlan {
  std::vector<int> size, in_size, out_size;
  cufftType type;
  int in_step, in_distance, out_step, out_distance, batches;
  cudaStream_t stream = nullptr;
};
inline std::vector<TilescopeFourierPlan*>& tilescope_fourier_plans() {
  static std::vector<TilescopeFourierPlan*> plans(1, nullptr);  // 0 is no plan
  return plans;
}
TILESCOPE_HELPER inline TilescopeFourierPlan* tilescope_fourier_plan(cufftHandle plan) {
  auto& plans = tilescope_fourier_plans();
  return plan > 0 && (size_t)plan < plans.size() ? plans[plan] : nullptr;
}
inline cufftResult cufftCreate(cufftHandle* plan) {
  tilescope_start();
  *plan = (int)tilescope_fourier_plans().size();
  tilescope_fourier_plans().push_back(new TilescopeFourierPlan());
  return CUFFT_SUCCESS;
}
inline cufftResult cufftMakePlanMany(cufftHandle handle, int rank, int* n, int* in, int in_step, int in_distance, int* out, int out_step, int out_distance, cufftType type, int batches, size_t* work) {
  TilescopeFourierPlan* plan = tilescope_fourier_plan(handle);
  if (!plan) return CUFFT_INVALID_PLAN;
  if (rank < 1 || rank > 3 || batches < 1) return CUFFT_INVALID_VALUE;
  for (int i = 0; i < rank; i++) if (n[i] < 1) return CUFFT_INVALID_SIZE;
  plan->size.assign(n, n + rank), plan->type = type, plan->batches = batches;
  for (auto* sizes : {&plan->in_size, &plan->out_size}) {  // of memory without gaps: half of the last dimension is not kept
    bool is_half = sizes == &plan->in_size ? type == CUFFT_C2R || type == CUFFT_Z2D : type == CUFFT_R2C || type == CUFFT_D2Z;
    *sizes = plan->size;
    if (is_half) sizes->back() = sizes->back() / 2 + 1;
    int count = 1;
    for (int length : *sizes) count *= length;
    (sizes == &plan->in_size ? plan->in_step : plan->out_step) = 1;
    (sizes == &plan->in_size ? plan->in_distance : plan->out_distance) = count;
  }
  if (in) plan->in_size.assign(in, in + rank), plan->in_step = in_step, plan->in_distance = in_distance;
  if (out) plan->out_size.assign(out, out + rank), plan->out_step = out_step, plan->out_distance = out_distance;
  if (work) *work = 0;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* in, int in_step, int in_distance, int* out, int out_step, int out_distance, cufftType type, int batches) {
  cufftCreate(plan);
  return cufftMakePlanMany(*plan, rank, n, in, in_step, in_distance, out, out_step, out_distance, type, batches, nullptr);
}
inline cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batches) { return cufftPlanMany(plan, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batches); }
inline cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  int n[] = {nx, ny};
  return cufftPlanMany(plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}
inline cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  int n[] = {nx, ny, nz};
  return cufftPlanMany(plan, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}
inline cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batches, size_t* work) { return cufftMakePlanMany(plan, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batches, work); }
inline cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* work) {
  int n[] = {nx, ny};
  return cufftMakePlanMany(plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, work);
}
inline cufftResult cufftDestroy(cufftHandle handle) {
  TilescopeFourierPlan* plan = tilescope_fourier_plan(handle);
  if (!plan) return CUFFT_INVALID_PLAN;
  tilescope_fourier_plans()[handle] = nullptr;
  delete plan;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  TilescopeFourierPlan* plan = tilescope_fourier_plan(handle);
  if (!plan) return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftGetVersion(int* version) { *version = 12000; return CUFFT_SUCCESS; }

// Transform n numbers, `step` apart, into `out`; roots: the `all` roots of 1.
TILESCOPE_HELPER inline void tilescope_fourier(const double2* in, size_t step, double2* out, size_t n, const double2* roots, size_t all) {
  if (n == 1) { *out = *in; return; }
  size_t factor = 2;
  while (factor * factor <= n && n % factor) factor++;
  if (n % factor) factor = n;
  size_t part = n / factor;
  for (size_t q = 0; q < factor; q++) tilescope_fourier(in + q * step, step * factor, out + q * part, part, roots, all);
  double2* terms = (double2*)malloc(factor * sizeof(double2));
  for (size_t k = 0; k < part; k++) {
    for (size_t q = 0; q < factor; q++) terms[q] = out[q * part + k];
    for (size_t j = 0; j < factor; j++) {
      double2 sum = {0, 0};
      for (size_t q = 0; q < factor; q++) {
        double2 root = roots[q * (k + j * part) % n * (all / n)];
        sum.x += terms[q].x * root.x - terms[q].y * root.y, sum.y += terms[q].x * root.y + terms[q].y * root.x;
      }
      out[j * part + k] = sum;
    }
  }
  free(terms);
}
// Transform an array along each of its dimensions, in place.
TILESCOPE_HELPER inline void tilescope_fourier_all(double2* data, const int* size, int rank, int direction) {
  size_t count = 1, step = 1;
  for (int d = 0; d < rank; d++) count *= size[d];
  for (int d = rank - 1; d >= 0; d--) {
    size_t n = size[d];
    double2 *line = (double2*)malloc(2 * n * sizeof(double2)), *roots = line + n;
    for (size_t i = 0; i < n; i++) roots[i] = double2{std::cos(2 * M_PI * i / n), direction * std::sin(2 * M_PI * i / n)};
    for (size_t first = 0; first < count; first++) {
      if (first / step % n) continue;
      tilescope_fourier(data + first, step, line, n, roots, n);
      for (size_t i = 0; i < n; i++) data[first + i * step] = line[i];
    }
    free(line);
    step *= n;
  }
}
TILESCOPE_HELPER inline double2 tilescope_complex(float value) { return double2{value, 0}; }
TILESCOPE_HELPER inline double2 tilescope_complex(double value) { return double2{value, 0}; }
TILESCOPE_HELPER inline double2 tilescope_complex(float2 value) { return double2{value.x, value.y}; }
TILESCOPE_HELPER inline double2 tilescope_complex(double2 value) { return value; }
TILESCOPE_HELPER inline void tilescope_set(float& target, double2 value) { target = (float)value.x; }
TILESCOPE_HELPER inline void tilescope_set(double& target, double2 value) { target = value.x; }
TILESCOPE_HELPER inline void tilescope_set(float2& target, double2 value) { target = float2{(float)value.x, (float)value.y}; }
TILESCOPE_HELPER inline void tilescope_set(double2& target, double2 value) { target = value; }

template <class I, class O>
TILESCOPE_HELPER inline cufftResult tilescope_transform(cufftHandle handle, cufftType type, I* in, O* out, int direction) {
  TilescopeFourierPlan* plan = tilescope_fourier_plan(handle);
  if (!plan) return CUFFT_INVALID_PLAN;
  if (plan->type != type || !in || !out) return CUFFT_INVALID_VALUE;
  if (tilescope_capture(plan->stream, cudaGraphNodeTypeKernel, [=] { tilescope_transform(handle, type, in, out, direction); })) return CUFFT_SUCCESS;
  int rank = (int)plan->size.size(), n[3], in_size[3], out_size[3];
  for (int d = 0; d < rank; d++) n[d] = plan->size[d], in_size[d] = plan->in_size[d], out_size[d] = plan->out_size[d];
  bool from_half = type == CUFFT_C2R || type == CUFFT_Z2D, to_half = type == CUFFT_R2C || type == CUFFT_D2Z;
  size_t count = 1;
  for (int d = 0; d < rank; d++) count *= n[d];
  // A real array that is transformed in place has lines of 2 * (n / 2 + 1) numbers.
  if ((const void*)in == (const void*)out && to_half && in_size[rank - 1] == n[rank - 1]) in_size[rank - 1] = 2 * (n[rank - 1] / 2 + 1);
  if ((const void*)in == (const void*)out && from_half && out_size[rank - 1] == n[rank - 1]) out_size[rank - 1] = 2 * (n[rank - 1] / 2 + 1);
  double2* data = (double2*)malloc(count * sizeof(double2));
  for (int pass = 0; pass < 2 * plan->batches; pass++) {
    int batch = pass / 2;
    bool is_in = pass % 2 == 0;
    for (size_t i = 0; i < count; i++) {
      int at[3];
      size_t rest = i, index = 0;
      for (int d = rank - 1; d >= 0; d--) at[d] = (int)(rest % n[d]), rest /= n[d];
      bool is_mirrored = is_in && from_half && at[rank - 1] > n[rank - 1] / 2;  // the conjugate of the opposite number
      if (is_mirrored) for (int d = 0; d < rank; d++) at[d] = (n[d] - at[d]) % n[d];
      if (!is_in && to_half && at[rank - 1] > n[rank - 1] / 2) continue;
      for (int d = 0; d < rank; d++) index = index * (is_in ? in_size : out_size)[d] + at[d];
      if (is_in) {
        data[i] = tilescope_complex(in[index * plan->in_step + (size_t)batch * plan->in_distance]);
        if (is_mirrored) data[i].y = -data[i].y;
      } else {
        tilescope_set(out[index * plan->out_step + (size_t)batch * plan->out_distance], data[i]);
      }
    }
    if (is_in) tilescope_fourier_all(data, n, rank, direction);
  }
  free(data);
  tilescope_touch(out);
  return CUFFT_SUCCESS;
}
inline cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) { return tilescope_transform(plan, CUFFT_C2C, in, out, direction); }
inline cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) { return tilescope_transform(plan, CUFFT_R2C, in, out, CUFFT_FORWARD); }
inline cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) { return tilescope_transform(plan, CUFFT_C2R, in, out, CUFFT_INVERSE); }
inline cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) { return tilescope_transform(plan, CUFFT_Z2Z, in, out, direction); }
inline cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) { return tilescope_transform(plan, CUFFT_D2Z, in, out, CUFFT_FORWARD); }
inline cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) { return tilescope_transform(plan, CUFFT_Z2D, in, out, CUFFT_INVERSE); }
