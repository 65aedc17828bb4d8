"""The recorder of compiled launches: rows become columns, under the same caps as in the simulator."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..recorder import CHUNK, Columns, Recorder, narrow
from ..trace import Barriers, Op, Outside
from .columns import Growing
from .drain import COLUMNS, TYPES, spread, values_of
from .names import NotCompilable
from .program import Program
from .state import CODE_BITS, PARTS, ROW, SITE_BITS, Event, Word

_EVENT = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
# Threads of a block that stopped: (block, phase, threads, sites of the program, accesses made until then).
Arrival = tuple[int, int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
_SITE_MASK, _CODE_MASK = (1 << SITE_BITS) - 1, (1 << CODE_BITS) - 1


class RowRecorder(Recorder):
    """Takes the rows that compiled code writes to `rows`, and what it says of misses.

    number_of(region, code) gives the buffer of a region's elements of a dtype.
    """

    def __init__(
        self, limit: int, count: Callable[[Columns], None], program: Program, state: NDArray[np.int64],
        number_of: Callable[[int, int], int], blocks: int, threads: int,
    ) -> None:  # fmt: skip
        super().__init__(limit, count)
        self._top_block = blocks - 1
        self.program, self.state, self.number_of, self.threads = program, state, number_of, threads
        self.rows = np.zeros(CHUNK, ROW)
        self.failure: BaseException | None = None
        self._parts = np.zeros(PARTS, np.int64)
        self._buffer_numbers = np.full(1 << 32 - SITE_BITS, -1, np.int32)
        self._final = np.full(max(1, len(program.sites)), -1, np.int32)
        self._ops = np.array([*program.site_kinds, 0], np.uint8)
        self._out = tuple(np.empty(CHUNK, t) for t in TYPES)
        self._blocks, self._phases = np.zeros(CHUNK, np.int64), np.zeros(CHUNK, np.int64)
        self._sweeps = 0
        self._arrived: list[Arrival] = []
        self._arrived_warp: list[Arrival] = []
        self._store = Growing(limit + CHUNK)
        self._event = _EVENT(self._on_event)
        self._connect()

    def _connect(self) -> None:
        begin = self.rows.ctypes.data
        for word, value in (
            (Word.ROW, begin), (Word.BEGIN, begin), (Word.END, begin + self.rows.nbytes), (Word.BASE, 0),
            (Word.CALL, ctypes.cast(self._event, ctypes.c_void_p).value or 0), (Word.PARTS, self._parts.ctypes.data),
        ):  # fmt: skip
            self.state[word] = value

    def sweep(self, block: int, phase: int) -> None:
        """Say which block the threads that run next are of, and their phase."""
        if self._sweeps == len(self._blocks) - 1:
            self.flush()
        last = self._sweeps - 1
        if last < 0 or self._blocks[last] != block or self._phases[last] != phase:
            self._blocks[self._sweeps], self._phases[self._sweeps] = block, phase
            self._sweeps += 1
        self.state[Word.SWEEP] = (self._sweeps - 1) * self.threads

    def arrived(self, arrival: Arrival, *, warp: bool = False) -> None:
        """Record that threads came to barriers, or to warp operations."""
        (self._arrived_warp if warp else self._arrived).append(arrival)

    def site(self, number: int) -> int:
        """Return the number in the trace of a site of the program."""
        if self._final[number] < 0:
            self._final[number] = len(self.sites)
            self.sites.append(self.program.sites[number])
        return int(self._final[number])

    def _on_event(self, event: int) -> int:
        """Serve compiled code, which stops where this returns 1; nothing may be raised through it."""
        try:
            if event == Event.MISS:
                self._miss()
            else:
                self.flush()
        except BaseException as error:  # noqa: BLE001  # raised again by whoever runs compiled code
            self.failure = error
        return int(self.failure is not None)

    def _count(self) -> int:
        return int(self.state[Word.ROW] - self.state[Word.BEGIN]) // ROW.itemsize

    def flush(self) -> None:
        """Turn the rows into columns."""
        rows = self.rows[: self._count()]
        if len(rows):
            columns = self._columns(rows)
            self.accesses += len(rows)
            if self.capped:
                self.pending.append({name: column.copy() for name, column in columns.items()})
            else:
                self._store.append(columns)
                self.kept = [self._store.columns()]
        self._start_over()
        if len(rows):
            self._mind_the_limit()

    def _start_over(self) -> None:
        """Begin with the first row again, in the sweep under way."""
        self.state[Word.ROW], self.state[Word.BASE] = self.state[Word.BEGIN], self.accesses
        if self._sweeps:
            self._blocks[0], self._phases[0] = self._blocks[self._sweeps - 1], self._phases[self._sweeps - 1]
            self._sweeps = 1
        self.state[Word.SWEEP] = 0
        self.state[Word.CONTEXT] %= self.threads

    def end(self) -> None:
        """Take in what is left; from here on compiled code can't write rows."""
        self.close()
        del self._event

    def release(self) -> None:
        """Let go of the columns, which live on in the trace: a launch and its recorder hold each other."""
        self.kept, self.pending, self._store = [], [], Growing(0)

    def columns(self) -> Columns:
        """Return the columns of all rows kept, in order."""
        return self.kept[0] if len(self.kept) == 1 else super().columns()

    def _columns(self, rows: NDArray[Any]) -> Columns:
        top = np.zeros(5, np.int64)
        done = -1
        while done < len(rows):
            if done >= 0:
                self._learn(int(rows["key"][done]))
            done = spread(
                rows["key"], rows["context"], rows["index"], self.threads, self._blocks, self._phases,
                self._buffer_numbers, self._final, self._ops, self._out, top,
            )  # fmt: skip
        made = dict(zip(COLUMNS, (column[: len(rows)] for column in self._out), strict=True))
        tops = {
            "block": self._top_block,
            "thread": self.threads - 1,
            "phase": top[0],
            "buffer": top[1],
            "site": top[2],
            "index": top[3],
        }
        columns = {k: c.astype(np.min_scalar_type(tops[k])) if k in tops else c for k, c in made.items()}
        columns["value"] = values_of(rows, int(top[4]))
        return columns

    def _learn(self, key: int) -> None:
        """Find the buffer and site of a key that is new."""
        self.site(key & _SITE_MASK)
        where = key >> SITE_BITS
        if self._buffer_numbers[where] < 0:
            self._buffer_numbers[where] = self.number_of(where >> CODE_BITS, where & _CODE_MASK)

    def _miss(self) -> None:
        place = int(self.state[Word.ROW] - self.state[Word.BEGIN]) // ROW.itemsize
        row = self.rows[place]
        key, context = int(row["key"]), int(row["context"])
        self._learn(key)
        buffer = int(self._buffer_numbers[key >> SITE_BITS])
        given = map(str, self._parts[: self.state[Word.PARTS_GIVEN]].tolist())
        sweep, thread = divmod(context, self.threads)
        where = (int(self._blocks[sweep]), thread, int(self._phases[sweep]))
        text = f"{self.buffers[buffer].name}[{', '.join(given)}]"
        kind = min(self._ops[key & _SITE_MASK], Op.ATOMIC)
        step = self.accesses + place
        self.missed.append(
            (*where, int(kind), buffer, self.site(key & _SITE_MASK), step, int(row["index"]), text)
        )

    def _split(self, chunks: list[Columns]) -> tuple[list[Columns], list[Columns]]:
        """Return (rows of finished blocks, the others); blocks run one after the other."""
        if self.finished and chunks[-1]["block"][-1] == self.finished[-1]:
            names = chunks[0]
            return [{name: np.concatenate([c[name] for c in chunks]) for name in names}], []
        return super()._split(chunks)

    def barriers(self, *, warp: bool = False) -> Barriers:
        """Return the arrivals at barriers, or at warp operations, as columns."""
        arrived = self._arrived_warp if warp else self._arrived
        if not arrived:
            return Barriers(*(np.empty(0, np.uint8) for _ in range(5)))
        block, phase, threads, where, when = zip(*arrived, strict=True)
        lengths, sites = [len(t) for t in threads], np.concatenate(where)
        for site in np.flatnonzero(np.bincount(sites)).tolist():
            self.site(site)
        final = self._final[sites]
        rest = (np.repeat(phase, lengths), final, np.concatenate(when))
        return Barriers(*(narrow(c) for c in (np.repeat(block, lengths), np.concatenate(threads), *rest)))

    def outside(self) -> Outside:
        """Return the accesses that were not made as columns."""
        block, thread, phase, op, buffer, site, step, cell, text = (
            [m[i] for m in self.missed] for i in range(9)
        )
        where = (narrow(np.array(c, np.int64)) for c in (block, thread, phase))
        what = (narrow(np.array(c, np.int64)) for c in (buffer, site, step))
        return Outside(*where, np.array(op, np.uint8), *what, np.array(cell, np.int64), tuple(text))  # type: ignore[call-arg, arg-type]


__all__ = ["NotCompilable", "RowRecorder"]
