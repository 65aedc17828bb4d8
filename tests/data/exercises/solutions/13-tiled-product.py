from numba import cuda, float32

TILE = 8


@cuda.jit
def product(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
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
