"""The results of arithmetic in a kernel, by Numba's types: a line for each kernel, on a GPU and under the tracer alike.

Lines begin with what holds of their numbers: "exact", to the last bit; "about", to six digits, since libraries of
functions differ; "undefined", where neither Numba nor CUDA says what comes out. Needs only Numba and NumPy. With
names of kernels as arguments, only these run.
"""

import math
import sys

import numpy as np
from numba import (
    boolean,
    cuda,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    types,
    uint8,
    uint16,
    uint32,
    uint64,
)

SCALE = 3
WEIGHTS = (1, 2.5)
TABLE = np.array([1.5, 2.5, 3.5], np.float32)

b1 = np.array([True, False])
i8 = np.array([-100, 100, 7, -1, -128, 0], np.int8)
i16 = np.array([-30000, 30000, 7, -1], np.int16)
i32 = np.array([2000000000, -17, 5, 1, -2147483648, 0], np.int32)
i64 = np.array([9223372036854775807, -1, 3037000500, 12345, -9223372036854775808, 0], np.int64)
u8 = np.array([200, 100, 255, 5, 0], np.uint8)
u16 = np.array([60000, 1, 7], np.uint16)
u32 = np.array([4000000000, 1, 9, 0], np.uint32)
u64 = np.array([18446744073709551615, 1, 9, 0, 1 << 63], np.uint64)
f32 = np.array([16777216.0, 1.0, 0.1, -0.75, 0.0, 3.0e38, -2.5, 7.0], np.float32)
f64 = np.array([16777216.0, 1.0, 0.1, -0.75, 0.0, 1e308, -2.5, 7.0, 1000.0], np.float64)
c64 = np.array([1 + 2j, -0.5 + 0.25j], np.complex64)
c128 = np.array([1 + 2j, -0.5 + 0.25j], np.complex128)
nothing = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -5.5, 300.75], np.float64)
nothing32 = nothing.astype(np.float32)
KERNELS = []


def kernel(marks, result, size, *arguments):
    """Note a kernel with the mark of its line, the type of its results, how many there are, and its arguments."""

    def note(function):
        KERNELS.append((marks, function.__name__, cuda.jit(function), np.dtype(result), size, arguments))
        return function

    return note


@cuda.jit(device=True)
def mean(a, b):
    return (a + b) / 2


@cuda.jit(device=True)
def either(flag, a, b):
    if flag:
        return a
    return b


@cuda.jit(device=True)
def twice(x):
    x += x
    return x


@kernel("exact", np.float64, 12, f32, i32, f64)
def accumulate(f, n, d, out):
    s = 0.0
    for i in range(2):
        s += f[i]
    out[0] = s
    t = float32(0.0)
    for i in range(2):
        t += f[i]
    out[1] = t
    u = 0
    for i in range(2):
        u += f[i]
    out[2] = u
    out[3] = f[0] + 1
    out[4] = f[0] + float32(1)
    out[5] = f[0] + n[3]
    out[6] = f[2] * 2
    out[7] = f[2] * 0.1
    out[8] = f[2] + d[2]
    out[9] = f[2] * f[2]
    out[10] = f[5] * f[7]
    out[11] = f[5] * 10


@kernel("exact", np.float64, 16, b1, i8, i16, i32, u8, u16, u32, f32)
def mixed_with_float32(b, c, s, i, d, t, u, f, out):
    out[0] = b[0] + f[2]
    out[1] = c[2] * f[2]
    out[2] = s[2] * f[2]
    out[3] = i[2] * f[2]
    out[4] = d[3] * f[2]
    out[5] = t[2] * f[2]
    out[6] = u[2] * f[2]
    out[7] = f[2] / c[2]
    out[8] = f[2] / i[2]
    out[9] = f[2] - s[3]
    out[10] = f[2] // i[2]
    out[11] = f[3] % d[3]
    out[12] = s[0] + f[0]
    out[13] = t[0] + f[0]
    out[14] = f[0] + True
    out[15] = -f[2] + 1


