"""Kernels that Numba compiles for a GPU, of many kinds, and what they and those that it refuses use.

`open` in `fails_inside` is on the line that test_refusals expects of the kernel that calls it.
"""

import ctypes
import enum
import math
import operator
import random
import time
from collections import namedtuple

import numba
import numpy as np
from helpers_of_kernels import TILE
import helpers_of_kernels as helpers
from numba import cuda, float32, float64, from_dtype, int32, int64, jit, njit, types
from numba.cuda import libdevice
from numba.cuda.random import xoroshiro128p_dtype, xoroshiro128p_uniform_float32
from numba.extending import overload, register_jitable

SIZE, LIST, DICT = 16, [1.0, 2.0], {1: 2}
TABLE = np.arange(8, dtype=np.float32)
PAIR = namedtuple("Pair", "x y")(1, 2.5)
RECORD = from_dtype(np.dtype([("x", np.float32), ("y", np.int16)]))
LIBC = ctypes.CDLL(None)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 3


class Thing:
    value = 1


THING = Thing()


@cuda.jit(device=True)
def device(x, y):
    return x + y


def plain(x):
    return x


@cuda.jit(device=True)
def fails_inside(x):
    f = open("x")  #!!
    return x


@cuda.jit
def ok_guarded(a, b, n):
    i = cuda.grid(1)
    if i < n:
        b[i] = a[i] * 2 + n


@cuda.jit
def ok_shared(a, b, n):
    t = cuda.shared.array(SIZE, float32)
    u = cuda.shared.array((SIZE, 2), dtype=np.float64)
    w = cuda.local.array(TILE, types.int8)
    t[SIZE - 1 - cuda.threadIdx.x] = a[0]
    u[0, 0] = w[0]
    cuda.syncthreads()
    b[0] = t[0]


@cuda.jit
def ok_module(a, b, n):
    b[0] = helpers.tripled(a[0])


def make(width, op):
    @cuda.jit
    def ok_factory(a, b, n):
        t = cuda.shared.array(width, float32)
        t[0] = a[0]
        b[0] = op(t[0], a[1])

    return ok_factory


ok_factory = make(4, cuda.jit(device=True)(lambda x, y: x + y))


def ok_functional(a, b, n):
    b[0] = a[0]


ok_functional = cuda.jit(ok_functional)


class Solver:
    @staticmethod
    @cuda.jit
    def ok_method(a, b, n):
        b[0] = a[0] * SIZE


ok_method = Solver.ok_method


@njit
def on_cpu(x):
    return x + 1


@cuda.jit
def ok_jitted_for_the_CPU(a, b, n):
    b[0] = on_cpu(a[0])


@cuda.jit(device=True)
def part(a, n):
    return a[n : n + 4]


@cuda.jit(device=True)
def down(x):
    if x <= 1:
        return 1
    return x * down(x - 1)  #!!


@cuda.jit
def ok_constant_array(a, b, n):
    c = cuda.const.array_like(TABLE)
    b[0] = c[n] + TABLE[0]


@cuda.jit
def ok_named_tuple(a, b, n):
    b[0] = PAIR.x + PAIR.y


@cuda.jit(device=True)
def coloured(x):
    return Colour.RED if x > 1 else Colour.BLUE


@cuda.jit
def ok_enumeration(a, b, n):
    if coloured(a[0]) == Colour.RED:
        b[0] = n == Level.LOW


@cuda.jit
def ok_records(r, b, n):
    r[0].x = r[1].y
    t = cuda.local.array(2, RECORD)
    t[0].x = 1
    b[0] = t[0].x


REAL = np.float32


@cuda.jit
def ok_types_as_values(a, b, n):
    t = cuda.shared.array(4, REAL)
    b[0] = REAL(n) + t[0]


@cuda.jit
def ok_random_states(s, b, n):
    b[0] = xoroshiro128p_uniform_float32(s, 0)


@cuda.jit
def ok_none(a, b, c):
    if c is None:
        b[0] = a[0]
    else:
        b[0] = c[0]


@cuda.jit
def ok_tuple_of_arrays(p, b, n):
    b[0] = p[0][1] + p[1][n]


