// Half precision (CUDA Math API, "Half Precision Intrinsics").
#pragma once
#include "tilescope/small_floats.h"
TILESCOPE_SMALL_FLOAT(__half, __half2, 5, 10)
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
struct __half_raw { unsigned short x; };
TILESCOPE_FUNCTION half2 make_half2(half a, half b) { return half2(a, b); }
TILESCOPE_FUNCTION half __float2half(float v) { return half(v); }
TILESCOPE_FUNCTION half __float2half_rn(float v) { return half(v); }
// Towards zero: the nearest number, or the one before it.
TILESCOPE_FUNCTION half __float2half_rz(float v) {
  half r(v);
  if (std::fabs(r.value()) > std::fabs(v)) r.bits--;
  return r;
}
TILESCOPE_FUNCTION half __float2half_ru(float v) {
  half r(v);
  if (r.value() < v) r.bits = r.bits == 0x8000 || r.bits == 0 ? 1 : r.bits & 0x8000 ? r.bits - 1 : r.bits + 1;
  return r;
}
TILESCOPE_FUNCTION half __float2half_rd(float v) { return -__float2half_ru(-v); }
TILESCOPE_FUNCTION half __double2half(double v) { return half(v); }
TILESCOPE_FUNCTION float __half2float(half v) { return v.value(); }
TILESCOPE_FUNCTION half2 __floats2half2_rn(float a, float b) { return half2(half(a), half(b)); }
TILESCOPE_FUNCTION half2 __float2half2_rn(float v) { return half2(half(v), half(v)); }
TILESCOPE_FUNCTION half2 __float22half2_rn(float2 v) { return half2(half(v.x), half(v.y)); }
TILESCOPE_FUNCTION float2 __half22float2(half2 v) { return float2{v.x.value(), v.y.value()}; }
TILESCOPE_FUNCTION half2 __half2half2(half v) { return half2(v, v); }
TILESCOPE_FUNCTION half2 __halves2half2(half a, half b) { return half2(a, b); }
TILESCOPE_FUNCTION half __low2half(half2 v) { return v.x; }
TILESCOPE_FUNCTION half __high2half(half2 v) { return v.y; }
TILESCOPE_FUNCTION float __low2float(half2 v) { return v.x.value(); }
TILESCOPE_FUNCTION float __high2float(half2 v) { return v.y.value(); }
TILESCOPE_FUNCTION half2 __low2half2(half2 v) { return half2(v.x, v.x); }
TILESCOPE_FUNCTION half2 __high2half2(half2 v) { return half2(v.y, v.y); }
TILESCOPE_FUNCTION half2 __lowhigh2highlow(half2 v) { return half2(v.y, v.x); }
TILESCOPE_FUNCTION half2 __lows2half2(half2 a, half2 b) { return half2(a.x, b.x); }
TILESCOPE_FUNCTION half2 __highs2half2(half2 a, half2 b) { return half2(a.y, b.y); }
TILESCOPE_FUNCTION half __int2half_rn(int v) { return half(v); }
TILESCOPE_FUNCTION half __uint2half_rn(unsigned v) { return half(v); }
TILESCOPE_FUNCTION half __short2half_rn(short v) { return half(v); }
TILESCOPE_FUNCTION int __half2int_rn(half v) { return (int)std::nearbyint(v.value()); }
TILESCOPE_FUNCTION int __half2int_rz(half v) { return (int)v.value(); }
TILESCOPE_FUNCTION int __half2int_rd(half v) { return (int)std::floor(v.value()); }
TILESCOPE_FUNCTION int __half2int_ru(half v) { return (int)std::ceil(v.value()); }
TILESCOPE_FUNCTION unsigned __half2uint_rn(half v) { return (unsigned)std::nearbyint(v.value()); }
TILESCOPE_FUNCTION short __half_as_short(half v) { return (short)v.bits; }
TILESCOPE_FUNCTION unsigned short __half_as_ushort(half v) { return v.bits; }
TILESCOPE_FUNCTION half __short_as_half(short bits) { return half::of_bits((unsigned short)bits); }
TILESCOPE_FUNCTION half __ushort_as_half(unsigned short bits) { return half::of_bits(bits); }
#define CUDART_INF_FP16 __ushort_as_half(0x7C00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7FFF)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7BFF)
#define CUDART_ONE_FP16 __ushort_as_half(0x3C00)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
