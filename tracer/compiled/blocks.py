"""Running blocks: the threads of one after the other, phase by phase, in the order of `sequential`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..trace import Dim3, unravel
from .memory import Memory
from .recording import RowRecorder
from .state import Why, Word

SIZE, BEGIN, RESUME = range(3)


class Blocks:
    """Runs the blocks of one launch: sweep(address of the state, mode) runs threads until each stops."""

    def __init__(
        self, sweep: Callable[[int, int], int], state: NDArray[np.int64], recorder: RowRecorder, memory: Memory,
        grid: Dim3, dim: Dim3,
    ) -> None:  # fmt: skip
        self._sweep, self._state, self._recorder, self._memory = sweep, state, recorder, memory
        self._grid, self._count = grid, dim[0] * dim[1] * dim[2]
        self._address = state.ctypes.data
        tables = (Word.ORDER, Word.WHY, Word.WHERE, Word.WHEN, Word.OUT, Word.IN, Word.MASK, Word.EXTRA)
        self._tables = np.zeros((len(tables), self._count), np.int64)
        for word, table in zip(tables, self._tables, strict=True):
            state[word] = table.ctypes.data
        self._order, self._why, self._where, self._when = self._tables[:4]
        state[Word.DX : Word.DZ + 1], state[Word.GX : Word.GZ + 1] = dim, grid
        frame = -(-sweep(self._address, SIZE) // 16) * 16
        self._frames = np.zeros(frame * self._count, np.uint8)
        state[Word.FRAME], state[Word.FRAMES] = frame, self._frames.ctypes.data

    def run(self, block: int) -> None:
        """Run one block to its end."""
        self._state[Word.BX : Word.BZ + 1] = unravel(block, self._grid)
        self._memory.refresh()
        running = np.arange(self._count)
        mode, phase = BEGIN, 0
        while len(running):
            self._go(block, phase, running, mode)
            mode = RESUME
            waiting = running[self._why[running] == Why.BARRIER]
            self._arrive(block, phase, waiting)
            running, phase = waiting, phase + 1

    def _go(self, block: int, phase: int, threads: NDArray[np.int64], mode: int) -> None:
        self._recorder.sweep(block, phase)
        self._order[: len(threads)] = threads
        self._state[Word.COUNT] = len(threads)
        self._sweep(self._address, mode)

    def _arrive(self, block: int, phase: int, threads: NDArray[np.int64]) -> None:
        if len(threads):
            self._recorder.arrived((block, phase, threads, self._where[threads], self._when[threads]))


__all__ = ["Any", "Blocks"]
