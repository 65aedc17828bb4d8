"""The writes and reads of each element in the order in which the launch made them; indexed on first use."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ..analysis.overlap import overlapping_buffers
from ..model.array_types import AnyInts, Ints
from ..model.grouping import ascends
from ..model.trace import Op, Trace

PART = 1 << 20  # rows examined at once
Copy = tuple[int, int]  # the block and the thread whose copy of a buffer is meant, -1 where all share it


class MemoryOrder:
    """Finds who wrote an element before a row, and who reads it after one.

    Buffers whose bytes overlap are one memory here. Row order is the order of the launch.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        groups = overlapping_buffers(trace, ("global", "shared", "local", "constant"))
        self._group = {buffer: tuple(group) for group in groups for buffer in group}
        self._writes: dict[tuple[tuple[int, ...], Copy], _Touches] = {}
        self._reads: dict[tuple[tuple[int, ...], Copy], _Touches] = {}
        self._block_rows: dict[int, AnyInts] = {}

    def copy_of(self, buffer: int, block: int, thread: int) -> Copy:
        """Return the copy of a buffer that a thread of a block accesses."""
        space = self._trace.buffers[buffer].space
        return (
            block if space in ("shared", "local") else -1,
            thread if space == "local" else -1,
        )

    def write_before(self, buffer: int, index: int, copy: Copy, row: int) -> int:
        """Find the last write of an element before a row, -1 if there is none."""
        return self._touches(buffer, copy, written=True).before(buffer, index, row)

    def write_after(self, buffer: int, index: int, copy: Copy, row: int) -> int:
        """Find the next write of an element after a row, -1 if there is none."""
        return self._touches(buffer, copy, written=True).after(buffer, index, row)

    def writes(self, buffer: int, index: int, copy: Copy) -> Ints:
        """List the writes of an element, ascending."""
        return self._touches(buffer, copy, written=True).between(buffer, index, -1, len(self._trace))

    def all_writes(self, buffer: int) -> Ints:
        """List the writes of a buffer that all threads share, ascending."""
        return self._rows((buffer,), (-1, -1), written=True)

    def reads(self, buffer: int, index: int, copy: Copy, first: int, end: int) -> Ints:
        """List the reads of an element by rows above `first` and below `end`, ascending; atomics read too."""
        return self._touches(buffer, copy, written=False).between(buffer, index, first, end)

    def rows_of_block(self, block: int) -> AnyInts:
        """Return the accesses of a block by thread, then in order."""
        if block not in self._block_rows:
            rows = self._unsorted_rows(block)
            thread = self._trace.thread[rows]
            if not ascends(thread):
                rows = rows[np.argsort(thread, kind="stable")]
            if len(self._block_rows) > 64:
                self._block_rows.clear()
            self._block_rows[block] = rows
        return self._block_rows[block]

    def rows_of_thread(self, block: int, thread: int) -> AnyInts:
        """Return the accesses of a thread in order."""
        rows = self.rows_of_block(block)
        threads = self._trace.thread[rows]
        first, last = np.searchsorted(threads, [thread, thread + 1])
        return rows[first:last]

    def _unsorted_rows(self, block: int) -> AnyInts:
        column = self._trace.block
        wanted = column.dtype.type(block)  # of another type, NumPy would convert the whole column
        if self._is_by_block:
            return np.arange(np.searchsorted(column, wanted), np.searchsorted(column, wanted, "right"))
        return np.flatnonzero(column == wanted)

    @cached_property
    def _is_by_block(self) -> bool:
        return ascends(self._trace.block)

    @cached_property
    def _write_rows(self) -> Ints:
        trace = self._trace
        lows = range(0, len(trace), PART)
        parts = [np.flatnonzero(trace.op[low : low + PART] != Op.LOAD) + low for low in lows]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _touches(self, buffer: int, copy: Copy, *, written: bool) -> _Touches:
        group = self._group.get(buffer, (buffer,))
        index, key = (self._writes if written else self._reads), (group, copy)
        if key not in index:
            index[key] = _Touches(self._trace, group, self._rows(group, copy, written=written))
        return index[key]

    def _rows(self, group: tuple[int, ...], copy: Copy, *, written: bool) -> Ints:
        """List the writes or the reads of a memory, ascending."""
        trace, (block, thread) = self._trace, copy
        kinds = (Op.STORE, Op.ATOMIC, Op.REDUCTION) if written else (Op.LOAD, Op.ATOMIC, Op.REDUCTION)
        if not trace.access_counts[np.ix_(group, kinds)].any():
            return np.empty(0, np.int64)
        if block >= 0:
            rows = self.rows_of_thread(block, thread) if thread >= 0 else self.rows_of_block(block)
            rows = rows[np.isin(trace.buffer[rows], group)]
        elif written:
            rows = self._write_rows
            rows = rows[np.isin(trace.buffer[rows], group)]
        else:
            lows = range(0, len(trace), PART)
            parts = [_rows_with(trace.buffer[low : low + PART], group) + low for low in lows]
            rows = np.concatenate(parts) if parts else np.empty(0, np.int64)
        op = trace.op[rows]
        return np.sort(rows[(op != Op.LOAD) if written else (op != Op.STORE)]).astype(np.int64)


