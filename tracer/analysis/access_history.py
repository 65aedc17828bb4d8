"""The accesses of one copy of a buffer in the order of moments, prepared for jumps to any moment."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ..model.array_types import AnyInts, Ints
from ..model.grouping import group_starts, stable_order
from ..model.trace import Buffer

SPACING = 1 << 13  # accesses between two kept states
MANY, FEW = 1 << 16, 8  # above MANY cells, only touched cells are kept if they are fewer than one in FEW


class BufferCells:
    """The elements of a buffer that have their own memory, numbered from 0 by access index.

    A strided, transposed or broadcast buffer maps its shape to them. A `plain` (C-contiguous) buffer needs no such
    tables, each as large as the buffer.
    """

    def __init__(self, buffer: Buffer) -> None:
        self._shape = buffer.shape
        self.plain = buffer.is_plain
        self._size = math.prod(buffer.shape)
        if not self.plain:
            self._index, self._first, self._cell = _numbered(buffer.elements().ravel(), buffer.size)
            self._size = len(self._index)

    def __len__(self) -> int:
        return self._size

    def select(self, content: NDArray[Any]) -> NDArray[Any]:
        """Select the entries of the cells from one entry per access index."""
        return content[: self._size] if self.plain else content[self._index]

    def cells_of(self, index: AnyInts) -> Ints:
        """Return the cell of each access index, -1 if the buffer has no such element."""
        wanted = index.astype(np.int64)
        if not len(self):
            return np.full(len(wanted), -1)
        if self.plain:
            return np.where(wanted < self._size, wanted, -1)
        cell = np.minimum(np.searchsorted(self._index, wanted), self._size - 1)
        return np.where(self._index[cell] == wanted, cell, -1)

    def element_numbers(self, index: AnyInts) -> Ints:
        """Return the number of each access index in the buffer's shape (C order), -1 if it has none."""
        cell = self.cells_of(index)
        return cell if self.plain or not len(self) else np.where(cell >= 0, self._first[cell], -1)

    def cell(self, element: int) -> int:
        """Return the cell of an element, by its number in the buffer's shape (C order)."""
        return element if self.plain else int(self._cell[element])

    def shaped(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Arrange one entry per cell in the buffer's shape."""
        return (cells if self.plain else cells[self._cell]).reshape(self._shape)


def _numbered(elements: Ints, size: int) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
    """Return the distinct access indices, ascending; the first element of each; and the number of each element's index.

    elements: the access index of each, below `size`. Equals np.unique, but does not sort.
    """
    first = np.full(size, -1, np.int32)
    first[elements[::-1]] = np.arange(len(elements), dtype=np.int32)[
        ::-1
    ]  # of several assignments the last one stays
    index = np.flatnonzero(first >= 0)
    number = np.empty(size, np.int32)  # pages that are never written take no memory
    number[index] = np.arange(len(index), dtype=np.int32)
    return index, first[index], number[elements]


class TimedAccesses(Struct, frozen=True, eq=False):
    """Accesses in the order of moments: the cell of each, and its row of the trace if rows are wanted.

    A moment's accesses lie between its `start` and the next one. A moment may be listed more than once.
    """

    cell: NDArray[np.int32]  # of each access, shape (accesses,)
    rows: NDArray[np.int32]  # of the trace, shape (accesses,), or (0,) if not wanted
    moments: NDArray[np.int32]  # ascending
    start: Ints  # where the accesses of each of `moments` begin, and the number of all

    @classmethod
    def from_parts(
        cls, parts: Iterable[tuple[Ints, Ints, AnyInts]], most: int, *, with_rows: bool
    ) -> TimedAccesses:
        """Join the accesses of successive parts (cells, ascending moments, rows), at most `most` in all."""
        cells, all_rows = np.empty((2, most), np.int32)  # pages that are never written take no memory
        moments, starts, done = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
        for cell, moment, rows in parts:
            first = group_starts(moment)
            moments.append(moment[first])
            starts.append(first + done)
            cells[done : done + len(cell)] = cell
            if with_rows:
                all_rows[done : done + len(cell)] = rows
            done += len(cell)
        cells, all_rows = (
            column if done == most else column[:done].copy()
            for column in (cells, all_rows[: most * with_rows])
        )
        start = np.concatenate([*starts, [done]])
        return cls(cells, all_rows, np.concatenate(moments).astype(np.int32), start)

    def upto(self, moment: int) -> int:
        """Count the accesses that have been made at a moment."""
        wanted = np.int32(moment)  # of another type, NumPy would convert the whole column
        return int(self.start[self.moments.searchsorted(wanted, side="right")])

    def where(self, mask: NDArray[np.bool_]) -> TimedAccesses:
        """Select accesses by a mask."""
        start = np.concatenate(([0], np.cumsum(mask)))[self.start]
        return TimedAccesses(self.cell[mask], self.rows[mask], self.moments, start)


class TouchedCells:
    """The cells of accesses, numbered from 0: all cells of a buffer, or only the touched ones if these are few."""

    def __init__(self, cells: int, timed: TimedAccesses) -> None:
        self.cells, self.timed = cells, timed
        self.touched: Ints | None = None
        self.size = cells
        if cells > MANY and FEW * len(timed.cell) < cells:
            self._renumber()

    def _renumber(self) -> None:
        is_touched = np.zeros(self.cells, bool)
        is_touched[self.timed.cell] = True
        self.touched = np.flatnonzero(is_touched)
        self.size = len(self.touched)
        number = np.empty(self.cells, np.int32)  # pages that are never written take no memory
        number[self.touched] = np.arange(self.size, dtype=np.int32)
        self.timed = replace(self.timed, cell=number[self.timed.cell])

    def spread(self, figures: NDArray[np.int32], fill: int) -> NDArray[np.int32]:
        """Expand figures of these cells to all cells."""
        if self.touched is None:
            return figures
        expanded = np.zeros(self.cells, np.int32) if fill == 0 else np.full(self.cells, fill, np.int32)
        expanded[self.touched] = figures
        return expanded


class AccessHistory:
    """Counts of reads and last writers per cell, at any moment.

    The state is kept after each SPACING accesses (or more, in a buffer of many cells), so that a jump replays no
    more than that. The last writer is the one of the largest step, so that the end equals the launch's result. Lanes
    of a request ran at different steps, so an access at a later moment may have run before.
    """

    def __init__(self, cells: int, reads: Callable[[], TimedAccesses], writes: TimedAccesses) -> None:
        self.cells = cells
        self._all_writes = writes
        self._read = reads  # called on first use; a buffer coloured by value never needs it
        self.writes = TouchedCells(cells, writes.where(_newest(writes.cell, writes.rows)))
        self._every = _spacing(self.writes)
        self._last = [np.full(self.writes.size, -1, np.int32)]
        for low in range(0, len(self.writes.timed.cell) - self._every, self._every):
            self._last.append(self._replay(self._last[-1], low, low + self._every))

    @cached_property
    def loads(self) -> TouchedCells:
        """The cells that are read."""
        return TouchedCells(self.cells, self._read())

    @cached_property
    def _counts(self) -> list[NDArray[np.int32]]:
        counts, every = [np.zeros(self.loads.size, np.int32)], _spacing(self.loads)
        for low in range(0, len(self.loads.timed.cell) - every, every):
            counts.append(counts[-1] + self._count(low, low + every))
        return counts

    def reads(self, moment: int) -> NDArray[np.int32]:
        """Count the reads of each cell."""
        return self.loads.spread(self.reads_touched(moment), 0)

    def last_writes(self, moment: int) -> NDArray[np.int32]:
        """Return the row of the last write to each cell, -1 if there is none."""
        return self.writes.spread(self.last_writes_touched(moment), -1)

    def reads_touched(self, moment: int) -> NDArray[np.int32]:
        """Count the reads of each cell of `loads`."""
        upto, every = self.loads.timed.upto(moment), _spacing(self.loads)
        state = min(upto // every, len(self._counts) - 1)
        low, counts = state * every, self._counts[state]
        if upto - low > self.loads.size // 16:
            return counts + self._count(low, upto)
        result = counts.copy()
        np.add.at(
            result, self.loads.timed.cell[low:upto], 1
        )  # faster than a new count of all cells, for so few
        return result

    def last_writes_touched(self, moment: int) -> NDArray[np.int32]:
        """Return the row of the last write to each cell of `writes`, -1 if there is none."""
        upto = self.writes.timed.upto(moment)
        state = min(upto // self._every, len(self._last) - 1)
        return self._replay(self._last[state], state * self._every, upto)

    def writes_before(self, cells: Ints, rows: Ints) -> Ints:
        """Find the row of the last write to each cell before another row ran, -1 if there is none."""
        keys, stride = self._write_keys
        position = np.searchsorted(keys, cells.astype(np.int64) * stride + np.minimum(rows, stride)) - 1
        candidates = keys[np.maximum(position, 0)] if len(keys) else np.full(len(cells), -1)
        is_same_cell = (position >= 0) & (candidates // stride == cells)
        return np.where(is_same_cell, candidates % stride, -1)

    @cached_property
    def _write_keys(self) -> tuple[Ints, int]:
        """Return each write as a number, ascending by cell, then row; and the stride between cells."""
        stride = int(self._all_writes.rows.max(initial=0)) + 1
        keys = self._all_writes.cell.astype(np.int64) * stride + self._all_writes.rows
        keys.sort()
        return keys, stride

    def _count(self, low: int, high: int) -> NDArray[np.int32]:
        return np.bincount(self.loads.timed.cell[low:high], minlength=self.loads.size).astype(np.int32)

    def _replay(self, last: NDArray[np.int32], low: int, high: int) -> NDArray[np.int32]:
        """Apply more writes to the last writers; of several writes to one cell NumPy keeps the last."""
        result = last.copy()
        result[self.writes.timed.cell[low:high]] = self.writes.timed.rows[low:high]
        return result


def _spacing(touched: TouchedCells) -> int:
    return max(SPACING, 2 * touched.size)


def _newest(cell: AnyInts, rows: AnyInts) -> NDArray[np.bool_]:
    """Find the writes with a larger row than all earlier writes to the same cell."""
    newest = np.ones(len(rows), bool)
    if len(rows) and (rows[1:] < rows[:-1]).any():
        order = stable_order(cell)
        lifted = cell[order].astype(np.int64) * (int(rows.max()) + 1) + rows[order]
        newest[order] = np.maximum.accumulate(lifted) == lifted
    return newest
