"""Small kernels and expressions whose counters and bits `record.py` of this folder records on a GPU.

An expression is the kernel `if i < out.size: out[i] = EXPRESSION` on 256 elements of x, y and w, in 2 blocks of 128.
"""

import itertools
import math
import pathlib
import tempfile

import numpy as np
from numba import complex64, complex128, cuda, float32, float64, int32

ELEMENTS = 256
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="cases-"))
MADE = []  # names of the kernels made of texts

# Floating-point arithmetic, for each type.
ARITHMETIC = """
x[i] * y[i] + w[i]
x[i] * y[i] - w[i]
w[i] - x[i] * y[i]
-(x[i] * y[i]) + w[i]
-(x[i] * y[i]) - w[i]
x[i] * y[i] + w[i] * w[i]
x[i] * y[i] - w[i] * w[i]
x[i] * x[i] + y[i] * y[i] + w[i] * w[i]
x[i] * y[i] + x[i] * w[i] - y[i] * w[i]
(x[i] * y[i]) * w[i] + x[i]
x[i] * (y[i] + w[i])
(x[i] + y[i]) * (x[i] - w[i]) + y[i]
(x[i] + y[i]) * (x[i] - y[i])
x[i] / y[i] + w[i]
x[i] / y[i] * w[i] + x[i]
x[i] * y[i] / w[i]
x[i] + y[i] + w[i]
x[i] * x[i] - y[i]
x[i] * y[i] + 1
x[i] * 2 + 1
2 * x[i] - y[i]
x[i] + 0.5 * y[i]
(x[i] * y[i] + w[i]) * (x[i] * y[i] - w[i])
(x[i] * y[i]) + (x[i] * y[i])
x[i] ** 2 + y[i]
x[i] ** 3
x[i] ** -1
x[i] ** 5 - y[i] ** 4
abs(x[i]) ** y[i]
x[i] % y[i]
x[i] // y[i]
abs(x[i] * y[i] + w[i])
max(x[i] * y[i], w[i]) + w[i]
min(x[i], y[i]) * w[i] + x[i]
-x[i] * y[i] + w[i]
(x[i] - y[i]) ** 2 + (y[i] - w[i]) ** 2
math.sqrt(x[i] * x[i] + y[i] * y[i])
1 / (1 + x[i] * x[i])
x[i] * (1 - x[i]) * y[i]
w[i] + x[i] * (y[i] + x[i] * (w[i] + x[i] * y[i]))
""".strip().splitlines()
# Functions, for float32 and float64; {} is an argument that the function takes.
FUNCTIONS = {
    "x[i]": [
        "sin",
        "cos",
        "tan",
        "exp",
        "expm1",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "atan",
        "erf",
        "erfc",
        "floor",
        "ceil",
        "trunc",
        "fabs",
        "exp2",
    ],
    "abs(x[i])": ["sqrt", "log", "log2", "log10", "log1p", "gamma", "lgamma"],
    "x[i] / 4": ["asin", "acos", "atanh"],
    "1 + abs(x[i])": ["acosh"],
    "x[i] * 1000": ["sin", "cos", "tan"],
    "x[i], y[i]": ["atan2", "hypot", "fmod", "copysign", "remainder"],
    "abs(x[i]), y[i]": ["pow"],
    "x[i], 3": ["pow"],
}
OTHER = """
float32|round(x[i])
float32|round(x[i], 1)
float32|cuda.fma(x[i], y[i], w[i])
float64|cuda.fma(x[i], y[i], w[i])
float32|cuda.cbrt(x[i])
float64|cuda.cbrt(x[i])
float32|cuda.selp(x[i] > 0, y[i], w[i])
float32|cuda.libdevice.fast_expf(x[i])
float32|cuda.libdevice.fast_sinf(x[i])
float32|cuda.libdevice.rsqrtf(abs(x[i]))
float64|cuda.libdevice.rsqrt(abs(x[i]))
float32|cuda.libdevice.sinpif(x[i])
float64|cuda.libdevice.normcdf(x[i])
float32|math.degrees(x[i])
float32|math.radians(x[i])
float64|math.degrees(x[i])
float32|math.modf(x[i])[0]
float32|math.frexp(x[i])[0]
float32|math.ldexp(x[i], 3)
float32|math.sin(x[i]) * math.cos(y[i]) + w[i]
float64|math.exp(-x[i] * x[i]) * y[i] + w[i]
float32|math.exp(-x[i] * x[i]) * y[i] + w[i]
float32|math.sqrt(abs(x[i])) * y[i] + w[i]
float32|x[i] * y[i] if x[i] > 0 else y[i] * w[i] + x[i]
float32|float32(x[i] * y[i]) + w[i]
float32|float64(x[i]) * y[i] + w[i]
float32|x[i] * i + y[i]
float32|x[i] * int32(3) + y[i]
float32|int(x[i]) * y[i] + w[i]
float64|float32(x[i]) * float32(y[i]) + w[i]
float16|cuda.fp16.hfma(x[i], y[i], w[i])
float16|cuda.fp16.hadd(x[i], y[i])
float16|cuda.fp16.hmul(x[i], y[i])
float16|cuda.fp16.hsub(x[i], y[i])
float16|cuda.fp16.hneg(x[i])
float16|cuda.fp16.habs(x[i])
float16|cuda.fp16.hmax(x[i], y[i])
float16|cuda.fp16.hdiv(x[i], y[i])
float16|cuda.fp16.hsqrt(cuda.fp16.habs(x[i]))
float16|cuda.fp16.hexp(x[i])
float16|cuda.fp16.hsin(x[i])
float16|cuda.fp16.hlog(cuda.fp16.habs(x[i]))
float16|cuda.fp16.hrcp(x[i])
float16|cuda.fp16.hfloor(x[i])
float16|cuda.fp16.htrunc(x[i])
float16|cuda.fp16.hrint(x[i])
float16|math.sin(x[i])
float16|math.exp(x[i])
float16|math.sqrt(abs(x[i]))
float16|x[i] / y[i]
float16|-x[i]
float16|x[i] * y[i]
int32|x[i] * y[i] + w[i]
int32|x[i] // y[i]
int32|x[i] % y[i]
int32|x[i] << 3
int32|x[i] >> 1
int32|x[i] ** 2
int32|x[i] / y[i]
int32|-x[i] // 3
int32|cuda.popc(x[i])
int32|cuda.clz(x[i])
int32|cuda.brev(x[i])
int32|cuda.ffs(x[i])
int32|abs(x[i]) ^ y[i]
int32|x[i] & y[i] | w[i]
int64|x[i] * y[i] + w[i]
int64|x[i] // y[i]
int64|x[i] % y[i]
int64|cuda.popc(x[i])
int64|cuda.clz(x[i])
uint32|x[i] - y[i]
uint32|x[i] // y[i]
uint32|x[i] * y[i]
uint64|x[i] + y[i]
uint8|x[i] + y[i]
int8|x[i] * y[i]
int16|x[i] * y[i] + w[i]
complex64|x[i] * y[i]
complex64|x[i] * y[i] + w[i]
complex64|x[i] / y[i]
complex64|abs(x[i])
complex128|x[i] * y[i] + w[i]
complex128|x[i] / y[i]
""".strip().splitlines()
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "float32", "float64"]
SPECIAL = np.array(
    [3e9, -3e9, 1e20, -1e20, np.nan, np.inf, -np.inf, 2.5, 255.5, 256.0, -1.5, -129.0, 127.9, 65535.9, 65536.0,
     4294967296.5, 9.3e18, -9.3e18, 1.9e19, 0.0, -0.0, 0.5, -0.5, 1.5, 32768.0, -32769.0, 300.7, -300.7, 1e-40, 70000.0,
     6e4, -6e4]
)  # fmt: skip


