"""Arrivals at barriers and warp operations: from the log of compiled code to columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...model.array_types import Columns, Ints, counts_of, looked_up, narrow
from ...model.trace import Barriers
from ..rows.arrival_columns import bits_of_arrivals, put_arrivals
from ..state import ColumnWord
from .growing_columns import ROOM, GrowingColumns

SOME = 1 << 14  # arrivals for which there is little room to begin with
NAMES = ("block", "thread", "phase", "site", "step", "reach", "part")  # in the order of `ArrivalWord`


class BarrierLog:
    """Who came where, in order: to barriers, or to warp operations and fences.

    memory: bytes of columns before they go to files. room: arrivals to begin with.
    """

    def __init__(self, memory: int, room: int = ROOM, *, of_warp: bool = False) -> None:
        self._kept, self._of_warp = GrowingColumns(memory, room), of_warp
        self._bits = np.zeros(len(NAMES), np.int64)

    def add(self, log: Ints) -> None:
        """Add those of these arrivals, shape (arrivals, words), see `ArrivalWord`; sites are the program's."""
        given = log.ctypes.data, len(log), self._of_warp
        if count := bits_of_arrivals(*given, self._bits.ctypes.data):
            dtypes = {n: np.min_scalar_type(top) for n, top in zip(NAMES, self._bits.tolist(), strict=True)}
            places = self._places(self._kept.room(count, dtypes))
            put_arrivals(*given, places.ctypes.data)
            self._kept.add(count)

    def _places(self, columns: Columns) -> Ints:
        """Return where the next arrival goes in each column, see `ColumnWord`."""
        places = np.empty((len(NAMES), len(ColumnWord)), np.int64)
        for number, name in enumerate(NAMES):
            width = columns[name].itemsize
            places[number] = columns[name].ctypes.data + len(self._kept) * width, width
        return places

    def extend(self, other: BarrierLog, made: int) -> None:
        """Add the arrivals of another log, in which accesses are counted from after `made`."""
        if len(other._kept):
            columns, count = other._kept.columns(), len(other._kept)
            last = made + int(columns["step"].max())
            dtypes = {n: column.dtype for n, column in columns.items()} | {"step": np.min_scalar_type(last)}
            place, mine = self._kept.room(count, dtypes), slice(len(self._kept), len(self._kept) + count)
            for name, column in columns.items():
                place[name][mine] = column
            place["step"][mine] += place["step"].dtype.type(made)
            self._kept.add(count)

    def barriers(self, number_of: Callable[[int], int]) -> Barriers:
        """Return them as columns; `number_of` gives the number in the trace of a site of the program."""
        if not len(self._kept):
            return Barriers(*(np.empty(0, np.uint8) for _ in NAMES))
        kept = self._kept.columns()
        block, thread, phase, site, step, reach, part = (narrow(kept[name]) for name in NAMES)
        counts = counts_of(site)
        final = np.zeros(len(counts), np.int64)
        for number in np.flatnonzero(counts).tolist():
            final[number] = number_of(number)
        return Barriers(block, thread, phase, looked_up(narrow(final), site), step, reach, part)
