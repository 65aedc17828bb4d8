"""Arrivals at barriers and warp operations: from the log of compiled code to columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...model.array_types import Ints, counts_of, looked_up, narrow
from ...model.trace import Barriers
from ..rows.decode import bits_of
from .growing_columns import ROOM, GrowingColumns

SOME = 1 << 14
NAMES = ("block", "thread", "phase", "site", "step", "reach", "part")  # as `ArrivalWord` has them


class BarrierLog:
    """Who came where, in order. `memory`: bytes of columns before they go to files; `room`: arrivals to begin with."""

    def __init__(self, memory: int, room: int = ROOM) -> None:
        self._kept = GrowingColumns(memory, room)
        self._waiting: list[Ints] = []
        self._count = 0  # of arrivals that wait

    def add(self, arrivals: Ints) -> None:
        """Add arrivals, shape (arrivals, words), see `ArrivalWord`: at sites of the program; they may change later."""
        if len(arrivals):
            self._waiting.append(arrivals.copy())
            self._count += len(arrivals)
            if self._count >= SOME:
                self._keep()

    def _keep(self) -> None:
        """Make columns of the arrivals that wait: of many at once, since this takes longer than to record them."""
        if self._waiting:
            words = self._waiting[0] if len(self._waiting) == 1 else np.concatenate(self._waiting)
            bits = bits_of(words).tolist()
            dtypes = {name: np.min_scalar_type(top) for name, top in zip(NAMES, bits, strict=False)}
            place, begin = self._kept.room(len(words), dtypes), len(self._kept)
            for number, name in enumerate(NAMES):
                place[name][begin : begin + len(words)] = words[:, number]
            self._kept.add(len(words))
            self._waiting, self._count = [], 0

    def extend(self, other: BarrierLog, made: int) -> None:
        """Add the arrivals of another log, in which accesses are counted from after `made`."""
        other._keep()
        if len(other._kept):
            columns, count = other._kept.columns(), len(other._kept)
            self._keep()
            last = made + int(columns["step"].max())
            dtypes = {n: column.dtype for n, column in columns.items()} | {"step": np.min_scalar_type(last)}
            place, mine = self._kept.room(count, dtypes), slice(len(self._kept), len(self._kept) + count)
            for name, column in columns.items():
                place[name][mine] = column
            place["step"][mine] += place["step"].dtype.type(made)
            self._kept.add(count)

    def barriers(self, number_of: Callable[[int], int]) -> Barriers:
        """Return them as columns; `number_of` gives the number in the trace of a site of the program."""
        self._keep()
        if not len(self._kept):
            return Barriers(*(np.empty(0, np.uint8) for _ in NAMES))
        kept = self._kept.columns()
        block, thread, phase, site, step, reach, part = (narrow(kept[name]) for name in NAMES)
        counts = counts_of(site)
        final = np.zeros(len(counts), np.int64)
        for number in np.flatnonzero(counts).tolist():
            final[number] = number_of(number)
        return Barriers(block, thread, phase, looked_up(narrow(final), site), step, reach, part)