def expressions():
    """Yield (expression, input type, output type, kind of input) of each case."""
    for kind in FLOATS:
        for text in ARITHMETIC:
            yield text, kind, kind, "plain"
    for kind in FLOATS[1:]:
        for arguments, names in FUNCTIONS.items():
            for name in names:
                yield f"math.{name}({arguments})", kind, kind, "plain"
    for line in OTHER:
        kind, _, text = line.partition("|")
        out = {"abs(x[i])": "float32"}.get(text, kind) if kind.startswith("complex") else kind
        out = "float64" if text == "x[i] / y[i]" and kind == "int32" else out
        yield text, kind, out, "plain"
    for kind in FLOATS:
        for out in INTEGERS:
            yield "x[i]", kind, out, "special"
            yield f"{out}(x[i])", kind, out, "special"
        yield "int(x[i])", kind, "int64", "special"
        for out in FLOATS:
            if out != kind:
                yield "x[i]", kind, out, "special"
    for kind in INTEGERS:
        for out in (*INTEGERS, *FLOATS):
            if out != kind:
                yield "x[i]", kind, out, "plain"


def inputs(kind, values, rng):
    """Return one input of an expression."""
    if values == "special":
        with np.errstate(all="ignore"):
            return np.resize(SPECIAL, ELEMENTS).astype(kind)
    if kind.startswith("complex"):
        return (rng.uniform(-4, 4, ELEMENTS) + 1j * rng.uniform(-4, 4, ELEMENTS)).astype(kind)
    if kind.startswith("float"):
        return rng.uniform(-4, 4, ELEMENTS).astype(kind)
    info = np.iinfo(kind)
    return rng.integers(max(info.min, -(1 << 40)), min(info.max, 1 << 40), ELEMENTS).astype(kind)


