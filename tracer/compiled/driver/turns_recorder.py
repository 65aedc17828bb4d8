"""The recorder of compiled launches whose blocks run at once; it keeps the same rows as the simulator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...model.array_types import Columns
from ...recording.recorder import Recorder
from ..not_compilable import TooManyTurnsError
from ..rewrite.program import RecordingProgram
from ..state import BlockSlot, Word
from .row_recorder import RowRecorder


class TurnsRecorder(RowRecorder):
    """Takes the rows of several blocks at once; past the limit they are counted as columns, by complete blocks.

    most: accesses after which it raises TooManyTurnsError, if any.
    """

    max_accesses: int | None = None
    _in_turns = True

    def __init__(
        self, limit: int, memory: int, count: Callable[[Columns], None], program: RecordingProgram,
        state: NDArray[np.int64], number_of: Callable[[int, int], int], blocks: int, threads: int,
    ) -> None:  # fmt: skip

        def count_by_block(columns: Columns) -> None:
            count(_by_block(columns))

        super().__init__(max(1, limit), memory, count_by_block, program, state, number_of, blocks, threads)
        self.limit = limit

    def _most_rows(self) -> int:
        return self.limit if self.max_accesses is None else min(self.limit, self.max_accesses)

    def _take_rows(self, complete: int) -> None:
        self._catch_up()
        self._take_arrivals()
        self._note_ended_blocks()
        rows = self.rows[: self._row_count()]
        if len(rows):
            self._keep(rows)
            self.accesses += len(rows)
        if self.max_accesses is not None and self.accesses > self.max_accesses:
            raise TooManyTurnsError(f"it makes more than {self.max_accesses:,} accesses.")
        self.state[Word.ROW], self.state[Word.BASE] = self.state[Word.BEGIN], self.accesses
        if self.state[Word.NUMBERS] > self.state[Word.NUMBERS_ROOM] // 2:
            self._renumber_phases()
        if len(rows):
            self._apply_limit()
            if self.capped:
                self._intake.end()
                self.state[Word.PAUSE_AT] = 1

    def _refuse_idle_barriers(self) -> None:
        """Let blocks pass barriers: when threads take turns, the driver checks for endless waits."""

    def _renumber_phases(self) -> None:
        """Renumber the phases of the live blocks from 0: no row refers to a context any more."""
        used_slots = np.flatnonzero(self.block_slots[:, BlockSlot.IS_USED])
        for table, word in ((self._blocks, BlockSlot.BLOCK), (self._phases, BlockSlot.PHASE)):
            table[: len(used_slots)] = self.block_slots[used_slots, word]
        self.block_slots[used_slots, BlockSlot.NUMBER] = np.arange(len(used_slots)) * self.threads
        self.state[Word.NUMBERS] = len(used_slots)
        if self.state[Word.BLOCK_SLOT] >= 0:
            first_context = self.block_slots[self.state[Word.BLOCK_SLOT], BlockSlot.NUMBER]
            self.state[Word.CONTEXT] = first_context + self.state[Word.THREAD]

    def _is_phase_over(self, rows: Columns) -> NDArray[np.bool_]:
        return Recorder._is_phase_over(self, rows)

    def _split(self, chunks: list[Columns]) -> tuple[list[Columns], list[Columns]]:
        return Recorder._split(self, chunks)

    def finish_block(self, block: int) -> None:
        """Record that a block has made all its accesses."""
        Recorder.finish_block(self, block)


def _by_block(rows: Columns) -> Columns:
    """Sort rows by block; the rows of a block keep their order."""
    order = np.argsort(rows["block"], kind="stable")
    return {name: column[order] for name, column in rows.items()}