@kernel("exact", np.int64, 20, i8, i16, i32, u8, u32, i64)
def integers(c, s, i, d, u, q, out):
    out[0] = i[0] + i[0]
    out[1] = i[0] * i[0]
    out[2] = c[0] * c[0] * c[0] * c[0]
    out[3] = s[0] * s[0] * s[0]
    out[4] = d[0] * d[0]
    out[5] = u[0] * u[0]
    out[6] = q[0] + 1
    out[7] = q[2] * q[2]
    out[8] = q[0] * q[0]
    out[9] = q[4] - 1
    out[10] = -q[4]
    out[11] = abs(q[4])
    out[12] = -c[4]
    out[13] = abs(c[4])
    out[14] = -d[0]
    out[15] = ~d[0]
    out[16] = ~u[1]
    out[17] = -i[4]
    out[18] = abs(i[4])
    out[19] = -u[1]


@kernel("exact", np.int64, 14, u64, i64, u32, u8)
def unsigned(w, q, u, d, out):
    out[0] = w[2] + (-1)
    out[1] = w[3] - 1
    out[2] = w[0] + w[1]
    out[3] = u[1] - u[2]
    out[4] = d[1] - d[0]
    out[5] = (u[1] - u[2]) // 2
    out[6] = (w[1] - w[2]) >> 60
    out[7] = (w[1] - 9) // 2
    out[8] = w[0] * w[0]
    out[9] = w[0] % u[2]
    out[10] = w[4] // 3
    out[11] = w[4] // u[2]
    n = 0
    for j in range(u[2]):
        n += j
    out[12] = n
    m = 0
    for j in range(w[2]):
        m -= j
    out[13] = m


@kernel("exact", np.float64, 8, u64, i64, u32, i32)
def unsigned_as_floats(w, q, u, i, out):
    out[0] = u[1] - u[2]
    out[1] = w[1] - w[2]
    out[2] = w[3] - 1
    out[3] = min(w[0], q[0])
    out[4] = max(w[1], q[1])
    out[5] = u[0] - i[0]
    out[6] = w[0] / 3
    out[7] = q[0] / 2


@kernel("exact", np.int64, 24, i8, i32, u8, u32, u64, i64)
def compared(c, i, d, u, w, q, out):
    out[0] = c[3] < d[3]
    out[1] = i[1] < u[1]
    out[2] = i[1] > u[1]
    out[3] = q[1] < w[0]
    out[4] = q[1] == w[0]
    out[5] = q[1] > w[0]
    out[6] = w[0] >= q[1]
    out[7] = w[4] > q[0]
    out[8] = w[1] > -1
    out[9] = u[0] > i[4]
    out[10] = (u[1] - u[2]) > 0
    out[11] = (d[1] - d[0]) < 0
    out[12] = (w[1] - 2) < 0
    out[13] = (w[1] - w[2]) < 0
    out[14] = c[3] == i[1] + 16
    out[15] = 0 <= c[2] < d[0]
    out[16] = q[0] == float64(q[0])
    out[17] = (q[0] - 1) == float64(q[0])
    out[18] = q[0] != 9.3e18
    out[19] = not i[5]
    out[20] = bool(c[0]) + bool(c[2])
    out[21] = i[3] and c[2]
    out[22] = i[5] or c[2]
    out[23] = not (i[3] < c[2] < d[0])


@kernel("exact", np.int64, 10, f32, f64)
def compared_floats(f, d, out):
    out[0] = f[2] == 0.1
    out[1] = f[2] == d[2]
    out[2] = f[2] < 0.1
    out[3] = f[2] > 0.1
    out[4] = f[2] == float32(0.1)
    out[5] = f[0] + float32(1) == f[0]
    out[6] = f[0] + 1 == f[0]
    out[7] = f[0] == 16777217
    out[8] = f[4] == -f[4]
    out[9] = d[3] <= f[3]


