"""Matrix multiplication, C = A B, as rungs of a ladder towards NVIDIA's library: each does one thing more.

A is M x K, B is K x N and C is M x N, in float32. M and N are multiples of TILE, K is one of DEPTH: nothing is
checked against the edges. TILE, DEPTH, SIDE, PITCH and LOADS are constants of the compiled kernel: set them before
the first launch.

Numba counts a negative index from the end of its array. Numbers made of uint32 are never negative, so that the
compiler leaves the comparisons out. The loops over SIDE and LOADS are unrolled, so that local arrays become registers.
"""

from numba import cuda, float32, uint32

TILE = 128  # rows and columns of C that a block computes
DEPTH = 8  # columns of A and rows of B that lie in shared memory at once
SIDE = 8  # rows of C, or rows and columns of it, that a thread computes
PITCH = TILE + 4  # elements of a row of the turned tile of A; four of them are used by nobody
LOADS = SIDE * SIDE * DEPTH // TILE  # elements of each tile that a thread loads


@cuda.jit(fastmath=True)
def column_of_results(a, b, c):
    tile_a = cuda.shared.array((TILE, DEPTH), float32)
    tile_b = cuda.shared.array((DEPTH, TILE), float32)
    sums = cuda.local.array(SIDE, float32)
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    thread = ty * TILE + tx
    top, left = uint32(cuda.blockIdx.y) * TILE, uint32(cuda.blockIdx.x) * TILE
    for i in range(SIDE):
        sums[i] = 0
    for step in range(a.shape[1] // DEPTH):
        start = uint32(step) * DEPTH
        tile_a[thread // DEPTH, thread % DEPTH] = a[top + thread // DEPTH, start + thread % DEPTH]
        tile_b[ty, tx] = b[start + ty, left + tx]
        cuda.syncthreads()
        for k in range(DEPTH):
            factor = tile_b[uint32(k), tx]
            for i in range(SIDE):
                sums[i] += tile_a[ty * SIDE + i, uint32(k)] * factor
        cuda.syncthreads()
    for i in range(SIDE):
        c[top + ty * SIDE + i, left + tx] = sums[i]


@cuda.jit(fastmath=True)
def square_of_results(a, b, c):
    tile_a = cuda.shared.array((TILE, DEPTH), float32)
    tile_b = cuda.shared.array((DEPTH, TILE), float32)
    sums = cuda.local.array((SIDE, SIDE), float32)
    part_a = cuda.local.array(SIDE, float32)
    part_b = cuda.local.array(SIDE, float32)
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    threads = (TILE // SIDE) * (TILE // SIDE)
    thread = ty * (TILE // SIDE) + tx
    top, left = uint32(cuda.blockIdx.y) * TILE, uint32(cuda.blockIdx.x) * TILE
    for i in range(SIDE):
        for j in range(SIDE):
            sums[i, j] = 0
    for step in range(a.shape[1] // DEPTH):
        start = uint32(step) * DEPTH
        for i in range(LOADS):
            row, k = thread // DEPTH + i * (threads // DEPTH), thread % DEPTH
            tile_a[row, k] = a[top + row, start + k]
        for i in range(LOADS):
            k, col = thread // TILE + i * (threads // TILE), thread % TILE
            tile_b[k, col] = b[start + k, left + col]
        cuda.syncthreads()
        for k in range(DEPTH):
            for i in range(SIDE):
                part_a[i] = tile_a[ty * SIDE + i, k]
                part_b[i] = tile_b[k, tx * SIDE + i]
            for i in range(SIDE):
                for j in range(SIDE):
                    sums[i, j] += part_a[i] * part_b[j]
        cuda.syncthreads()
    for i in range(SIDE):
        for j in range(SIDE):
            c[top + ty * SIDE + i, left + tx * SIDE + j] = sums[i, j]


@cuda.jit(fastmath=True)
def wide_loads(a, b, c):
    tile_a = cuda.shared.array((DEPTH, PITCH), float32)  # turned: a row of it is a column of A
    tile_b = cuda.shared.array((DEPTH, TILE), float32)
    sums = cuda.local.array((SIDE, SIDE), float32)
    part_a = cuda.local.array(SIDE, float32)
    part_b = cuda.local.array(SIDE, float32)
    tx, ty, warp = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y), uint32(cuda.threadIdx.z)
    threads = (TILE // SIDE) * (TILE // SIDE)
    thread = (warp * 4 + ty) * 8 + tx
    top, left = uint32(cuda.blockIdx.y) * TILE, uint32(cuda.blockIdx.x) * TILE
    half = SIDE // 2  # a thread owns two times two squares of C, so that its lanes read side by side
    across = TILE // (8 * SIDE)
    first_row = warp // across * (4 * SIDE) + ty * half
    first_col = warp % across * (8 * SIDE) + tx * half
    for i in range(SIDE):
        for j in range(SIDE):
            sums[i, j] = 0
    for step in range(a.shape[1] // DEPTH):
        start = uint32(step) * DEPTH
        for i in range(LOADS):
            row, k = thread // DEPTH + i * (threads // DEPTH), thread % DEPTH
            tile_a[k, row] = a[top + row, start + k]
        for i in range(LOADS):
            k, col = thread // TILE + i * (threads // TILE), thread % TILE
            tile_b[k, col] = b[start + k, left + col]
        cuda.syncthreads()
        for k in range(DEPTH):
            for i in range(SIDE):
                part_a[i] = tile_a[k, first_row + i // half * (4 * half) + i % half]
                part_b[i] = tile_b[k, first_col + i // half * (8 * half) + i % half]
            for i in range(SIDE):
                for j in range(SIDE):
                    sums[i, j] += part_a[i] * part_b[j]
        cuda.syncthreads()
    for i in range(SIDE):
        row = first_row + i // half * (4 * half) + i % half
        for j in range(SIDE):
            c[top + row, left + first_col + j // half * (8 * half) + j % half] = sums[i, j]


@cuda.jit(device=True, fastmath=True)
def add_products(tile_a, tile_b, now, k, first_row, first_col, sums):
    part_a = cuda.local.array(SIDE, float32)
    part_b = cuda.local.array(SIDE, float32)
    half = SIDE // 2
    for i in range(SIDE):
        part_a[i] = tile_a[now, k, first_row + i // half * (4 * half) + i % half]
        part_b[i] = tile_b[now, k, first_col + i // half * (8 * half) + i % half]
    for i in range(SIDE):
        for j in range(SIDE):
            sums[i, j] += part_a[i] * part_b[j]


@cuda.jit(device=True, fastmath=True)
def add_tiles(tile_a, tile_b, now, first_row, first_col, sums):
    add_products(tile_a, tile_b, now, 0, first_row, first_col, sums)
    add_products(tile_a, tile_b, now, 1, first_row, first_col, sums)
    add_products(tile_a, tile_b, now, 2, first_row, first_col, sums)
    add_products(tile_a, tile_b, now, 3, first_row, first_col, sums)
    add_products(tile_a, tile_b, now, 4, first_row, first_col, sums)
    add_products(tile_a, tile_b, now, 5, first_row, first_col, sums)
    add_products(tile_a, tile_b, now, 6, first_row, first_col, sums)
    add_products(tile_a, tile_b, now, 7, first_row, first_col, sums)


@cuda.jit(fastmath=True, max_registers=128)  # so that two blocks of 256 threads fit on a multiprocessor
def two_buffers(a, b, c):
    tile_a = cuda.shared.array((2, DEPTH, PITCH), float32)
    tile_b = cuda.shared.array((2, DEPTH, TILE), float32)
    sums = cuda.local.array((SIDE, SIDE), float32)
    next_a = cuda.local.array(LOADS, float32)
    next_b = cuda.local.array(LOADS, float32)
    tx, ty, warp = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y), uint32(cuda.threadIdx.z)
    threads = (TILE // SIDE) * (TILE // SIDE)
    thread = (warp * 4 + ty) * 8 + tx
    top, left = uint32(cuda.blockIdx.y) * TILE, uint32(cuda.blockIdx.x) * TILE
    half = SIDE // 2
    across = TILE // (8 * SIDE)
    first_row = warp // across * (4 * SIDE) + ty * half
    first_col = warp % across * (8 * SIDE) + tx * half
    for i in range(SIDE):
        for j in range(SIDE):
            sums[i, j] = 0
    for i in range(LOADS):
        row, k = thread // DEPTH + i * (threads // DEPTH), thread % DEPTH
        tile_a[0, k, row] = a[top + row, k]
    for i in range(LOADS):
        k, col = thread // TILE + i * (threads // TILE), thread % TILE
        tile_b[0, k, col] = b[k, left + col]
    cuda.syncthreads()
    now = uint32(0)
    for step in range(1, a.shape[1] // DEPTH):
        start = uint32(step) * DEPTH
        for i in range(LOADS):
            row, k = thread // DEPTH + i * (threads // DEPTH), thread % DEPTH
            next_a[i] = a[top + row, start + k]
        for i in range(LOADS):
            k, col = thread // TILE + i * (threads // TILE), thread % TILE
            next_b[i] = b[start + k, left + col]
        add_tiles(tile_a, tile_b, now, first_row, first_col, sums)
        now = uint32(1 - now)
        for i in range(LOADS):
            row, k = thread // DEPTH + i * (threads // DEPTH), thread % DEPTH
            tile_a[now, k, row] = next_a[i]
        for i in range(LOADS):
            k, col = thread // TILE + i * (threads // TILE), thread % TILE
            tile_b[now, k, col] = next_b[i]
        cuda.syncthreads()
    add_tiles(tile_a, tile_b, now, first_row, first_col, sums)
    for i in range(SIDE):
        row = first_row + i // half * (4 * half) + i % half
        for j in range(SIDE):
            c[top + row, left + first_col + j // half * (8 * half) + j % half] = sums[i, j]