def _rows_with(column: AnyInts, numbers: tuple[int, ...]) -> Ints:
    if len(numbers) == 1:
        return np.flatnonzero(column == column.dtype.type(numbers[0]))
    return np.flatnonzero(np.isin(column, numbers))


class _Touches:
    """Accesses to the pieces of a memory, sorted by piece, then row; an element is one piece or several."""

    def __init__(self, trace: Trace, group: tuple[int, ...], rows: Ints) -> None:
        self._stride = len(trace) + 1
        buffers = [trace.buffers[number] for number in group]
        self._first = {number: trace.buffers[number].address for number in group}
        self._unit = {number: trace.buffers[number].unit for number in group}
        self._size = {number: trace.buffers[number].itemsize for number in group}
        numbers = [b.unit for b in buffers] + [b.itemsize for b in buffers] + [b.address for b in buffers]
        self._piece = math.gcd(*numbers) if len(group) > 1 else buffers[0].unit
        pieces = self._pieces(trace, group, rows)
        self._keys = np.sort(pieces[0] * self._stride + pieces[1])

    def _pieces(self, trace: Trace, group: tuple[int, ...], rows: Ints) -> tuple[Ints, Ints]:
        """Return the pieces of accesses, and the row of each."""
        column, index = trace.buffer[rows], trace.index[rows].astype(np.int64)
        pieces, owners = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for number in group:
            chosen = column == number
            first = (self._first[number] + index[chosen] * self._unit[number]) // self._piece
            for part in range(max(1, self._size[number] // self._piece)):
                pieces.append(first + part)
                owners.append(rows[chosen])
        return np.concatenate(pieces), np.concatenate(owners)

    def _pieces_of(self, buffer: int, index: int) -> range:
        first = (self._first[buffer] + index * self._unit[buffer]) // self._piece
        return range(first, first + max(1, self._size[buffer] // self._piece))

    def before(self, buffer: int, index: int, row: int) -> int:
        """Find the last access to an element before a row, -1 for none."""
        best = -1
        for piece in self._pieces_of(buffer, index):
            position = int(np.searchsorted(self._keys, piece * self._stride + row)) - 1
            if position >= 0 and self._keys[position] >= piece * self._stride:
                best = max(best, int(self._keys[position]) - piece * self._stride)
        return best

    def after(self, buffer: int, index: int, row: int) -> int:
        """Find the next access to an element after a row, -1 for none."""
        best = -1
        for piece in self._pieces_of(buffer, index):
            position = int(np.searchsorted(self._keys, piece * self._stride + row, "right"))
            if position < len(self._keys) and self._keys[position] < (piece + 1) * self._stride:
                next_row = int(self._keys[position]) - piece * self._stride
                best = next_row if best < 0 else min(best, next_row)
        return best

    def between(self, buffer: int, index: int, first: int, end: int) -> Ints:
        """List the accesses to an element above `first` and below `end`."""
        parts = []
        for piece in self._pieces_of(buffer, index):
            bounds = [piece * self._stride + first + 1, piece * self._stride + end]
            low, high = np.searchsorted(self._keys, bounds)
            parts.append(self._keys[low:high] - piece * self._stride)
        return np.unique(np.concatenate(parts))
