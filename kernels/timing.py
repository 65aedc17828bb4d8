"""Kernels that measure a device, or make it ready for being measured."""

from numba import cuda, float32

PAUSE = 10_000  # nanoseconds


@cuda.jit
def hold(pauses):
    """Keep the stream busy, so that what is queued behind waits for nothing but this."""
    for _ in range(pauses):
        cuda.nanosleep(PAUSE)


@cuda.jit
def nothing():
    pass


@cuda.jit
def overwrite(memory):
    for i in range(cuda.grid(1), memory.shape[0], cuda.gridsize(1)):
        memory[i] = 0


@cuda.jit
def read_all(memory, sink):
    total = float32(0)
    for i in range(cuda.grid(1), memory.shape[0], cuda.gridsize(1)):
        total += memory[i]
    if total != 0:  # never so, but the compiler can't know
        sink[0] = total


@cuda.jit
def multiply_add(sink, half, rounds):
    """Eight chains of multiply-adds a thread, four links of each a round: 64 operations, in the dtype of `half`."""
    x = half
    y = half if cuda.threadIdx.x % 2 else half + half  # so that the threads differ
    a = y
    b = a + y
    c = b + y
    d = c + y
    e = d + y
    f = e + y
    g = f + y
    h = g + y
    for _ in range(rounds):
        for _ in range(4):
            a = a * x + y
            b = b * x + y
            c = c * x + y
            d = d * x + y
            e = e * x + y
            f = f * x + y
            g = g * x + y
            h = h * x + y
    if a + b + c + d + e + f + g + h < 0:  # never so
        sink[0] = a
