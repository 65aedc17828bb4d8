// bfloat16 (CUDA Math API, "Bfloat16 Precision Intrinsics").
#pragma once
#include "tilescope/small_floats.h"
TILESCOPE_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, 8, 7)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
TILESCOPE_FUNCTION nv_bfloat162 make_bfloat162(nv_bfloat16 a, nv_bfloat16 b) { return nv_bfloat162(a, b); }
TILESCOPE_FUNCTION nv_bfloat16 __float2bfloat16(float v) { return nv_bfloat16(v); }
TILESCOPE_FUNCTION nv_bfloat16 __float2bfloat16_rn(float v) { return nv_bfloat16(v); }
TILESCOPE_FUNCTION nv_bfloat16 __float2bfloat16_rz(float v) { return nv_bfloat16::of_bits((unsigned short)(tilescope_bits(v) >> 16)); }
TILESCOPE_FUNCTION nv_bfloat16 __double2bfloat16(double v) { return nv_bfloat16(v); }
TILESCOPE_FUNCTION float __bfloat162float(nv_bfloat16 v) { return v.value(); }
TILESCOPE_FUNCTION nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return nv_bfloat162(nv_bfloat16(a), nv_bfloat16(b)); }
TILESCOPE_FUNCTION nv_bfloat162 __float2bfloat162_rn(float v) { return nv_bfloat162(nv_bfloat16(v), nv_bfloat16(v)); }
TILESCOPE_FUNCTION nv_bfloat162 __float22bfloat162_rn(float2 v) { return nv_bfloat162(nv_bfloat16(v.x), nv_bfloat16(v.y)); }
TILESCOPE_FUNCTION float2 __bfloat1622float2(nv_bfloat162 v) { return float2{v.x.value(), v.y.value()}; }
TILESCOPE_FUNCTION nv_bfloat162 __bfloat162bfloat162(nv_bfloat16 v) { return nv_bfloat162(v, v); }
TILESCOPE_FUNCTION nv_bfloat162 __halves2bfloat162(nv_bfloat16 a, nv_bfloat16 b) { return nv_bfloat162(a, b); }
TILESCOPE_FUNCTION nv_bfloat16 __low2bfloat16(nv_bfloat162 v) { return v.x; }
TILESCOPE_FUNCTION nv_bfloat16 __high2bfloat16(nv_bfloat162 v) { return v.y; }
TILESCOPE_FUNCTION float __low2float(nv_bfloat162 v) { return v.x.value(); }
TILESCOPE_FUNCTION float __high2float(nv_bfloat162 v) { return v.y.value(); }
TILESCOPE_FUNCTION nv_bfloat16 __int2bfloat16_rn(int v) { return nv_bfloat16(v); }
TILESCOPE_FUNCTION int __bfloat162int_rn(nv_bfloat16 v) { return (int)std::nearbyint(v.value()); }
TILESCOPE_FUNCTION int __bfloat162int_rz(nv_bfloat16 v) { return (int)v.value(); }
TILESCOPE_FUNCTION unsigned short __bfloat16_as_ushort(nv_bfloat16 v) { return v.bits; }
TILESCOPE_FUNCTION short __bfloat16_as_short(nv_bfloat16 v) { return (short)v.bits; }
TILESCOPE_FUNCTION nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return nv_bfloat16::of_bits(bits); }
TILESCOPE_FUNCTION nv_bfloat16 __short_as_bfloat16(short bits) { return nv_bfloat16::of_bits((unsigned short)bits); }
