"""Launches larger than can be run here: which of their blocks run in place of all, and what is refused."""

from __future__ import annotations

import math

from ..model.launch import Dim3
from ..model.launch_limits import GRID, THREADS

MOST_BLOCKS, MOST_THREADS = 1 << 20, 1 << 28  # of a launch that is run whole: minutes
SAMPLED_BLOCKS, SAMPLED_THREADS = 1 << 12, 1 << 22  # of a larger one: seconds
NUMBERED_BLOCKS = 1 << 32  # a trace numbers so many
LARGEST_BLOCK = 1 << 16  # threads; a GPU takes 1,024, and a finding says so of those between


class LaunchRefused(ValueError):
    """A launch that no GPU takes and that is too large, or too small, to be run all the same; raised in the program."""


def check_size(grid: Dim3, block: Dim3) -> None:
    """Raise LaunchRefused for what CUDA refuses where it can't be run and reported as a finding."""
    if min(block) < 1:
        text = " x ".join(map(str, block))
        raise LaunchRefused(f"a block of {text} threads; a GPU takes at least one")
    threads = math.prod(block)
    if threads > LARGEST_BLOCK:
        raise LaunchRefused(f"a block of {threads:,} threads; a GPU takes {THREADS:,} at most")
    if is_too_large(grid, block) and any(map(int.__gt__, grid, GRID)):
        text = " x ".join(f"{length:,}" for length in grid)
        most = " x ".join(f"{length:,}" for length in GRID)
        raise LaunchRefused(f"a grid of {text} blocks; a GPU takes {most} at most")


def is_too_large(grid: Dim3, block: Dim3) -> bool:
    """Return whether a launch is not run whole unless somebody asks for it."""
    blocks = math.prod(grid)
    return blocks > MOST_BLOCKS or blocks * math.prod(block) > MOST_THREADS


def sampled_blocks(grid: Dim3, block: Dim3) -> tuple[int, ...]:
    """Return which blocks run of a launch that is too large: the first, the last and others evenly between."""
    last = min(math.prod(grid), NUMBERED_BLOCKS) - 1
    count = max(2, min(SAMPLED_BLOCKS, SAMPLED_THREADS // math.prod(block)))
    return tuple(last * i // (count - 1) for i in range(count))


def sampling_notice(kernel: str, grid: Dim3, ran: int) -> str:
    """Return what is said of a launch of which only some blocks ran."""
    return (
        f"{kernel} was launched with {math.prod(grid):,} blocks, too many to run here: {ran:,} of them ran, the first, "
        "the last and others evenly between, and its arrays lack what the others would have written. "
        "--blocks all runs them all."
    )