@kernel("exact", np.int64, 20, i8, i32, u8, u64, i64, b1)
def shifted(c, i, d, w, q, b, out):
    out[0] = i[0] << 2
    out[1] = i[0] << 33
    out[2] = q[0] << 1
    out[3] = d[0] << 8
    out[4] = c[0] << 1
    out[5] = c[0] >> 2
    out[6] = q[1] >> 1
    out[7] = w[0] >> 1
    out[8] = w[0] >> q[3] % 64
    out[9] = w[0] << 4
    out[10] = i[1] & d[0]
    out[11] = i[1] | d[0]
    out[12] = i[1] ^ d[0]
    out[13] = w[0] ^ q[1]
    out[14] = c[3] & 255
    out[15] = b[0] & b[1]
    out[16] = b[0] | b[1]
    out[17] = b[0] ^ b[0]
    out[18] = (b[0] + b[0]) << 1
    out[19] = ~i[1]


@kernel("exact", np.int64, 16, i8, i32, u8, i64, u64)
def divided(c, i, d, q, w, out):
    out[0] = i[1] // i[2]
    out[1] = i[1] % i[2]
    out[2] = i[2] // i[1]
    out[3] = i[2] % i[1]
    out[4] = c[0] // 7
    out[5] = c[0] % 7
    out[6] = c[0] // -7
    out[7] = c[0] % -7
    out[8] = d[0] // c[3]
    out[9] = d[0] % c[0]
    out[10] = q[4] // 10
    out[11] = q[4] % 10
    out[12] = q[0] // -10
    out[13] = w[0] // w[2]
    out[14] = w[0] % w[2]
    x, y = divmod(i[1], i[2])
    out[15] = 100 * x + y


@kernel("exact", np.float64, 18, f32, f64, i32, nothing)
def divided_floats(f, d, i, n, out):
    out[0] = d[1] / d[4]
    out[1] = -1.0 / d[4]
    out[2] = d[4] / d[4]
    out[3] = f[1] / f[4]
    out[4] = i[2] / i[5]
    out[5] = i[5] / i[5]
    out[6] = i[1] / i[2]
    out[7] = f[7] // f[6]
    out[8] = f[7] % f[6]
    out[9] = d[7] // d[6]
    out[10] = d[6] % d[7]
    out[11] = f[6] // f[7]
    out[12] = d[7] % n[1]
    out[13] = d[6] % n[1]
    out[14] = d[5] * 10
    out[15] = d[5] * 10 - d[5] * 10
    out[16] = 1 / n[1]
    out[17] = 1 / n[2]


@kernel("exact", np.int64, 16, i32, i64, u32, u8, i8)
def powers(i, q, u, d, c, out):
    out[0] = i[2] ** 2
    out[1] = i[1] ** 3
    out[2] = q[3] ** 5
    out[3] = 2 ** i[2]
    out[4] = i[2] ** i[2]
    out[5] = u[2] ** 2
    out[6] = u[2] ** u[2]
    out[7] = c[0] ** 2
    out[8] = d[0] ** 2
    out[9] = d[0] ** d[3]
    out[10] = q[3] ** 0
    out[11] = (-2) ** i[2]
    out[12] = 3 ** d[0]
    out[13] = i[2] ** d[3]
    out[14] = q[2] ** 2
    out[15] = q[2] ** 3


@kernel("exact", np.float64, 10, f32, f64, i32)
def powers_of_floats(f, d, i, out):
    out[0] = f[6] ** 2
    out[1] = d[6] ** 2
    out[2] = f[6] ** 3
    out[3] = d[6] ** 4
    out[4] = d[6] ** -2
    out[5] = f[7] ** i[2]
    out[6] = d[7] ** i[2]
    out[7] = f[2] ** 2
    out[8] = f[0] ** 2
    out[9] = i[2] ** 2.0


