"""The recorder of compiled launches whose blocks run at once; it keeps what the simulator's does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...model.array_types import Columns
from ...recording.recorder import Recorder
from ..not_compilable import TooManyTurns
from ..rewrite.program import RecordingProgram
from ..state import SeatWord, Word
from .row_recorder import RowRecorder


class TurnsRecorder(RowRecorder):
    """Takes the rows of many blocks under way; past the cap they are counted as columns, whole blocks at a time.

    most: accesses after which it raises TooManyTurns, if any.
    """

    most: int | None = None
    _in_turns = True

    def __init__(
        self, limit: int, memory: int, count: Callable[[Columns], None], program: RecordingProgram,
        state: NDArray[np.int64], number_of: Callable[[int, int], int], blocks: int, threads: int,
    ) -> None:  # fmt: skip

        def counted(columns: Columns) -> None:
            count(_by_block(columns))

        super().__init__(max(1, limit), memory, counted, program, state, number_of, blocks, threads)
        self.limit = limit

    def _most_rows(self) -> int:
        return self.limit if self.most is None else min(self.limit, self.most)

    def _empty(self, complete: int) -> None:
        self._catch_up()
        self._take_arrivals()
        self._note_ended()
        rows = self.rows[: self._count()]
        if len(rows):
            self._keep(rows)
            self.accesses += len(rows)
        if self.most is not None and self.accesses > self.most:
            raise TooManyTurns(f"it makes more than {self.most:,} accesses.")
        self.state[Word.ROW], self.state[Word.BASE] = self.state[Word.BEGIN], self.accesses
        if self.state[Word.NUMBERS] > self.state[Word.NUMBERS_ROOM] // 2:
            self._number_anew()
        if len(rows):
            self._mind_the_limit()
            if self.capped:
                self._intake.end()
                self.state[Word.PAUSE_AT] = 1

    def _refuse_idle_barriers(self) -> None:
        """Let blocks pass barriers: in turns, the driver looks whether they would for ever."""

    def _number_anew(self) -> None:
        """Number the phases of the blocks under way from 0 on: no row has a context any more."""
        taken = np.flatnonzero(self.seats[:, SeatWord.TAKEN])
        for table, word in ((self._blocks, SeatWord.BLOCK), (self._phases, SeatWord.PHASE)):
            table[: len(taken)] = self.seats[taken, word]
        self.seats[taken, SeatWord.NUMBER] = np.arange(len(taken)) * self.threads
        self.state[Word.NUMBERS] = len(taken)
        if self.state[Word.SEAT] >= 0:
            first = self.seats[self.state[Word.SEAT], SeatWord.NUMBER]
            self.state[Word.CONTEXT] = first + self.state[Word.THREAD]

    def _complete(self, rows: Columns) -> NDArray[np.bool_]:
        return Recorder._complete(self, rows)

    def _split(self, chunks: list[Columns]) -> tuple[list[Columns], list[Columns]]:
        return Recorder._split(self, chunks)

    def finish_block(self, block: int) -> None:
        """Note that a block has made all its accesses."""
        Recorder.finish_block(self, block)


def _by_block(rows: Columns) -> Columns:
    """Return rows block by block, those of each in their order."""
    order = np.argsort(rows["block"], kind="stable")
    return {name: column[order] for name, column in rows.items()}
