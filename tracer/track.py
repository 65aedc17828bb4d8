"""A track: the accesses of one copy of a buffer in the order of time, ready for jumps to any moment."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .runs import AnyInts, Ints, stable_order
from .trace import Buffer, Op

SPACING = 1 << 15


class Cells:
    """The elements of a buffer that have memory of their own, numbered from 0 by access index.

    A strided, transposed or broadcast buffer maps its shape to these; one that is `plain` (C-contiguous) is
    numbered as it stands, which saves tables as large as itself.
    """

    def __init__(self, buffer: Buffer) -> None:
        self._shape = buffer.shape
        self.plain = _is_plain(buffer)
        self._size = math.prod(buffer.shape)
        if not self.plain:
            elements = buffer.elements().ravel()
            self._index, self._first, self._cell = np.unique(elements, return_index=True, return_inverse=True)
            self._size = len(self._index)

    def __len__(self) -> int:
        return self._size

    def taken(self, content: NDArray[Any]) -> NDArray[Any]:
        """Return the entries of the cells from one entry per access index."""
        return content[: self._size] if self.plain else content[self._index]

    def of(self, index: AnyInts) -> Ints:
        """Return the cell of each access index, -1 where the buffer has no such element."""
        wanted = index.astype(np.int64)
        if not len(self):
            return np.full(len(wanted), -1)
        if self.plain:
            return np.where(wanted < self._size, wanted, -1)
        cell = np.minimum(np.searchsorted(self._index, wanted), self._size - 1)
        return np.where(self._index[cell] == wanted, cell, -1)

    def places(self, index: AnyInts) -> Ints:
        """Return the number of each access index in the buffer's shape (C order), -1 where it has none."""
        cell = self.of(index)
        return cell if self.plain or not len(self) else np.where(cell >= 0, self._first[cell], -1)

    def cell(self, place: int) -> int:
        """Return the cell of an element, by its number in the buffer's shape (C order)."""
        return place if self.plain else int(self._cell[place])

    def shaped(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return an array of one entry per cell as one of the buffer's shape."""
        return (cells if self.plain else cells[self._cell]).reshape(self._shape)


def _is_plain(buffer: Buffer) -> bool:
    """Return whether the access index of every element is its number in C order."""
    steps = [math.prod(buffer.shape[axis + 1 :]) * buffer.unit for axis in range(len(buffer.shape))]
    pairs = zip(buffer.shape, buffer.strides, steps, strict=True)
    return all(length <= 1 or stride == step for length, stride, step in pairs)


class Track:
    """Counts of reads and last writers per cell, at any moment.

    What was so after each SPACING accesses is kept (or more, in a buffer of more cells), so that a jump
    replays no more than that. `rows` are accesses in the order of (moment, step). The last writer is that of
    the largest step, so that the end holds what the launch left: lanes of a request ran at steps of their own,
    and one that comes at a later moment may have run before.
    """

    def __init__(self, cells: int, cell: Ints, op: NDArray[np.uint8], moment: Ints, rows: Ints) -> None:
        self.cells = cells
        self.spacing = max(SPACING, cells)
        read, write = op != Op.STORE, np.flatnonzero(op != Op.LOAD)
        write = write[_newest(cell[write], rows[write])]
        self._read_cell, self._read_moment = cell[read].astype(np.int32), moment[read].astype(np.int32)
        self._write_cell, self._write_moment = cell[write].astype(np.int32), moment[write].astype(np.int32)
        self._write_row = rows[write].astype(np.int32)
        self._counts = [np.zeros(cells, np.int32)]
        for low in range(0, len(self._read_cell) - self.spacing, self.spacing):
            self._counts.append(self._counts[-1] + self._count(low, low + self.spacing))
        self._last = [np.full(cells, -1, np.int32)]
        for low in range(0, len(self._write_cell) - self.spacing, self.spacing):
            self._last.append(self._replay(self._last[-1], low, low + self.spacing))

    def reads(self, moment: int) -> NDArray[np.int32]:
        """Return how often each cell was read."""
        upto = _upto(self._read_moment, moment)
        kept = min(upto // self.spacing, len(self._counts) - 1)
        low, counts = kept * self.spacing, self._counts[kept]
        if upto - low > self.cells // 16:
            return counts + self._count(low, upto)
        result = counts.copy()
        np.add.at(result, self._read_cell[low:upto], 1)  # few: all cells need not be looked at once more
        return result

    def last(self, moment: int) -> NDArray[np.int32]:
        """Return the row of the last write to each cell, -1 where there was none."""
        upto = _upto(self._write_moment, moment)
        kept = min(upto // self.spacing, len(self._last) - 1)
        return self._replay(self._last[kept], kept * self.spacing, upto)

    def _count(self, low: int, high: int) -> NDArray[np.int32]:
        return np.bincount(self._read_cell[low:high], minlength=self.cells).astype(np.int32)

    def _replay(self, last: NDArray[np.int32], low: int, high: int) -> NDArray[np.int32]:
        """Return the last writers after some more writes; of several to one cell NumPy keeps the last."""
        result = last.copy()
        result[self._write_cell[low:high]] = self._write_row[low:high]
        return result


def _newest(cell: Ints, rows: Ints) -> NDArray[np.bool_]:
    """Return which of some writes have a larger row than all before them to the same cell."""
    newest = np.ones(len(rows), bool)
    if len(rows) and (rows[1:] < rows[:-1]).any():
        order = stable_order(cell)
        lifted = cell[order] * (int(rows.max()) + 1) + rows[order]
        newest[order] = np.maximum.accumulate(lifted) == lifted
    return newest


def _upto(moments: NDArray[np.int32], moment: int) -> int:
    """Return how many of these ascending moments have come."""
    return int(np.searchsorted(moments, np.int32(moment), side="right"))