@kernel("exact", np.float64, 22, f32, f64, i32, u8, i64, u64)
def smallest(f, d, i, u, q, w, out):
    out[0] = min(f[2], 0.2)
    out[1] = max(f[2], d[2])
    out[2] = min(i[2], f[7])
    out[3] = max(i[2], f[2])
    out[4] = min(i[2], u[0])
    out[5] = max(i[1], u[0], 3)
    out[6] = min(q[0], 5)
    out[7] = max(u[0], u[1])
    out[8] = abs(f[3])
    out[9] = abs(d[3])
    out[10] = abs(i[1])
    out[11] = round(d[6])
    out[12] = round(f[3])
    out[13] = round(d[3] * 10)
    out[14] = max(f[2], 0)
    out[15] = min(d[2], f[2])
    out[16] = math.floor(d[3])
    out[17] = math.ceil(f[3])
    out[18] = math.trunc(d[6])
    out[19] = math.fabs(f[3])
    out[20] = math.copysign(d[1], d[3])
    out[21] = math.floor(f[6])


@kernel("exact", np.int64, 26, f64, i32, u64, i64, u8, f32)
def cast(d, i, w, q, u, f, out):
    out[0] = int32(3000000000)
    out[1] = uint8(300)
    out[2] = int8(200)
    out[3] = int16(i[0])
    out[4] = uint16(-1)
    out[5] = uint32(i[1])
    out[6] = int32(q[0])
    out[7] = uint64(i[1]) >> 60
    out[8] = int64(w[0])
    out[9] = int(d[6])
    out[10] = int(f[3])
    out[11] = int32(d[6])
    out[12] = int(d[7]) // 2
    out[13] = uint8(d[7])
    out[14] = bool(d[3])
    out[15] = boolean(i[5])
    out[16] = int8(u[0]) + 1
    out[17] = uint8(u[0] + u[1])
    out[18] = uint8(u[0]) + uint8(u[1])
    out[19] = int(True) + int(i[1])
    out[20] = np.int32(q[0])
    out[21] = np.uint8(i[1])
    out[22] = np.int64(d[6])
    out[23] = types.int16(70000)
    out[24] = uint32(uint32(4000000000) * uint32(3))
    out[25] = int32(int32(2000000000) * int32(2)) // 2


@kernel("exact", np.float64, 12, f64, f32, i64, u64)
def cast_to_floats(d, f, q, w, out):
    out[0] = float32(d[2])
    out[1] = float32(0.1) + float32(0.2)
    out[2] = float32(0.1) + 0.2
    out[3] = float(f[2]) + 0.2
    out[4] = float64(f[2]) * 0.1
    out[5] = float32(q[0])
    out[6] = float64(q[0])
    out[7] = float(w[0])
    out[8] = np.float32(d[2]) * np.float32(3)
    out[9] = np.float64(f[2]) + 1
    out[10] = float32(1) / float32(3)
    out[11] = float32(16777217)


@kernel("exact", np.uint8, 10, u8, i32, f64)
def stored_as_bytes(u, i, d, out):
    out[0] = u[0] + u[1]
    out[1] = -1
    out[2] = i[1]
    out[3] = i[0]
    out[4] = 300
    out[5] = d[7]
    out[6] = d[0] / 65536
    out[7] = True
    out[8] += 255
    out[8] += 2
    out[9] -= 1


@kernel("exact", np.int32, 8, i32, f64, u32, i64)
def stored_as_int32(i, d, u, q, out):
    out[0] = i[0] + i[0]
    out[1] = q[0]
    out[2] = d[6]
    out[3] = u[0]
    out[4] = 1 << 31
    out[5] += i[0]
    out[5] += i[0]
    out[6] = i[0] * i[0]
    out[7] = 7.99


@kernel("exact", np.float32, 8, f32, f64, i64, i32)
def stored_as_float32(f, d, q, i, out):
    out[0] = d[2]
    out[1] = 0.1 + f[2]
    out[2] = q[2]
    out[3] = i[0]
    out[4] = d[5]
    out[5] += d[2]
    out[5] += 0.1
    out[6] = 16777217
    out[7] = f[2] * 3


