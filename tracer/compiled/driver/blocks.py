"""Running blocks: the threads of one after the other, phase by phase, in the order of `sequential`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...model.array_types import Ints
from ...model.trace import BLOCK_SCOPE, Dim3, unravel
from ...recording.warp_operations import ALL
from ..state import StopReason, Word
from .memory import LaunchMemory
from .row_recorder import RowRecorder
from .synchronisation import BlockWarpBarriers, ThreadTables, parts, vote

SIZE, BEGIN, RESUME = range(3)


class BlockRunner:
    """Runs the blocks of one launch: sweep(address of the state, mode) runs threads until each stops."""

    def __init__(
        self, sweep: Callable[[int, int], int], state: NDArray[np.int64], recorder: RowRecorder, memory: LaunchMemory,
        grid: Dim3, dim: Dim3,
    ) -> None:  # fmt: skip
        self._sweep, self._state, self._recorder, self._memory = sweep, state, recorder, memory
        self._grid, self._count = grid, dim[0] * dim[1] * dim[2]
        self._address = state.ctypes.data
        words = (
            Word.ORDER,
            Word.REASON,
            Word.STOP_SITE,
            Word.STOP_STEP,
            Word.OUT,
            Word.IN,
            Word.MASK,
            Word.EXTRA,
        )
        rows = np.zeros((len(words), self._count), np.int64)
        for word, table in zip(words, rows, strict=True):
            state[word] = table.ctypes.data
        self._order, self._reason, self._stop_site, self._stop_step, *moved = rows
        self._tables = ThreadTables(self._reason, self._stop_site, self._stop_step, *moved)
        state[Word.DX : Word.DZ + 1], state[Word.GX : Word.GZ + 1] = dim, grid
        frame = -(-sweep(self._address, SIZE) // 16) * 16
        self._frames = np.zeros(frame * self._count, np.uint8)
        state[Word.FRAME], state[Word.FRAMES] = frame, self._frames.ctypes.data

    def run(self, block: int, end: int) -> int:
        """Run a block to its end, and those that follow before `end` as far as compiled code goes on by itself.

        Returns the number of the block that comes next.
        """
        state = self._state
        state[Word.BX : Word.BZ + 1] = unravel(block, self._grid)
        state[Word.BLOCKS_END] = block + 1 if self._memory.needs_refresh else end
        self._memory.refresh()
        self._recorder.begin_block(block)
        self._reason[:] = StopReason.DONE
        self._phase, mode = 0, BEGIN
        turns, running, warp_barriers = self._all_threads(block)
        while len(turns):
            self._go(block, turns, mode, uniform=len(turns) == running.sum() and not warp_barriers)
            mode = RESUME
            if block != state[Word.BLOCK]:
                block = int(state[Word.BLOCK])
                turns, running, warp_barriers = self._all_threads(block)
            turns = self._next(turns, running, warp_barriers)
        return block + 1

    def _all_threads(self, block: int) -> tuple[Ints, NDArray[np.bool_], BlockWarpBarriers]:
        """Return the threads of a block that begins, which of them run, and the warps that wait: none."""
        self._at_barrier = np.empty(0, np.int64)
        check = self._recorder.mask_faults.check
        waiting = BlockWarpBarriers(self._tables, block, self._recorder.site, check)
        return np.arange(self._count), np.ones(self._count, bool), waiting

    def _next(self, turns: Ints, running: NDArray[np.bool_], warp_barriers: BlockWarpBarriers) -> Ints:
        """Return the threads that go on after these have stopped, in their order."""
        reason = self._reason[turns]
        stopped = turns[(reason > StopReason.DONE) & (reason < StopReason.SYNCWARP)]
        at_warp = turns[reason >= StopReason.SYNCWARP]
        self._arrive(stopped, warp=False)
        self._arrive(at_warp, warp=True)
        if not len(at_warp) and len(self._at_barrier) == 0 and not warp_barriers:
            running[turns[reason == StopReason.DONE]] = False
            return self._released(stopped)
        released = warp_barriers.take_in(turns.tolist(), running)
        waiting = np.concatenate([self._at_barrier, stopped])
        self._at_barrier = np.empty(0, np.int64)
        if len(waiting) == running.sum():
            return self._released(np.sort(waiting))
        self._at_barrier = waiting
        return np.array(sorted(released or warp_barriers.release_incomplete(running)), np.int64)

    def _released(self, threads: Ints) -> Ints:
        """Let the threads that wait at a barrier go on into their next phase."""
        vote(self._tables, threads)
        self._phase += 1
        return threads

    def _go(self, block: int, threads: Ints, mode: int, *, uniform: bool) -> None:
        """Run threads until they stop; where all that still run wait at a barrier, compiled code goes on by itself."""
        self._recorder.sweep(block, self._phase, uniform=uniform)
        self._order[: len(threads)] = threads
        self._state[Word.COUNT] = len(threads)
        self._sweep(self._address, mode)
        self._phase = int(self._state[Word.PHASE])

    def _arrive(self, threads: Ints, *, warp: bool) -> None:
        if len(threads):
            reach, part = np.full(len(threads), BLOCK_SCOPE), np.zeros(len(threads), np.int64)
            if warp:  # of the warp operations, syncwarp alone orders memory
                reach = np.where(
                    self._reason[threads] == StopReason.SYNCWARP, self._tables.mask[threads] & ALL, 0
                )
                part = parts(self._tables, threads)
            self._recorder.arrived(
                threads, self._stop_site[threads], self._stop_step[threads], reach, part, warp=warp
            )
