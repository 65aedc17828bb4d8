"""Four tiled matrix multiplications C = A B that are right for some sizes only; the faults are kept on purpose.

A is M x K, B is K x N, C is M x N. TILE and DTYPE are constants of the compiled kernel.
"""

from numba import cuda, float32

TILE = 16
DTYPE = float32


@cuda.jit
def tiled_by_gridsize(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), DTYPE)
    tile_b = cuda.shared.array((TILE, TILE), DTYPE)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = DTYPE(0)
    for step in range(cuda.gridDim.x):  # as many tiles as the grid is wide, however long K is
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


@cuda.jit
def tiled_row_on_x(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), DTYPE)
    tile_b = cuda.shared.array((TILE, TILE), DTYPE)
    row, col = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if row >= c.shape[0] and col >= c.shape[1]:  # outside on one side alone goes on
        return
    total = DTYPE(0)
    for step in range(a.shape[1] // TILE):  # a last tile that is not full is left out
        tile_a[tx, ty] = a[row, step * TILE + ty]
        tile_b[tx, ty] = b[step * TILE + tx, col]
        cuda.syncthreads()
        for j in range(TILE):
            total += tile_a[tx, j] * tile_b[j, ty]
        cuda.syncthreads()
    c[row, col] = total


@cuda.jit
def tiled_early_return(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), DTYPE)
    tile_b = cuda.shared.array((TILE, TILE), DTYPE)
    row, col = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if row >= c.shape[0] or col >= c.shape[1]:
        return  # never fills its cells of the tiles
    total = DTYPE(0)
    for step in range(cuda.gridDim.x):
        k = step * TILE
        if k + ty >= a.shape[1] or k + tx >= b.shape[0]:
            continue  # past both barriers
        tile_a[tx, ty] = a[row, k + ty]
        tile_b[tx, ty] = b[k + tx, col]
        cuda.syncthreads()
        for j in range(TILE):
            total += tile_a[tx, j] * tile_b[j, ty]
        cuda.syncthreads()
    c[row, col] = total


@cuda.jit
def tiled_one_barrier(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), DTYPE)
    tile_b = cuda.shared.array((TILE, TILE), DTYPE)
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
        # Nobody waits here: a fast warp fills the tiles anew while a slow one still reads them.
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
