"""Arrivals at barriers and warp operations: from the log of compiled code to columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...model.array_types import Columns, Ints, counts_of, narrow, take_entries
from ...model.trace import Barriers
from ..rows.arrival_columns import bits_of_arrivals, put_arrivals
from ..state import ColumnWord
from .growing_columns import ROOM, GrowingColumns

SMALL_LOG = 1 << 14  # room for arrivals in a small log
NAMES = ("block", "thread", "phase", "site", "step", "reach", "part")  # in the order of `ArrivalWord`


class BarrierLog:
    """The arrivals in order, either at barriers, or at warp operations and fences.

    memory: bytes of columns before they go to files. room: arrivals to begin with.
    """

    def __init__(self, memory: int, room: int = ROOM, *, of_warp: bool = False) -> None:
        self._columns, self._of_warp = GrowingColumns(memory, room), of_warp
        self._bits = np.zeros(len(NAMES), np.int64)

    def add(self, log: Ints) -> None:
        """Add the arrivals of this kind, shape (arrivals, words), see `ArrivalWord`; sites are the program's."""
        arguments = log.ctypes.data, len(log), self._of_warp
        if count := bits_of_arrivals(*arguments, self._bits.ctypes.data):
            dtypes = {n: np.min_scalar_type(bits) for n, bits in zip(NAMES, self._bits.tolist(), strict=True)}
            column_words = self._column_words(self._columns.room(count, dtypes))
            put_arrivals(*arguments, column_words.ctypes.data)
            self._columns.add(count)

    def _column_words(self, columns: Columns) -> Ints:
        """Return the address of the next row of each column, see `ColumnWord`."""
        words = np.empty((len(NAMES), len(ColumnWord)), np.int64)
        for number, name in enumerate(NAMES):
            width = columns[name].itemsize
            words[number] = columns[name].ctypes.data + len(self._columns) * width, width
        return words

    def extend(self, other: BarrierLog, accesses: int) -> None:
        """Append another log, which counts accesses from after the first `accesses` of this one."""
        if len(other._columns):
            columns, count = other._columns.columns(), len(other._columns)
            last = accesses + int(columns["step"].max())
            dtypes = {n: column.dtype for n, column in columns.items()} | {"step": np.min_scalar_type(last)}
            room, own_rows = (
                self._columns.room(count, dtypes),
                slice(len(self._columns), len(self._columns) + count),
            )
            for name, column in columns.items():
                room[name][own_rows] = column
            room["step"][own_rows] += room["step"].dtype.type(accesses)
            self._columns.add(count)

    def barriers(self, number_of: Callable[[int], int]) -> Barriers:
        """Return the arrivals as columns; `number_of` gives the trace's number of a site of the program."""
        if not len(self._columns):
            return Barriers(*(np.empty(0, np.uint8) for _ in NAMES))
        columns = self._columns.columns()
        block, thread, phase, site, step, reach, part = (narrow(columns[name]) for name in NAMES)
        counts = counts_of(site)
        trace_sites = np.zeros(len(counts), np.int64)
        for number in np.flatnonzero(counts).tolist():
            trace_sites[number] = number_of(number)
        return Barriers(block, thread, phase, take_entries(narrow(trace_sites), site), step, reach, part)
