"""Barriers of the whole grid (cuda.cg.this_grid().sync()): how many each block has passed in each phase.

"Grid Synchronization" in the CUDA C++ Programming Guide: all threads of the grid come before any goes on, and
what they wrote before is seen by all after.
"""

from __future__ import annotations

import numpy as np

from ..model.array_types import Ints
from ..model.trace import GRID_SCOPE, Trace


def has_grid_barriers(trace: Trace) -> bool:
    """Return whether threads waited for the whole grid."""
    return bool((trace.barriers.reach == GRID_SCOPE).any())


def grid_epochs(trace: Trace) -> Ints:
    """Return how many barriers of the grid lie before each phase, shape (blocks, phases)."""
    barriers = trace.barriers
    phases = max(int(trace.phase.max(initial=0)), int(barriers.phase.max(initial=0)) + 1) + 1
    passed = np.zeros((len(trace.blocks), phases), np.int64)
    mine = barriers.reach == GRID_SCOPE
    block_position = np.searchsorted(trace.blocks, barriers.block[mine])
    passed[block_position, barriers.phase[mine].astype(np.int64) + 1] = 1
    return np.cumsum(passed, axis=1)
