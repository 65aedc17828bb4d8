from numba import cuda, float32

TILE = 32
WIDTH = TILE + 1


@cuda.jit
def transpose(a, out):
    tile = cuda.shared.array((TILE, WIDTH), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        tile[ty, tx] = a[row, col]
    row = cuda.blockIdx.x * TILE + ty
    col = cuda.blockIdx.y * TILE + tx
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = tile[tx, ty]
