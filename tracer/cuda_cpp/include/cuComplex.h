// Complex numbers (CUDA's cuComplex.h).
#pragma once
#define TILESCOPE_COMPLEX(C, R, c, f)                                                                \
  TILESCOPE_FUNCTION C make_##C(R x, R y) { return C{x, y}; }                                        \
  TILESCOPE_FUNCTION R c##real##f(C a) { return a.x; }                                               \
  TILESCOPE_FUNCTION R c##imag##f(C a) { return a.y; }                                               \
  TILESCOPE_FUNCTION C c##onj##f(C a) { return C{a.x, -a.y}; }                                       \
  TILESCOPE_FUNCTION C c##add##f(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                       \
  TILESCOPE_FUNCTION C c##sub##f(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                       \
  TILESCOPE_FUNCTION C c##mul##f(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  TILESCOPE_FUNCTION C c##div##f(C a, C b) {                                                         \
    R size = b.x * b.x + b.y * b.y;                                                                  \
    return C{(a.x * b.x + a.y * b.y) / size, (a.y * b.x - a.x * b.y) / size};                        \
  }                                                                                                  \
  TILESCOPE_FUNCTION R c##abs##f(C a) { return std::hypot(a.x, a.y); }                               \
  TILESCOPE_FUNCTION C c##fma##f(C a, C b, C d) { return c##add##f(c##mul##f(a, b), d); }
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
TILESCOPE_COMPLEX(cuFloatComplex, float, cuC, f)
TILESCOPE_COMPLEX(cuDoubleComplex, double, cuC, )
#undef TILESCOPE_COMPLEX
TILESCOPE_FUNCTION cuComplex make_cuComplex(float x, float y) { return {x, y}; }
TILESCOPE_FUNCTION cuDoubleComplex cuComplexFloatToDouble(cuComplex a) { return {a.x, a.y}; }
TILESCOPE_FUNCTION cuComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return {(float)a.x, (float)a.y}; }