TILE, WIDE = 16, 32


@cuda.jit
def jacobi(a, out):
    i, j = cuda.grid(2)
    if 1 <= i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1:
        out[i, j] = a[i, j] + 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - 4 * a[i, j])


@cuda.jit
def jacobi_by_x(a, out):
    j, i = cuda.grid(2)
    if 1 <= i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1:
        out[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@cuda.jit
def in_place(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = a[i] * 2 + a[i]


@cuda.jit
def aliased(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
        out[i] += b[i] + a[i]


@cuda.jit
def twice(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * a[i] + a[i]


@cuda.jit
def dead_load(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        x = b[i]  # noqa: F841
        out[i] = a[i]


@cuda.jit
def dead_store(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = 0
        out[i] = a[i]


@cuda.jit
def both_arms(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        if b[i] > 0:
            out[i] = a[i] + 1
        else:
            out[i] = a[i] - 1


@cuda.jit
def one_arm(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        v = a[i]
        if b[i] > 0:
            v = v * 2 + a[i]
        out[i] = v


@cuda.jit
def accumulate_global(a, out):
    i = cuda.grid(1)
    if i < out.size:
        for j in range(a.shape[1]):
            out[i] += a[i, j]


@cuda.jit
def accumulate_register(a, out):
    i = cuda.grid(1)
    if i < out.size:
        s = float32(0)
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s


@cuda.jit
def invariant(a, b, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        s = float32(0)
        for j in range(a.shape[1]):
            s += a[i, j] * b[i]
        out[i] = s


@cuda.jit
def invariant_with_store(a, b, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] * b[i]


@cuda.jit
def constant_rounds(a, out):
    i = cuda.grid(1)
    if i < out.size:
        s = float32(0)
        for j in range(4):
            s += a[i * 4 + j]
        out[i] = s


@cuda.jit
def shared_row(a, out):
    s = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    s[y, x] = a[y, x]
    cuda.syncthreads()
    t = float32(0)
    for k in range(32):
        t += s[y, k]
    out[y, x] = t


@cuda.jit
def shared_column(a, out):
    s = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    s[y, x] = a[y, x]
    cuda.syncthreads()
    t = float32(0)
    for k in range(32):
        t += s[k, x]
    out[y, x] = t


@cuda.jit
def shared_conflicts(a, out):
    s = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    s[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = s[x, y]


@cuda.jit
def shared_padded(a, out):
    s = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    s[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = s[x, y]


@cuda.jit
def shared_double(a, out):
    s = cuda.shared.array(256, float64)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[255 - t] + s[(t * 2) % 256]


@cuda.jit
def chi2(a, b, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        r = float32(0)
        for k in range(a.shape[1]):
            if a[i, k] + b[j, k] != 0:
                r += (a[i, k] - b[j, k]) * (a[i, k] - b[j, k]) / (a[i, k] + b[j, k])
        out[i, j] = r


@cuda.jit
def matmul_naive(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        s = 0.0
        for k in range(a.shape[1]):
            s += a[i, k] * b[k, j]
        c[i, j] = s


@cuda.jit
def matmul_tiled(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    s = float32(0)
    for i in range((a.shape[1] + TILE - 1) // TILE):
        sa[ty, tx] = 0
        sb[ty, tx] = 0
        if y < a.shape[0] and tx + i * TILE < a.shape[1]:
            sa[ty, tx] = a[y, tx + i * TILE]
        if x < b.shape[1] and ty + i * TILE < b.shape[0]:
            sb[ty, tx] = b[ty + i * TILE, x]
        cuda.syncthreads()
        for j in range(TILE):
            s += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = s


@cuda.jit
def matmul_tiled_double(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float64)
    sb = cuda.shared.array((TILE, TILE), float64)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    s = 0.0
    for i in range(a.shape[1] // TILE):
        sa[tx, ty] = a[x, ty + i * TILE]
        sb[tx, ty] = b[tx + i * TILE, y]
        cuda.syncthreads()
        for j in range(TILE):
            s += sa[tx, j] * sb[j, ty]
        cuda.syncthreads()
    c[x, y] = s


@cuda.jit
def reduce_shared(a, out):
    s = cuda.shared.array(256, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def reduce_divergent(a, out):
    s = cuda.shared.array(256, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = a[i]
    cuda.syncthreads()
    step = 1
    while step < 256:
        if t % (2 * step) == 0:
            s[t] += s[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        cuda.atomic.add(out, 0, s[0])


@cuda.jit
def reduce_shuffle(a, out):
    i = cuda.grid(1)
    v = a[i]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
    if cuda.laneid == 0:
        out[i // 32] = v


@cuda.jit
def stencil_shared(a, out):
    s = cuda.shared.array(128 + 2, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t + 1] = a[i]
    if t == 0:
        s[0] = a[i - 1] if i > 0 else 0
    if t == 127:
        s[129] = a[i + 1] if i + 1 < a.size else 0
    cuda.syncthreads()
    out[i] = s[t] + s[t + 1] + s[t + 2]


@cuda.jit
def stencil_global(a, out):
    i = cuda.grid(1)
    if 0 < i < a.size - 1:
        out[i] = (a[i - 1] + a[i] + a[i + 1]) / 3


@cuda.jit
def histogram_shared(a, bins):
    s = cuda.shared.array(64, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t < 64:
        s[t] = 0
    cuda.syncthreads()
    if i < a.size:
        cuda.atomic.add(s, a[i] % 64, 1)
    cuda.syncthreads()
    if t < 64:
        cuda.atomic.add(bins, t, s[t])


@cuda.jit
def histogram_stride(a, bins, low, high):
    start, step = cuda.grid(1), cuda.gridsize(1)
    width = (high - low) / bins.size
    for i in range(start, a.size, step):
        k = int32((a[i] - low) / width)
        if 0 <= k < bins.size:
            cuda.atomic.add(bins, k, 1)


@cuda.jit
def transpose_global(a, out):
    i, j = cuda.grid(2)
    out[j, i] = a[i, j]


@cuda.jit
def strided(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i * 4]


@cuda.jit
def gather(a, index, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[index[i]]


@cuda.jit
def scatter(a, index, out):
    i = cuda.grid(1)
    if i < a.size:
        out[index[i]] = a[i]


@cuda.jit
def local_array(a, out):
    m = cuda.local.array(4, float32)
    i = cuda.grid(1)
    if i < out.size:
        for k in range(4):
            m[k] = a[i * 4 + k]
        out[i] = m[0] + m[3] * m[1] - m[2]


@cuda.jit
def local_dynamic(a, index, out):
    m = cuda.local.array(8, float32)
    i = cuda.grid(1)
    if i < out.size:
        for k in range(8):
            m[k] = a[i] + k
        out[i] = m[index[i] % 8]


@cuda.jit
def bisect(a, keys, out):
    i = cuda.grid(1)
    if i < keys.size:
        low, high = 0, a.size
        while low < high:
            middle = (low + high) // 2
            if a[middle] < keys[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@cuda.jit
def mandelbrot(out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        c = complex(-2 + 3 * i / out.shape[0], -1.5 + 3 * j / out.shape[1])
        z = 0j
        n = 0
        while n < 50 and z.real * z.real + z.imag * z.imag < 4:
            z = z * z + c
            n += 1
        out[i, j] = n


@cuda.jit(device=True)
def weight(d):
    return 1 / (1 + d * d)


@cuda.jit
def pairwise(p, out):
    i = cuda.grid(1)
    if i < p.shape[0]:
        s = float32(0)
        for j in range(p.shape[0]):
            dx, dy = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1]
            s += weight(dx * dx + dy * dy)
        out[i] = s


@cuda.jit
def pairwise_shared(p, out):
    s = cuda.shared.array((64, 2), float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    v = float32(0)
    for b in range(cuda.gridDim.x):
        s[t, 0] = p[b * 64 + t, 0]
        s[t, 1] = p[b * 64 + t, 1]
        cuda.syncthreads()
        for j in range(64):
            dx, dy = p[i, 0] - s[j, 0], p[i, 1] - s[j, 1]
            v += dx * dx + dy * dy
        cuda.syncthreads()
    out[i] = v


@cuda.jit
def convolve(a, k, out):
    i = cuda.grid(1)
    if i < out.size:
        s = 0.0
        for j in range(k.size):
            at = i + j - k.size // 2
            if 0 <= at < a.size:
                s += a[at] * k[j]
        out[i] = s


@cuda.jit
def life(a, out):
    i, j = cuda.grid(2)
    n, m = a.shape
    if i < n and j < m:
        s = 0
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di != 0 or dj != 0:
                    s += a[(i + di) % n, (j + dj) % m]
        out[i, j] = 1 if s == 3 or (s == 2 and a[i, j] == 1) else 0


@cuda.jit
def scan_block(a, out):
    s = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    d = 1
    while d < 128:
        v = s[t - d] if t >= d else 0
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        d *= 2
    out[t] = s[t]


@cuda.jit
def early_return(a, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    if a[i] < 0:
        out[i] = 0
        return
    out[i] = math.sqrt(a[i])


@cuda.jit
def divergent_loop(a, out):
    i = cuda.grid(1)
    if i < a.size:
        s = float32(0)
        for k in range(i % 7):
            s += a[(i + k) % a.size]
        out[i] = s


@cuda.jit
def complex_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * b[i]


@cuda.jit
def records(r, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = r[i].x * r[i].y
        r[i].x = out[i] + 1


@cuda.jit
def blackscholes(price, strike, years, call):
    i = cuda.grid(1)
    if i < call.size:
        root = math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (0.02 + 0.045) * years[i]) / (0.3 * root)
        d2 = d1 - 0.3 * root
        n1, n2 = 0.5 + 0.5 * math.erf(d1 / 1.4142135), 0.5 + 0.5 * math.erf(d2 / 1.4142135)
        call[i] = price[i] * n1 - strike[i] * math.exp(-0.02 * years[i]) * n2


@cuda.jit
def softmax_row(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        top = a[i, 0]
        for j in range(1, a.shape[1]):
            top = max(top, a[i, j])
        s = float32(0)
        for j in range(a.shape[1]):
            s += math.exp(a[i, j] - top)
        for j in range(a.shape[1]):
            out[i, j] = math.exp(a[i, j] - top) / s


@cuda.jit
def volume(a, out):
    i, j, k = cuda.grid(3)
    if i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
        out[i, j, k] = a[i, j, k] * 2


@cuda.jit
def grid_stride(a, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] + 1


@cuda.jit
def vote(a, out):
    i = cuda.grid(1)
    m = cuda.ballot_sync(0xFFFFFFFF, a[i] > 0)
    out[i] = cuda.popc(m)


@cuda.jit
def dynamic_shared(a, out):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[cuda.blockDim.x - 1 - t] + s[t]


@cuda.jit
def row_view(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        row = a[i]
        s = 0.0
        for k in range(row.size):
            s += row[k]
        out[i] = s


@cuda.jit
def bytes_kernel(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] ^ 0x55


@cuda.jit
def lists(a, out):
    i = cuda.grid(1)
    x, y, z = a[i], a[i + 1], a[i + 2]
    if x > y:
        x, y = y, x
    if y > z:
        y, z = z, y
    out[i] = y


def cases():
    """Yield (name, kernel, grid, block, arguments, bytes of dynamic shared memory) of each kernel."""
    rng = np.random.default_rng(2026)

    def f(*shape, kind=np.float32):
        return rng.uniform(-4, 4, shape).astype(kind)

    def n(high, *shape, kind=np.int32):
        return rng.integers(0, high, shape).astype(kind)

    def z(*shape, kind=np.float32):
        return np.zeros(shape, kind)

    t16, t32 = (16, 16), (32, 32)
    for name, kind in (("float32", np.float32), ("float64", np.float64)):
        yield f"jacobi {name}", jacobi, (4, 4), t16, (f(60, 60, kind=kind), z(60, 60, kind=kind)), 0
        yield f"jacobi_by_x {name}", jacobi_by_x, (4, 4), t16, (f(60, 60, kind=kind), z(60, 60, kind=kind)), 0
        yield f"twice {name}", twice, 4, 256, (f(1000, kind=kind), z(1000, kind=kind)), 0
        yield f"stencil_global {name}", stencil_global, 4, 256, (f(1000, kind=kind), z(1000, kind=kind)), 0
        yield (
            f"matmul_naive {name}",
            matmul_naive,
            (2, 2),
            t16,
            (f(32, 24, kind=kind), f(24, 32, kind=kind), z(32, 32, kind=kind)),
            0,
        )
        yield f"strided {name}", strided, 2, 128, (f(1024, kind=kind), z(256, kind=kind)), 0
    yield "in_place", in_place, 4, 256, (f(1000),), 0
    yield "aliased", aliased, 4, 256, (f(1000), f(1000), z(1000)), 0
    yield "dead_load", dead_load, 4, 256, (f(1000), f(1000), z(1000)), 0
    yield "dead_store", dead_store, 4, 256, (f(1000), z(1000)), 0
    yield "both_arms", both_arms, 4, 256, (f(1000), f(1000), z(1000)), 0
    yield "one_arm", one_arm, 4, 256, (f(1000), f(1000), z(1000)), 0
    yield "accumulate_global", accumulate_global, 2, 128, (f(256, 12), z(256)), 0
    yield "accumulate_register", accumulate_register, 2, 128, (f(256, 12), z(256)), 0
    yield "invariant", invariant, 2, 128, (f(256, 12), f(256), z(256)), 0
    yield "invariant_with_store", invariant_with_store, 2, 128, (f(256, 12), f(256), z(256, 12)), 0
    yield "constant_rounds", constant_rounds, 2, 128, (f(1024), z(256)), 0
    for kernel in (shared_row, shared_column, shared_conflicts, shared_padded):
        yield kernel.py_func.__name__, kernel, 1, t32, (f(32, 32), z(32, 32)), 0
    yield "shared_double", shared_double, 1, 256, (f(256, kind=np.float64), z(256, kind=np.float64)), 0
    yield "chi2", chi2, (2, 2), t16, (abs(f(20, 15)), abs(f(20, 15)), z(20, 20)), 0
    yield "matmul_tiled", matmul_tiled, (3, 3), t16, (f(40, 33), f(33, 45), z(40, 45)), 0
    yield "matmul_tiled whole", matmul_tiled, (2, 2), t16, (f(32, 32), f(32, 32), z(32, 32)), 0
    yield (
        "matmul_tiled_double",
        matmul_tiled_double,
        (2, 2),
        t16,
        (f(32, 32, kind=np.float64), f(32, 32, kind=np.float64), z(32, 32, kind=np.float64)),
        0,
    )
    yield "reduce_shared", reduce_shared, 4, 256, (f(1000), z(4)), 0
    yield "reduce_divergent", reduce_divergent, 4, 256, (f(1024), z(1)), 0
    yield "reduce_shuffle", reduce_shuffle, 2, 128, (f(256), z(8)), 0
    yield "stencil_shared", stencil_shared, 2, 128, (f(256), z(256)), 0
    yield "histogram_shared", histogram_shared, 4, 256, (n(1000, 1000), z(64, kind=np.int32)), 0
    yield (
        "histogram_stride",
        histogram_stride,
        2,
        128,
        (f(1000), z(50, kind=np.int32), np.float32(-4), np.float32(4)),
        0,
    )
    yield "transpose_global", transpose_global, (2, 2), t16, (f(32, 32), z(32, 32)), 0
    yield "gather", gather, 2, 128, (f(256), n(256, 256), z(256)), 0
    yield "scatter", scatter, 2, 128, (f(256), rng.permutation(256).astype(np.int64), z(256)), 0
    yield "local_array", local_array, 2, 128, (f(1024), z(256)), 0
    yield "local_dynamic", local_dynamic, 2, 128, (f(256), n(256, 256), z(256)), 0
    yield "bisect", bisect, 2, 128, (np.sort(f(1000)), f(256), z(256, kind=np.int64)), 0
    yield "mandelbrot", mandelbrot, (2, 2), t16, (z(32, 32, kind=np.int32),), 0
    yield "pairwise", pairwise, 2, 64, (f(128, 2), z(128)), 0
    yield "pairwise_shared", pairwise_shared, 2, 64, (f(128, 2), z(128)), 0
    yield "convolve", convolve, 2, 128, (f(256), f(7), z(256)), 0
    yield "life", life, (2, 2), t16, (n(2, 30, 30), z(30, 30, kind=np.int32)), 0
    yield "scan_block", scan_block, 1, 128, (n(9, 128), z(128, kind=np.int32)), 0
    yield "early_return", early_return, 4, 256, (f(1000), z(1000)), 0
    yield "divergent_loop", divergent_loop, 2, 128, (f(250), z(250)), 0
    for kind in (np.complex64, np.complex128):
        yield (
            f"complex_kernel {kind.__name__}",
            complex_kernel,
            2,
            128,
            tuple((f(256) + 1j * f(256)).astype(kind) for _ in range(3)),
            0,
        )
    packed = np.dtype([("x", np.float32), ("y", np.float32), ("n", np.int64)], align=True)
    yield "records", records, 2, 128, (np.zeros(256, packed), z(256)), 0
    yield (
        "blackscholes",
        blackscholes,
        4,
        256,
        (abs(f(1000)) + 1, abs(f(1000)) + 1, abs(f(1000)) + 1, z(1000)),
        0,
    )
    yield "softmax_row", softmax_row, 2, 64, (f(128, 10), z(128, 10)), 0
    yield "volume", volume, (2, 2, 2), (8, 8, 4), (f(15, 14, 7), z(15, 14, 7)), 0
    yield "grid_stride", grid_stride, 2, 128, (f(1000), z(1000)), 0
    yield "vote", vote, 2, 128, (f(256), z(256, kind=np.int32)), 0
    yield "dynamic_shared", dynamic_shared, 1, 128, (f(128), z(128)), 512
    yield "row_view", row_view, 2, 128, (f(200, 6), z(200)), 0
    yield "bytes_kernel", bytes_kernel, 2, 128, (n(256, 250, kind=np.uint8), z(250, kind=np.uint8)), 0
    yield "lists", lists, 2, 128, (f(258), z(256)), 0
    yield from atomics(f, n, z)


ATOMIC_KINDS = ("int32", "uint32", "int64", "uint64", "float32", "float64")
ATOMIC_OPERATIONS = {
    "add": ATOMIC_KINDS, "sub": ATOMIC_KINDS[:1] + ATOMIC_KINDS[4:], "max": ATOMIC_KINDS, "min": ATOMIC_KINDS,
    "exch": ATOMIC_KINDS[:4], "and_": ATOMIC_KINDS[:4], "or_": ATOMIC_KINDS[:4], "xor": ATOMIC_KINDS[:4],
    "inc": ("uint32", "uint64"), "dec": ("uint32", "uint64"), "cas": ("int32", "uint64"), "nanmax": ("float32",),
}  # fmt: skip


def atomics(f, n, z):
    """Yield the cases of atomic operations: in global memory, the old value used, and in shared memory."""
    for operation, kinds in ATOMIC_OPERATIONS.items():
        for kind in kinds:
            cas = ", 0" if operation == "cas" else ""
            call = f"cuda.atomic.{operation}(MEMORY, AT{cas}, a[i])"
            texts = {
                "global": f"    {call}",
                "used": f"    old[i] = {call}",
                "shared": f"    {call}",
            }
            for space, line in texts.items():
                name = f"{space} {operation} {kind}"
                kernel = _atomic_kernel(space, line, kind)
                values = n(100, 256, kind=kind) if "int" in kind else f(256, kind=kind)
                old = (z(256, kind=kind),) if space == "used" else ()
                yield name, kernel, 2, 128, (values, z(8, kind=kind), *old), 0


# Of which threads update one element: each its own; four lanes of a warp; a warp; some of a warp, the rest their own.
SHARED_BY = {
    "lane": "i",
    "four": "i // 32 * 8 + i % 8",
    "warp": "i // 32",
    "some": "i // 32 * 8 + min(i % 32, 7)",
}
# What a GPU does in a loop of a load and a compare-and-swap, which repeats where lanes meet at an element.
LOOPS = {
    "global": (
        ("sub", "float32"), ("max", "float32"), ("min", "float64"), ("nanmax", "float32"), ("inc", "uint64"),
    ),
    "used": (("sub", "float64"), ("max", "float32"), ("min", "float32"), ("dec", "uint64")),
    "shared": (
        ("add", "float32"), ("add", "float64"), ("sub", "float32"), ("max", "float32"), ("min", "float64"),
        ("inc", "uint64"),
    ),
}  # fmt: skip


def contended():
    """Yield the cases of atomics whose elements the threads of one warp share, and no other's."""
    rng = np.random.default_rng(7)
    for space, pairs in LOOPS.items():
        for (operation, kind), (pattern, index) in itertools.product(pairs, SHARED_BY.items()):
            values = rng.integers(0, 100, 256) if "int" in kind else rng.uniform(-4, 4, 256)
            out, old = np.zeros(256, kind), (np.zeros(256, kind),) if space == "used" else ()
            call = f"cuda.atomic.{operation}(MEMORY, {index.replace('i', 't') if space == 'shared' else index}, a[i])"
            call = call.replace("mtn", "min")
            kernel = _own_kernel(space, call, kind)
            yield f"{space} {operation} {kind} {pattern}", kernel, 2, 128, (values.astype(kind), out, *old), 0


def _own_kernel(space, call, kind):
    if space == "shared":
        return compiled_text(
            f"def kernel(a, out):\n    s = cuda.shared.array(128, {kind})\n"
            "    t, i = cuda.threadIdx.x, cuda.grid(1)\n    s[t] = 0\n    cuda.syncthreads()\n"
            f"    {call.replace('MEMORY', 's')}\n    cuda.syncthreads()\n    out[i] = s[t]\n"
        )
    old, left = (", old", "old[i] = ") if space == "used" else ("", "")
    return compiled_text(
        f"def kernel(a, out{old}):\n    i = cuda.grid(1)\n    {left}{call.replace('MEMORY', 'out')}\n"
    )


def _atomic_kernel(space, line, kind):
    if space == "shared":
        text = (
            f"def kernel(a, out):\n    s = cuda.shared.array(8, {kind})\n    t, i = cuda.threadIdx.x, cuda.grid(1)\n"
            "    if t < 8:\n        s[t] = 0\n    cuda.syncthreads()\n"
            f"{line.replace('MEMORY', 's').replace('AT', 't % 8')}\n"
            "    cuda.syncthreads()\n    if t < 8:\n        out[t] = s[t]\n"
        )
    else:
        old = ", old" if space == "used" else ""
        text = (
            f"def kernel(a, out{old}):\n    i = cuda.grid(1)\n"
            f"{line.replace('MEMORY', 'out').replace('AT', 'i % out.size')}\n"
        )
    return compiled_text(text)


def compiled_text(text):
    """Return the kernel of a source text, under a unique name."""
    import numba

    names = {
        "cuda": cuda,
        "math": math,
        **{k: getattr(numba, k, getattr(np, k)) for k in (*INTEGERS, *FLOATS)},
    }
    names |= {"complex64": complex64, "complex128": complex128}
    name = f"kernel_{len(MADE)}"
    MADE.append(name)
    text = text.replace("def kernel(", f"def {name}(")
    file = FOLDER / f"{name}.py"
    file.write_text(text)  # which is looked up where the kernel is traced
    exec(compile(text, str(file), "exec"), names)
    return cuda.jit(names[name])


def expression_text(expression):
    """Return the source text of an expression's kernel."""
    return f"def kernel(x, y, w, out):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = {expression}\n"