@kernel("exact", np.float64, 12, f32, i32, f64)
def unified(f, i, d, out):
    x = 0.0
    if i[3] > 0:
        x = f[2]
    out[0] = x * x
    y = f[2]
    if i[3] < 0:
        y = 1
    out[1] = y * y
    z = 1
    for _ in range(2):
        z = z * f[2]
    out[2] = z
    w = f[2] if i[3] else 0.5
    out[3] = w * w
    v = f[2]
    v = v * v
    out[4] = v
    v = 3
    out[5] = v / 2
    t = i[0]
    while t > 0:
        t = t - 1999999999
        out[6] += t
    s = float32(0)
    for k in range(3):
        s = s + f[2]
        if k == 1:
            s = 0.25
    out[7] = s
    out[8] = either(True, f[2], 0.5) * 3
    out[9] = mean(f[2], f[1])
    out[10] = mean(i[0], i[0])
    out[11] = twice(f[0]) + twice(i[0]) + twice(1)


@kernel("exact", np.int64, 6, i64, u32, u64)
def generators(q, u, w, out):
    state = q[3]
    for _ in range(20):
        state = state * 6364136223846793005 + 1442695040888963407
    out[0] = state
    out[1] = (state >> 33) & 0x7FFFFFFF
    s = u[0]
    for _ in range(20):
        s = uint32(s * uint32(1664525) + uint32(1013904223))
    out[2] = s
    x = w[2]
    for _ in range(20):
        x ^= x << uint64(13)
        x ^= x >> uint64(7)
        x ^= x << uint64(17)
    out[3] = x
    h = 5381
    for k in range(40):
        h = h * 33 + k
    out[4] = h
    h = 14695981039346656037
    for k in range(8):
        h = (h ^ uint64(k)) * uint64(1099511628211)
    out[5] = h


@kernel("about", np.float64, 28, f64, i32, nothing)
def functions(d, i, n, out):
    out[0] = math.sqrt(d[3])
    out[1] = math.log(d[4])
    out[2] = math.exp(d[8])
    out[3] = math.log(d[3])
    out[4] = math.sqrt(d[7])
    out[5] = math.exp(d[3])
    out[6] = math.sin(d[7])
    out[7] = math.pow(d[6], 0.5)
    out[8] = math.pow(d[4], -1.0)
    out[9] = math.acos(d[7])
    out[10] = math.atan2(d[3], d[1])
    out[11] = math.fmod(d[7], d[4])
    out[12] = math.fmod(d[6], d[1] + d[1])
    out[13] = math.cosh(d[8])
    out[14] = math.sqrt(i[2])
    out[15] = math.exp(i[2])
    out[16] = math.log10(d[8])
    out[17] = math.log2(d[4])
    out[18] = math.hypot(d[7], d[6])
    out[19] = math.erf(d[3])
    out[20] = math.tanh(d[3])
    out[21] = math.log1p(d[6])
    out[22] = math.expm1(d[8])
    out[23] = math.sin(n[1])
    out[24] = math.degrees(d[1])
    out[25] = d[6] ** 0.5
    out[26] = d[4] ** -1
    out[27] = math.lgamma(d[7])


@kernel("about", np.float64, 12, f32, f64)
def functions_of_float32(f, d, out):
    out[0] = math.sqrt(f[2])
    out[1] = math.sqrt(f[2]) == math.sqrt(float64(f[2]))
    out[2] = math.exp(f[2]) - math.exp(float64(f[2])) != 0
    out[3] = math.sqrt(f[3])
    out[4] = math.log(f[4])
    out[5] = math.exp(f[0])
    out[6] = f[2] ** f[2]
    out[7] = math.pow(f[2], f[7])
    out[8] = math.sin(f[2])
    out[9] = math.atan2(f[2], f[3])
    out[10] = f[2] ** 0.5
    out[11] = math.floor(f[6]) / 2