@cuda.jit
def ok_warps(a, b, n):
    v = cuda.shfl_down_sync(0xFFFFFFFF, a[0], 1)
    m = cuda.ballot_sync(0xFFFFFFFF, v > 1)
    b[0] = cuda.popc(m) + cuda.laneid
    cuda.syncwarp()


@cuda.jit
def ok_atomics(a, b, n):
    cuda.atomic.add(b, 0, a[0])
    cuda.atomic.max(b, 1, a[1])


@cuda.jit
def ok_cooperative(a, b, n):
    g = cuda.cg.this_grid()
    b[0] = a[0]
    g.sync()


@cuda.jit
def ok_half(a, b, n):
    h = cuda.fp16.hadd(np.float16(1), np.float16(2))
    b[0] = float32(h)


@cuda.jit
def ok_vectors(a, b, n):
    v = cuda.float32x4(1, 2, 3, 4)
    b[0] = v.x + v.w




@cuda.jit
def ok_libdevice(a, b, n):
    b[0] = libdevice.sinf(a[0])


@cuda.jit
def ok_math(a, b, n):
    b[0] = math.sqrt(a[0]) + np.sin(a[0]) + abs(a[1]) + min(a[0], 1) + pow(a[0], 2)


@cuda.jit
def ok_nested(a, b, n):
    def twice(x):
        return x * 2

    f = lambda x: x + 1
    b[0] = f(twice(a[0]))


@cuda.jit
def ok_errors(a, b, n):
    assert a[0] >= 0, "negative"
    if a[1] < 0:
        raise ValueError("bad")


class OwnError(Exception):
    pass


@cuda.jit
def ok_own_error(a, b, n):
    if a[1] < 0:
        raise OwnError("bad")


@cuda.jit
def ok_prints(a, b, n):
    print("value", a[0], n)


@cuda.jit
def ok_loops(a, b, n):
    for i, x in enumerate(a):
        b[i] = x
    for x, y in zip(a, b):
        b[0] += x * y


@cuda.jit
def ok_slices(a, b, n):
    row = a[1:3]
    row[0] = 1
    b[1:3] = 0


@cuda.jit
def ok_complex(c, b, n):
    b[0] = (c[0] * 2j).real + abs(c[1])


@cuda.jit
def ok_one_of_several_types(a, b, n):
    x = None
    if a[0] > 1:
        x = 1
    if x is not None:
        b[0] = x


@cuda.jit("void(float32[:], float32[:], int32)")
def ok_signature(a, b, n):
    b[0] = a[n & 1]


@cuda.jit(types.void(float32[::1], float32[:], int64))
def ok_signature_of_types(a, b, n):
    b[0] = a[n & 1]


@cuda.jit("int32(int32)", device=True)
def low(x):
    return x & 1


@cuda.jit
def ok_signature_of_what_it_calls(a, b, n):
    b[0] = low(a[0])


@cuda.jit(device=True, inline="always")
def small(x):
    return x + 1


@cuda.jit(fastmath=True)
def ok_options(a, b, n):
    b[0] = small(a[0])


@register_jitable
def taught(x):
    return x + 1


@cuda.jit
def ok_taught(a, b, n):
    b[0] = taught(a[0])


def overloaded(x):
    return x


@overload(overloaded, target="cuda")
def ol_known(x):
    return lambda x: x


@cuda.jit
def ok_overloaded(a, b, n):
    b[0] = overloaded(a[0])


HELD = cuda.to_device(np.ones(4, np.float32))


@cuda.jit
def ok_device_array_outside(a, b, n):
    b[0] = HELD[0]


@cuda.jit(device=True)
def shifted(x, by=2):
    return x + by


@cuda.jit
def ok_defaults(a, b, n):
    b[0] = shifted(a[0]) + shifted(a[0], by=3)


@cuda.jit
def ok_text(a, b, mode):
    b[0] = a[0]


def build():
    SIZE = 4

    @cuda.jit
    def ok_global_shadowed(a, b, n):
        b[0] = a[SIZE % 4]

    return ok_global_shadowed


ok_global_shadowed = build()


@cuda.jit
def ok_match(a, b, n):
    t = n if n > 2 else -n
    while t > 0:
        t >>= 1
        if t == 3:
            break
    b[0] = t
