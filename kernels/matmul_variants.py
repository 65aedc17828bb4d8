"""Two more matrix multiplications C = A B that are right for any size, each slower than it need be.

A is M x K, B is K x N, C is M x N. DTYPE is a constant of the compiled kernel.
"""

from numba import cuda, float32

DTYPE = float32


@cuda.jit
def add_into_global(a, b, c):
    row, col = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        for k in range(a.shape[1]):
            c[row, col] += a[row, k] * b[k, col]


@cuda.jit
def tiled_dynamic(a, b, c, tile):
    shared = cuda.shared.array(0, DTYPE)
    tile_a = shared[: tile * tile]
    tile_b = shared[tile * tile : 2 * tile * tile]
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = DTYPE(0)
    for start in range(0, a.shape[1], tile):
        inside_a = row < a.shape[0] and start + tx < a.shape[1]
        inside_b = start + ty < b.shape[0] and col < b.shape[1]
        tile_a[ty * tile + tx] = a[row, start + tx] if inside_a else DTYPE(0)
        tile_b[ty * tile + tx] = b[start + ty, col] if inside_b else DTYPE(0)
        cuda.syncthreads()
        for j in range(tile):
            total += tile_a[ty * tile + j] * tile_b[j * tile + tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
