"""Candidates: the few touches that races can be among, found in passes over one part of a launch after the other.

A clean launch has none, which saves the rest of the work. A large launch is never completely in memory.
"""

from __future__ import annotations

import numpy as np

from ..analysis.overlap import (
    RANGE,
    SPARE,
    UnitAccesses,
    block_ranges,
    concatenate_accesses,
    dense_keys,
    unit_accesses,
)
from ..model.array_types import Ints, Mask
from ..model.trace import Op, Trace
from .conflicting_accesses import conflicting


def candidates_of(trace: Trace, group: list[int]) -> UnitAccesses:
    """Find the touches of pieces that one thread writes and another touches; of shared memory in one phase."""
    if trace.buffers[group[0]].space == "shared":
        return concatenate_accesses(
            [_in_phases(trace, unit_accesses(trace, group, part)) for part in block_ranges(trace)]
        )
    parts = [slice(low, min(low + RANGE, len(trace))) for low in range(0, len(trace), RANGE)]
    count = unit_accesses(trace, group, slice(0, 0)).count
    if count > 4 * len(trace) + SPARE:  # a table would be too large
        return unit_accesses(trace, group, slice(0, len(trace)))
    contended = _contended(trace, group, parts, count)
    if not contended.any():
        return unit_accesses(trace, group, slice(0, 0))
    touches_by_part = (unit_accesses(trace, group, part) for part in parts)
    return concatenate_accesses([touches.where(contended[touches.unit]) for touches in touches_by_part])


def _in_phases(trace: Trace, touches: UnitAccesses) -> UnitAccesses:
    """Find the touches of shared memory, of complete blocks, on which threads of a block conflict in a phase."""
    if not len(touches.rows):
        return touches
    block_phase, size = dense_keys(_block_phases(trace, touches.rows))
    written = np.zeros(size, bool)
    written[block_phase[trace.op[touches.rows] != Op.LOAD]] = True
    in_written_phase = written[block_phase]
    touches, block_phase = touches.where(in_written_phase), block_phase[in_written_phase]
    key, size = dense_keys(block_phase * touches.count + touches.unit)
    return touches.where(conflicting(key, size, trace.thread[touches.rows], trace.op[touches.rows]))


def _block_phases(trace: Trace, rows: Ints) -> Ints:
    """Number the block and phase of each access."""
    position, phase = trace.block_positions(trace.block[rows]), trace.phase[rows]
    block_phase: Ints = (position - position.min()) * (int(phase.max()) + 1) + phase
    return block_phase


def _contended(trace: Trace, group: list[int], parts: list[slice], count: int) -> Mask:
    """Find the pieces that are written, and touched by more than one thread."""
    written, several, first_thread = np.zeros(count, bool), np.zeros(count, bool), np.full(count, -1)
    for part in parts:
        touches = unit_accesses(trace, group, part)
        rows, piece = touches.rows, touches.unit
        written[piece[trace.op[rows] != Op.LOAD]] = True
        thread = trace.thread_of(rows)
        is_first = first_thread[piece] < 0
        first_thread[piece[is_first]] = thread[is_first]
        several[piece[first_thread[piece] != thread]] = True
    return written & several
