"""Barriers of the complete grid (cuda.cg.this_grid().sync()), counted for each block and phase.

"Grid Synchronization" in the CUDA C++ Programming Guide: all threads of the grid arrive before any continues, and
their earlier writes are visible to all afterwards.
"""

from __future__ import annotations

import numpy as np

from ..model.array_types import Ints
from ..model.trace import GRID_SCOPE, Trace


def has_grid_barriers(trace: Trace) -> bool:
    """Return True if threads waited for the complete grid."""
    return bool((trace.barriers.reach == GRID_SCOPE).any())


def grid_epochs(trace: Trace) -> Ints:
    """Count the barriers of the grid before each phase, shape (blocks, phases)."""
    barriers = trace.barriers
    phases = max(int(trace.phase.max(initial=0)), int(barriers.phase.max(initial=0)) + 1) + 1
    passed = np.zeros((len(trace.blocks), phases), np.int64)
    is_grid_barrier = barriers.reach == GRID_SCOPE
    block_position = np.searchsorted(trace.blocks, barriers.block[is_grid_barrier])
    passed[block_position, barriers.phase[is_grid_barrier].astype(np.int64) + 1] = 1
    return np.cumsum(passed, axis=1)
