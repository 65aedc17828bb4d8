"""Kernels that round with Python's math: as many steps as a tile fits into a row, and a sample's bin.

DTYPE is a constant of the compiled kernel.
"""

import math

from numba import cuda, float32, float64

DTYPE = float32


@cuda.jit
def tiled_by_ceil(a, b, c, tile):
    shared = cuda.shared.array(0, DTYPE)
    tile_a = shared[: tile * tile]
    tile_b = shared[tile * tile : 2 * tile * tile]
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = DTYPE(0)
    for step in range(math.ceil(a.shape[1] / float64(tile))):
        k = step * tile
        inside_a = row < a.shape[0] and k + tx < a.shape[1]
        inside_b = k + ty < b.shape[0] and col < b.shape[1]
        tile_a[ty * tile + tx] = a[row, k + tx] if inside_a else DTYPE(0)
        tile_b[ty * tile + tx] = b[k + ty, col] if inside_b else DTYPE(0)
        cuda.syncthreads()
        for j in range(tile):
            total += tile_a[ty * tile + j] * tile_b[j * tile + tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@cuda.jit
def histogram_floor(values, low, high, bins):
    width = (high - low) / bins.shape[0]
    for i in range(cuda.grid(1), values.shape[0], cuda.gridsize(1)):
        if low <= values[i] < high:
            cuda.atomic.add(bins, math.floor((float64(values[i]) - low) / width), 1)
