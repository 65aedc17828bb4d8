"""out = transpose of A, three ways, in blocks of TILE x TILE threads.

PITCH and DTYPE are constants of the compiled kernel: set them before the first launch.
"""

from numba import cuda, float32

TILE = 32
PADDING = 0  # elements of a row of the tile that nobody uses
PITCH = TILE + PADDING
PADDED = 33  # one more than TILE
DTYPE = float32


@cuda.jit
def naive(a, out):
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        out[col, row] = a[row, col]


@cuda.jit
def tile(a, out):
    cells = cuda.shared.array((TILE, PITCH), DTYPE)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if row < a.shape[0] and col < a.shape[1]:
        cells[ty, tx] = a[row, col]
    cuda.syncthreads()
    row = cuda.blockIdx.x * TILE + ty
    col = cuda.blockIdx.y * TILE + tx
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = cells[tx, ty]


@cuda.jit
def padded_tile(a, out):
    cells = cuda.shared.array((TILE, PADDED), DTYPE)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if row < a.shape[0] and col < a.shape[1]:
        cells[ty, tx] = a[row, col]
    cuda.syncthreads()
    row = cuda.blockIdx.x * TILE + ty
    col = cuda.blockIdx.y * TILE + tx
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = cells[tx, ty]