@kernel("exact", np.float64, 8, c64, c128, f32)
def complex_numbers(c, z, f, out):
    a = c[0] * c[1]
    out[0] = a.real
    out[1] = a.imag
    b = z[0] * z[1] + 1
    out[2] = b.real
    out[3] = b.imag
    e = c[0] + f[1]
    out[4] = e.real
    out[5] = e.imag
    out[6] = abs(complex(3, 4))
    g = z[0] - 1j
    out[7] = g.imag


@kernel("exact", np.float64, 8, f32, i32)
def tuples_and_globals(f, i, out):
    pair = (f[2], i[0])
    out[0] = pair[0] * pair[1]
    out[1] = pair[1] * SCALE
    out[2] = WEIGHTS[1] * f[2]
    out[3] = TABLE[1] * f[2]
    a, b = i[0], f[2]
    a, b = b, a
    out[4] = a + b
    total = 0
    for value in TABLE:
        total += value
    out[5] = total
    for place, value in enumerate(TABLE):
        out[6] += place * value
    out[7] = len(TABLE) * f[2]


@kernel("exact", np.int64, 14, i32, u32, i64, u64, u8)
def bits(i, u, q, w, d, out):
    out[0] = cuda.popc(i[1])
    out[1] = cuda.popc(q[1])
    out[2] = cuda.popc(u[0])
    out[3] = cuda.clz(i[3])
    out[4] = cuda.clz(q[3])
    out[5] = cuda.ffs(u[0])
    out[6] = cuda.ffs(w[4])
    out[7] = cuda.brev(u[1])
    out[8] = cuda.selp(i[1] < 0, 3, 4)
    out[9] = cuda.popc(i[1] + i[3])
    out[10] = cuda.clz(i[3] + i[5])
    out[11] = cuda.popc(-1)
    out[12] = cuda.clz(1)
    out[13] = cuda.ffs(i[5])


@kernel("exact", np.float64, 8, f32, i32, f64)
def shared_and_local(f, i, d, out):
    s = cuda.shared.array(4, float32)
    m = cuda.local.array(4, int32)
    s[0] = d[2]
    s[1] = 3
    m[0] = d[6]
    m[1] = i[0] + i[0]
    out[0] = s[0]
    out[1] = s[0] * 2
    out[2] = s[0] + s[1]
    out[3] = m[0]
    out[4] = m[1]
    out[5] = m[1] * m[1]
    s[2] = 0.1
    s[2] += 0.2
    out[6] = s[2]
    m[2] = 2147483647
    m[2] += 1
    out[7] = m[2]


@kernel("exact", np.int32, 8, i32, f64)
def atomics(i, d, out):
    out[1] = cuda.atomic.add(out, 0, i[0])
    out[2] = cuda.atomic.add(out, 0, i[0])
    out[3] = cuda.atomic.max(out, 0, 5)
    out[4] = cuda.atomic.sub(out, 0, 7)
    out[5] = cuda.atomic.exch(out, 0, 9)
    out[6] = cuda.atomic.add(out, 0, 1) * 1000000000
    out[7] = cuda.atomic.cas(out, 0, 10, 77)


@kernel("exact", np.float32, 6, f32, f64)
def atomics_of_floats(f, d, out):
    cuda.atomic.add(out, 0, f[0])
    cuda.atomic.add(out, 0, f[1])
    out[1] = cuda.atomic.add(out, 0, d[2])
    cuda.atomic.add(out, 2, f[2])
    cuda.atomic.add(out, 2, d[2])
    cuda.atomic.max(out, 3, f[7])
    cuda.atomic.min(out, 4, d[6])
    out[5] = cuda.atomic.add(out, 2, 1) * 3


