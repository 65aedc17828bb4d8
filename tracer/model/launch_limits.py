"""Limits of a CUDA launch on all current GPUs (CUDA C++ Programming Guide, technical specifications)."""

from __future__ import annotations

THREADS = 1024  # of a block
BLOCK = (1024, 1024, 64)  # threads along x, y, z
GRID = (2**31 - 1, 65_535, 65_535)  # blocks along x, y, z
