"""Matrix multiplication, C = A B, as three kernels: one thread computes one element of C.

A is M x K, B is K x N, C is M x N, for any M, K and N. TILE, PITCH and DTYPE are constants of the compiled
kernel: set them before the first launch.
"""

from numba import cuda, float32

TILE = 16
PADDING = 0  # elements of a row of a tile that nobody uses
PITCH = TILE + PADDING
DTYPE = float32


@cuda.jit
def naive_row_on_x(a, b, c):
    row, col = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = DTYPE(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


@cuda.jit
def naive_col_on_x(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = DTYPE(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


@cuda.jit
def tiled(a, b, c):
    tile_a = cuda.shared.array((TILE, PITCH), DTYPE)
    tile_b = cuda.shared.array((TILE, PITCH), DTYPE)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = DTYPE(0)
    for step in range((a.shape[1] + TILE - 1) // TILE):
        k = step * TILE
        tile_a[ty, tx] = 0
        tile_b[ty, tx] = 0
        if row < a.shape[0] and k + tx < a.shape[1]:
            tile_a[ty, tx] = a[row, k + tx]
        if k + ty < b.shape[0] and col < b.shape[1]:
            tile_b[ty, tx] = b[k + ty, col]
        cuda.syncthreads()
        for j in range(TILE):
            total += tile_a[ty, j] * tile_b[j, tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
