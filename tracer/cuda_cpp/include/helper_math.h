// Arithmetic of vector types, as NVIDIA's samples define it.
#pragma once
typedef unsigned int uint;
typedef unsigned short ushort;
TILESCOPE_FUNCTION float lerp(float a, float b, float t) { return a + t * (b - a); }
TILESCOPE_FUNCTION float clamp(float v, float low, float high) { return std::fmax(low, std::fmin(v, high)); }
TILESCOPE_FUNCTION int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
TILESCOPE_FUNCTION unsigned clamp(unsigned v, unsigned low, unsigned high) { return v < low ? low : v > high ? high : v; }
// `each(i)` for the fields of a vector, in their order.
#define TILESCOPE_FIELDS2(each) {each(x), each(y)}
#define TILESCOPE_FIELDS3(each) {each(x), each(y), each(z)}
#define TILESCOPE_FIELDS4(each) {each(x), each(y), each(z), each(w)}
#define TILESCOPE_ADD(i) a.i + b.i
#define TILESCOPE_SUB(i) a.i - b.i
#define TILESCOPE_MUL(i) a.i * b.i
#define TILESCOPE_DIV(i) a.i / b.i
#define TILESCOPE_ADD_S(i) a.i + s
#define TILESCOPE_SUB_S(i) a.i - s
#define TILESCOPE_MUL_S(i) a.i * s
#define TILESCOPE_DIV_S(i) a.i / s
#define TILESCOPE_S_DIV(i) s / a.i
#define TILESCOPE_S_SUB(i) s - a.i
#define TILESCOPE_MINIMUM(i) (a.i < b.i ? a.i : b.i)
#define TILESCOPE_MAXIMUM(i) (a.i > b.i ? a.i : b.i)
#define TILESCOPE_CLAMP(i) clamp(a.i, low, high)
#define TILESCOPE_CLAMP_V(i) clamp(a.i, low.i, high.i)
#define TILESCOPE_NEGATE(i) -a.i
#define TILESCOPE_SAME(i) s
#define TILESCOPE_VECTOR_MATH(V, T, fields)                                                          \
  TILESCOPE_FUNCTION V make_##V(T s) { return fields(TILESCOPE_SAME); }                              \
  TILESCOPE_FUNCTION V operator+(V a, V b) { return fields(TILESCOPE_ADD); }                         \
  TILESCOPE_FUNCTION V operator-(V a, V b) { return fields(TILESCOPE_SUB); }                         \
  TILESCOPE_FUNCTION V operator*(V a, V b) { return fields(TILESCOPE_MUL); }                         \
  TILESCOPE_FUNCTION V operator/(V a, V b) { return fields(TILESCOPE_DIV); }                         \
  TILESCOPE_FUNCTION V operator+(V a, T s) { return fields(TILESCOPE_ADD_S); }                       \
  TILESCOPE_FUNCTION V operator-(V a, T s) { return fields(TILESCOPE_SUB_S); }                       \
  TILESCOPE_FUNCTION V operator*(V a, T s) { return fields(TILESCOPE_MUL_S); }                       \
  TILESCOPE_FUNCTION V operator/(V a, T s) { return fields(TILESCOPE_DIV_S); }                       \
  TILESCOPE_FUNCTION V operator+(T s, V a) { return fields(TILESCOPE_ADD_S); }                       \
  TILESCOPE_FUNCTION V operator-(T s, V a) { return fields(TILESCOPE_S_SUB); }                       \
  TILESCOPE_FUNCTION V operator*(T s, V a) { return fields(TILESCOPE_MUL_S); }                       \
  TILESCOPE_FUNCTION V operator/(T s, V a) { return fields(TILESCOPE_S_DIV); }                       \
  TILESCOPE_FUNCTION V min(V a, V b) { return fields(TILESCOPE_MINIMUM); }                           \
  TILESCOPE_FUNCTION V max(V a, V b) { return fields(TILESCOPE_MAXIMUM); }                           \
  TILESCOPE_FUNCTION V clamp(V a, T low, T high) { return fields(TILESCOPE_CLAMP); }                 \
  TILESCOPE_FUNCTION V clamp(V a, V low, V high) { return fields(TILESCOPE_CLAMP_V); }               \
  TILESCOPE_ASSIGN(V, V, +) TILESCOPE_ASSIGN(V, V, -) TILESCOPE_ASSIGN(V, V, *) TILESCOPE_ASSIGN(V, V, /) \
  TILESCOPE_ASSIGN(V, T, +) TILESCOPE_ASSIGN(V, T, -) TILESCOPE_ASSIGN(V, T, *) TILESCOPE_ASSIGN(V, T, /)
