"""Launches too large to run here: the choice of sample blocks, and the limits beyond which launches are refused."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..model.launch import Dim3
from ..model.launch_limits import GRID, THREADS

MAX_BLOCKS, MAX_THREADS = 1 << 20, 1 << 28  # of a launch that runs completely: minutes
SAMPLED_BLOCKS, SAMPLED_THREADS = 1 << 12, 1 << 22  # of a larger launch: seconds
NUMBERED_BLOCKS = 1 << 32  # block numbers that a trace can hold
LARGEST_BLOCK = 1 << 16  # threads; a GPU takes 1,024, and a finding reports blocks between the two


class LaunchRefusedError(ValueError):
    """A launch exceeds a GPU's limits and can't be run here either; raised in the user's program."""

    __module__ = ValueError.__module__  # what Python prints before the name


def check_size(grid: Dim3, block: Dim3) -> None:
    """Raise LaunchRefusedError for a launch that CUDA refuses and that can't be run and reported as a finding."""
    if min(block) < 1:
        text = " x ".join(map(str, block))
        raise LaunchRefusedError(f"a block of {text} threads; a GPU takes at least one")
    threads = math.prod(block)
    if threads > LARGEST_BLOCK:
        raise LaunchRefusedError(f"a block of {threads:,} threads; a GPU takes {THREADS:,} at most")
    if is_too_large(grid, block) and any(map(int.__gt__, grid, GRID)):
        text = " x ".join(f"{length:,}" for length in grid)
        limit = " x ".join(f"{length:,}" for length in GRID)
        raise LaunchRefusedError(f"a grid of {text} blocks; a GPU takes {limit} at most")


def is_too_large(grid: Dim3, block: Dim3) -> bool:
    """Return True if only a sample of a launch's blocks runs by default."""
    blocks = math.prod(grid)
    return blocks > MAX_BLOCKS or blocks * math.prod(block) > MAX_THREADS


def choose_sample_blocks(grid: Dim3, block: Dim3) -> tuple[int, ...]:
    """Choose the blocks of a too large launch that run: the first, the last and others evenly between."""
    last = min(math.prod(grid), NUMBERED_BLOCKS) - 1
    count = max(2, min(SAMPLED_BLOCKS, SAMPLED_THREADS // math.prod(block)))
    return tuple(last * i // (count - 1) for i in range(count))


def existing_blocks(kernel: str, blocks: Sequence[int], grid: Dim3) -> tuple[int, ...]:
    """Return those of the chosen blocks that a grid has; raises LaunchRefusedError if it has none of them."""
    count = math.prod(grid)
    existing = tuple(block for block in blocks if block < count)
    if not existing:
        numbers = "block 0" if count == 1 else f"blocks 0 to {count - 1:,}"
        raise LaunchRefusedError(f"the grid of {kernel} has {numbers}, and --blocks names none of them")
    return existing


def sampling_notice(kernel: str, grid: Dim3, ran: int) -> str:
    """Write the notice for a launch of which only some blocks ran."""
    return (
        f"{kernel} was launched with {math.prod(grid):,} blocks, too many to run here. {ran:,} of them ran: the first, "
        "the last and others evenly between. The arrays lack the results of the others. "
        "Use --blocks all to run them all."
    )