@kernel("exact", np.float64, 6, i32, f32)
def negative_zero(i, f, out):
    zero = f[4]
    out[0] = math.copysign(1.0, -zero)
    out[1] = math.copysign(1.0, zero * -1)
    out[2] = math.copysign(1.0, zero - zero)
    out[3] = math.copysign(1.0, -0.0)
    out[4] = math.copysign(1.0, -i[5])
    out[5] = 1 / -zero


@kernel("undefined", np.int64, 10, i32, i64, u32, u8, i8)
def divided_by_zero(i, q, u, d, c, out):
    out[0] = i[2] // i[5]
    out[1] = i[2] % i[5]
    out[2] = i[1] // i[5]
    out[3] = q[3] // q[5]
    out[4] = q[3] % q[5]
    out[5] = u[2] // u[3]
    out[6] = u[2] % u[3]
    out[7] = d[3] // d[4]
    out[8] = c[2] % c[5]
    out[9] = q[4] // q[1]


@kernel("undefined", np.float64, 10, f64, f32)
def floats_divided_by_zero(d, f, out):
    out[0] = d[1] // d[4]
    out[1] = d[1] % d[4]
    out[2] = f[1] // f[4]
    out[3] = f[1] % f[4]
    out[4] = d[3] // d[4]
    out[5] = d[3] % d[4]
    out[6] = d[4] // d[4]
    out[7] = 1 % d[4]
    out[8] = d[4] ** 0
    out[9] = d[4] ** d[4]


@kernel("undefined", np.int64, 12, i32, i64, u64, u8)
def shifted_too_far(i, q, w, d, out):
    out[0] = i[2] << (64 + i[5])
    out[1] = i[2] << (65 + i[5])
    out[2] = i[2] << (i[5] - 1)
    out[3] = i[1] >> (64 + i[5])
    out[4] = i[1] >> (70 + i[5])
    out[5] = i[1] >> (i[5] - 1)
    out[6] = w[0] >> (64 + i[5])
    out[7] = w[0] << (64 + i[5])
    out[8] = d[0] >> (9 + i[5])
    out[9] = i[2] << (32 + i[5])
    out[10] = i[2] ** (i[5] - 1)
    out[11] = 2 ** (i[5] - 1)


@kernel("undefined", np.int64, 24, nothing, nothing32)
def not_integers(n, f, out):
    for k in range(8):
        out[k] = int(n[k])
        out[8 + k] = int32(n[k])
        out[16 + k] = int(f[k])


@kernel("undefined", np.int64, 24, nothing, nothing32)
def neither_integers(n, f, out):
    for k in range(8):
        out[k] = uint8(n[k])
        out[8 + k] = uint32(n[k])
        out[16 + k] = int64(uint64(n[k]))


@kernel("undefined", np.uint8, 8, nothing)
def not_bytes(n, out):
    for k in range(8):
        out[k] = n[k]


@kernel("undefined", np.int32, 8, nothing)
def not_int32(n, out):
    for k in range(8):
        out[k] = n[k]


@kernel("undefined", np.float64, 8, nothing, f64)
def nan_among(n, d, out):
    out[0] = min(n[0], d[1])
    out[1] = min(d[1], n[0])
    out[2] = max(n[0], d[1])
    out[3] = max(d[1], n[0])
    out[4] = min(d[1], n[0], d[7])
    out[5] = n[0] == n[0]
    out[6] = n[0] ** 0
    out[7] = 1 ** n[0]


def shown(mark, value):
    """Return a number as text: all of its digits, or six."""
    if not isinstance(value, float):
        return repr(value)
    return repr(value) if mark != "about" else f"{value:.5e}"


def main():
    for mark, name, function, dtype, size, arguments in KERNELS:
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        out = np.zeros(size, dtype)
        try:
            function[1, 1](*arguments, out)
            text = " ".join(shown(mark, value) for value in out.tolist())
        except Exception as error:  # noqa: BLE001  # whatever a kernel raises is its line
            text = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
        print(f"{mark} {name}: {text}", flush=True)


main()