#define TILESCOPE_ASSIGN(V, O, op)                                                                   \
  TILESCOPE_CALL inline void operator op##=(V& a, O b) {                                             \
    tilescope_access(TILESCOPE_PC, &a, sizeof(V), TILESCOPE_LOAD);                                   \
    V result = a op b;                                                                               \
    tilescope_access(TILESCOPE_PC, &a, sizeof(V), TILESCOPE_STORE);                                  \
    a = result;                                                                                      \
  }
TILESCOPE_VECTOR_MATH(float2, float, TILESCOPE_FIELDS2) TILESCOPE_VECTOR_MATH(float3, float, TILESCOPE_FIELDS3) TILESCOPE_VECTOR_MATH(float4, float, TILESCOPE_FIELDS4)
TILESCOPE_VECTOR_MATH(int2, int, TILESCOPE_FIELDS2) TILESCOPE_VECTOR_MATH(int3, int, TILESCOPE_FIELDS3) TILESCOPE_VECTOR_MATH(int4, int, TILESCOPE_FIELDS4)
TILESCOPE_VECTOR_MATH(uint2, unsigned, TILESCOPE_FIELDS2) TILESCOPE_VECTOR_MATH(uint3, unsigned, TILESCOPE_FIELDS3) TILESCOPE_VECTOR_MATH(uint4, unsigned, TILESCOPE_FIELDS4)
#define TILESCOPE_FLOOR(i) std::floor(a.i)
#define TILESCOPE_ABSOLUTE(i) std::fabs(a.i)
#define TILESCOPE_FRACTION(i) a.i - std::floor(a.i)
#define TILESCOPE_VECTOR_GEOMETRY(V, fields, sum)                                                    \
  TILESCOPE_FUNCTION V operator-(V a) { return fields(TILESCOPE_NEGATE); }                           \
  TILESCOPE_FUNCTION float dot(V a, V b) { return sum; }                                             \
  TILESCOPE_FUNCTION float length(V a) { return std::sqrt(dot(a, a)); }                              \
  TILESCOPE_FUNCTION V normalize(V a) { return a * (1 / std::sqrt(dot(a, a))); }                     \
  TILESCOPE_FUNCTION V lerp(V a, V b, float t) { return a + t * (b - a); }                           \
  TILESCOPE_FUNCTION V floorf(V a) { return fields(TILESCOPE_FLOOR); }                               \
  TILESCOPE_FUNCTION V fabs(V a) { return fields(TILESCOPE_ABSOLUTE); }                              \
  TILESCOPE_FUNCTION V fracf(V a) { return fields(TILESCOPE_FRACTION); }
TILESCOPE_VECTOR_GEOMETRY(float2, TILESCOPE_FIELDS2, a.x * b.x + a.y * b.y)
TILESCOPE_VECTOR_GEOMETRY(float3, TILESCOPE_FIELDS3, a.x * b.x + a.y * b.y + a.z * b.z)
TILESCOPE_VECTOR_GEOMETRY(float4, TILESCOPE_FIELDS4, a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w)
TILESCOPE_FUNCTION float3 cross(float3 a, float3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
TILESCOPE_FUNCTION float3 reflect(float3 i, float3 n) { return i - 2.0f * n * dot(n, i); }
TILESCOPE_FUNCTION float2 make_float2(float3 a) { return {a.x, a.y}; }
TILESCOPE_FUNCTION float3 make_float3(float2 a) { return {a.x, a.y, 0}; }
TILESCOPE_FUNCTION float3 make_float3(float2 a, float s) { return {a.x, a.y, s}; }
TILESCOPE_FUNCTION float3 make_float3(float4 a) { return {a.x, a.y, a.z}; }
TILESCOPE_FUNCTION float4 make_float4(float3 a) { return {a.x, a.y, a.z, 0}; }
TILESCOPE_FUNCTION float4 make_float4(float3 a, float w) { return {a.x, a.y, a.z, w}; }
TILESCOPE_FUNCTION float3 make_float3(int3 a) { return {(float)a.x, (float)a.y, (float)a.z}; }
TILESCOPE_FUNCTION int3 make_int3(float3 a) { return {(int)a.x, (int)a.y, (int)a.z}; }
