"""CUDA's model in plain Python: what a launch, shared memory and a barrier mean, step by step.

C = A B: A is M x K, B is K x N, C is M x N; a block has tile x tile threads and makes a tile of C.
"""

from threading import Barrier, Thread
from typing import NamedTuple

import numpy as np


class Dim3(NamedTuple):
    x: int
    y: int = 1


def blocks(grid):
    """Yield the place of every block of a grid, x fastest."""
    for y in range(grid.y):
        for x in range(grid.x):
            yield Dim3(x, y)


def threads(block):
    """Yield the place of every thread of a block, x fastest: one sweep over them is a phase."""
    for y in range(block.y):
        for x in range(block.x):
            yield Dim3(x, y)


def shared_array(shape, dtype):
    return np.zeros(shape, dtype)


def grid_over(c, tile):
    return Dim3(-(-c.shape[1] // tile), -(-c.shape[0] // tile))


# A launch is loops: every block, and in it every thread, one after the other.


def matmul_loops(a, b, c, tile):
    block = Dim3(tile, tile)
    for block_idx in blocks(grid_over(c, tile)):
        for thread_idx in threads(block):
            one_element(block_idx, thread_idx, block, a, b, c)


def one_element(block_idx, thread_idx, block, a, b, c):
    row, col = place(block_idx, thread_idx, block)
    if row < c.shape[0] and col < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


def place(block_idx, thread_idx, block):
    return block_idx.y * block.y + thread_idx.y, block_idx.x * block.x + thread_idx.x


# Shared memory belongs to a block: all its threads fill the tiles, and only then all use them.


def matmul_block_at_a_time(a, b, c, tile):
    block = Dim3(tile, tile)
    for block_idx in blocks(grid_over(c, tile)):
        tile_a, tile_b = tiles_of(tile, a.dtype)
        for start in range(0, a.shape[1], tile):
            for tx, ty in threads(block):
                row, col = place(block_idx, Dim3(tx, ty), block)
                tile_a[ty * tile + tx] = element(a, row, start + tx)
                tile_b[ty * tile + tx] = element(b, start + ty, col)
            for tx, ty in threads(block):
                row, col = place(block_idx, Dim3(tx, ty), block)
                if row < c.shape[0] and col < c.shape[1]:
                    for j in range(tile):
                        c[row, col] += tile_a[ty * tile + j] * tile_b[j * tile + tx]


def tiles_of(tile, dtype):
    shared = shared_array(2 * tile * tile, dtype)
    return shared[: tile * tile], shared[tile * tile :]


def element(matrix, row, col):
    inside = row < matrix.shape[0] and col < matrix.shape[1]
    return matrix[row, col] if inside else 0.0


# The same with the loop over threads taken out: what each thread does is a function of its place.


def run_threads(work, block, *arguments):
    for thread_idx in threads(block):
        work(thread_idx, *arguments)


def matmul_run_threads(a, b, c, tile):
    block = Dim3(tile, tile)
    for block_idx in blocks(grid_over(c, tile)):
        tile_a, tile_b = tiles_of(tile, a.dtype)

        def fill(thread_idx, start, block_idx=block_idx, tile_a=tile_a, tile_b=tile_b):
            row, col = place(block_idx, thread_idx, block)
            cell = thread_idx.y * tile + thread_idx.x
            tile_a[cell] = element(a, row, start + thread_idx.x)
            tile_b[cell] = element(b, start + thread_idx.y, col)

        def add_products(thread_idx, block_idx=block_idx, tile_a=tile_a, tile_b=tile_b):
            row, col = place(block_idx, thread_idx, block)
            if row < c.shape[0] and col < c.shape[1]:
                for j in range(tile):
                    c[row, col] += tile_a[thread_idx.y * tile + j] * tile_b[j * tile + thread_idx.x]

        for start in range(0, a.shape[1], tile):
            run_threads(fill, block, start)
            run_threads(add_products, block)


# One Python thread per CUDA thread: now somebody must wait for the others.


def matmul_python_threads(a, b, c, tile):
    block = Dim3(tile, tile)
    for block_idx in blocks(grid_over(c, tile)):
        shared = (*tiles_of(tile, a.dtype), Barrier(tile * tile))
        team = [
            Thread(target=tiled_thread, args=(block_idx, thread_idx, block, *shared, a, b, c))
            for thread_idx in threads(block)
        ]
        for thread in team:
            thread.start()
        for thread in team:
            thread.join()


def tiled_thread(block_idx, thread_idx, block, tile_a, tile_b, barrier, a, b, c):
    tile, (tx, ty) = block.x, thread_idx
    row, col = place(block_idx, thread_idx, block)
    total = 0.0
    for start in range(0, a.shape[1], tile):
        tile_a[ty * tile + tx] = element(a, row, start + tx)
        tile_b[ty * tile + tx] = element(b, start + ty, col)
        barrier.wait()
        for j in range(tile):
            total += tile_a[ty * tile + j] * tile_b[j * tile + tx]
        barrier.wait()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


# The barrier alone: three threads say 1 2 3, then -1 -2 -3, then 10 20 30, each group in any order.


def three_threads(said):
    block = Dim3(said.shape[1])
    for _ in blocks(Dim3(1)):
        barrier = Barrier(block.x)
        team = [Thread(target=three_phases, args=(said, t, barrier)) for t, _ in threads(block)]
        for thread in team:
            thread.start()
        for thread in team:
            thread.join()


def three_phases(said, t, barrier):
    said[0, t] = t + 1
    barrier.wait()
    said[1, t] = -(t + 1)
    barrier.wait()
    said[2, t] = 10 * (t + 1)
