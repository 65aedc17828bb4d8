"""Kernels around a marked one: one reads clocks and timer together, one gathers the marks of some warps."""

from __future__ import annotations

from typing import Any

from numba import cuda, types

from .intrinsics import clock, multiprocessor, timer


@cuda.jit
def read_clocks(pairs: Any, taken: Any) -> None:
    """Write (clock, timer) at each step of the timer, in only the first block of each multiprocessor.

    pairs: shape (multiprocessors, steps, 2), uint64. taken: shape (multiprocessors,), int32, zeros.
    """
    number = types.int32(multiprocessor())
    if number >= pairs.shape[0] or cuda.atomic.add(taken, number, 1) != 0:
        return
    step = 0
    before = timer()
    while step < pairs.shape[1]:
        cycles = clock()
        now = timer()
        if now != before:
            pairs[number, step, 0] = cycles
            pairs[number, step, 1] = now
            before = now
            step += 1


@cuda.jit
def gather(marks: Any, starts: Any, out: Any) -> None:
    """Copy the marks of some warps: out[i, j] = marks[starts[i] + j], one block per warp."""
    first = starts[cuda.blockIdx.x]
    for j in range(cuda.threadIdx.x, out.shape[1], cuda.blockDim.x):
        out[cuda.blockIdx.x, j] = marks[first + j]
