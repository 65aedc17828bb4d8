"""Columns that grow: in memory up to a number of bytes, from there on in mapped files, which others can map too."""

from __future__ import annotations

import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...model.array_types import Columns
from ...storage.column_files import make_room, mapped, most_in_memory
from ...storage.temp_folders import large_files_folder
from ...storage.trace_file import TraceFileError

# Rows for which a column has room at least. What is not written to takes no memory, and in a file no room on the disk
# before that is made; but Windows counts it.
ROOM = 1 << (24 if sys.platform == "win32" else 27)
LESS = 1 << 20  # the same where there is not so much memory
APART = 192  # bytes
STEP = 1 << 22  # rows for which that is made at once


class GrowingColumns:
    """Columns of equal length, which are written to where they are.

    memory: bytes that they may take before they go to files, or fewer where these are shared (`column_files`); where
    there is no room for files, they stay in memory up to that. The files have no name, so that nothing is left of
    them, however the process ends. room: rows to begin with. Raises TraceFileError where the disk is full.
    """

    def __init__(self, memory: int, room: int = ROOM) -> None:
        self._memory, self._most = memory, most_in_memory(memory)
        self._room = room
        self._columns: Columns = {}  # with their room
        self._files: dict[str, IO[bytes]] = {}
        self._made: dict[str, int] = {}  # bytes for which there is room on the disk, by column
        self._begins: dict[str, int] = {}  # byte of its memory or file at which a column begins
        self._in_files = False
        self._rows = 0
        weakref.finalize(self, _close, self._files)  # what is mapped of a file stays

    def __len__(self) -> int:
        return self._rows

    def append(self, columns: Columns) -> None:
        """Add rows; a column whose type is too narrow for them is made wider."""
        count = len(next(iter(columns.values())))
        place = self.room(count, {name: column.dtype for name, column in columns.items()})
        for name, values in columns.items():
            place[name][self._rows : self._rows + count] = values
        self.add(count)

    def room(self, count: int, dtypes: Mapping[str, np.dtype[Any]]) -> Columns:
        """Return the columns with room for so many more rows, to be written from row `len(self)` on.

        Each is as wide as this type, or wider.
        """
        end = self._rows + count
        known = self._columns
        wide = {n: _both(known[n].dtype, d) if n in known else d for n, d in dtypes.items()}
        wide = {n: column.dtype for n, column in known.items()} | wide
        if not self._in_files and end * sum(d.itemsize for d in wide.values()) > self._most:
            self._move_to_files(wide, end)
        for name, dtype in wide.items():
            if name not in known or known[name].dtype != dtype or len(known[name]) < end:
                self._enlarge(name, dtype, end)
            elif self._in_files and self._made[name] < self._begin_of(name) + end * dtype.itemsize:
                self._make_room(name, end)
        return known

    def add(self, count: int) -> None:
        """Take in so many rows, which have been written."""
        self._rows += count

    def place(self, columns: Columns) -> Columns | None:
        """Add rows that somebody writes into what is returned, one column each; None where columns must be moved."""
        dtypes = {name: column.dtype for name, column in columns.items()}
        return self.region(len(next(iter(columns.values()))), dtypes)

    def region(self, count: int, dtypes: Mapping[str, np.dtype[Any]] | None = None) -> Columns | None:
        """Add so many rows that somebody writes into what is returned; None where columns must be moved for them.

        dtypes: of what is written, those of the columns where nothing is said.
        """
        begin, end = self._rows, self._rows + count
        known = {name: column.dtype for name, column in self._columns.items()}
        dtypes = known if dtypes is None else dtypes
        for name, dtype in dtypes.items():
            mine = self._columns.get(name)
            if mine is None or len(mine) < end or _both(mine.dtype, dtype) != mine.dtype:
                return None
        if not self._in_files and end * sum(c.itemsize for c in self._columns.values()) > self._most:
            return None
        self.room(count, dtypes)
        self._rows = end
        return {name: self._columns[name][begin:end] for name in dtypes}

    def ready(self) -> tuple[Columns, int]:
        """Return the columns, with their room, and how many rows they can have as they are."""
        if not self._columns:
            return {}, 0
        most = min(map(len, self._columns.values()))
        if not self._in_files:
            return self._columns, min(most, self._most // sum(c.itemsize for c in self._columns.values()))
        made = (
            (self._made[name] - self._begin_of(name)) // column.itemsize
            for name, column in self._columns.items()
        )
        return self._columns, min(most, *made)

    def expect(self, rows: int, dtypes: Mapping[str, np.dtype[Any]]) -> bool:
        """Have columns of these types at least, in files where so many rows need these; return whether these fit."""
        wide = {
            name: _both(column.dtype, dtypes.get(name, column.dtype))
            for name, column in self._columns.items()
        }
        if not self._in_files and rows * sum(dtype.itemsize for dtype in wide.values()) > self._most:
            self._move_to_files(wide, self._rows)
        self.room(0, wide)
        return all(len(column) >= rows for column in self._columns.values())

    def close_gaps(self, kept: Sequence[tuple[int, int]]) -> None:
        """Keep these rows alone, from begin to end each, in order; those behind a gap are moved."""
        self._rows = 0
        for begin, end in kept:
            count = end - begin
            if begin != self._rows:
                for column in self._columns.values():
                    column[self._rows : self._rows + count] = column[begin:end]
            self._rows += count

    def clear(self) -> bool:
        """Drop all rows, so that others can be added in their place; return False where that can't be, in files."""
        self._rows = 0
        return not self._in_files

    def columns(self) -> Columns:
        """Return the rows so far, which are not copied; those in files can't be written to."""
        found = {name: column[: self._rows] for name, column in self._columns.items()}
        for column in found.values():
            column.flags.writeable = not self._in_files
        return found

    def _enlarge(self, name: str, dtype: np.dtype[Any], end: int) -> None:
        """Give a column room for `end` rows of a type; those up to there may be written already, before `add`."""
        old = self._columns.get(name)
        new = self._in_a_file(name, dtype, end) if self._in_files else self._in_memory(name, dtype, end)
        if old is not None:
            written = min(len(old), end)
            new[:written] = old[:written]
        self._columns[name] = new

    def _in_memory(self, name: str, dtype: np.dtype[Any], end: int) -> NDArray[Any]:
        """Return a new column with room for `end` rows; what is not written to takes no memory."""
        begin = self._begin_of(name)
        try:
            return _room_from(begin, max(self._room, 2 * end), dtype)
        except MemoryError:
            return _room_from(begin, max(min(self._room, LESS), end + end // 2), dtype)

    def _begin_of(self, name: str) -> int:
        """Return the byte of its memory or file at which a column begins: each at another.

        Processors take stores to the same place in several pages for ones to the same address, and wait.
        """
        return self._begins.setdefault(name, APART * len(self._begins))

    def _in_a_file(self, name: str, dtype: np.dtype[Any], end: int) -> NDArray[Any]:
        """Return a new column with room for `end` rows, in a file that takes the place of the one before."""
        with self._told(end):
            file = tempfile.TemporaryFile(dir=large_files_folder())  # noqa: SIM115  # as long as the columns
        old, self._files[name], self._made[name] = self._files.get(name), file, 0
        if old:
            old.close()
        begin = self._begin_of(name)
        with self._told(end):
            mapping = mapped(file, begin + max(ROOM, 2 * end) * dtype.itemsize)
        self._make_room(name, end, dtype.itemsize)
        return np.frombuffer(mapping, dtype, offset=begin)

    def _make_room(self, name: str, end: int, itemsize: int = 0) -> None:
        """Make room on the disk for `end` rows of a column."""
        size, made = itemsize or self._columns[name].itemsize, -(-end // STEP) * STEP
        rows = made * size + self._begin_of(name)
        with self._told(end):
            make_room(self._files[name], self._made[name], rows)
        self._made[name] = rows

    @contextmanager
    def _told(self, end: int) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise TraceFileError(
                f"Can't keep {end:,} accesses in {large_files_folder()}: {error.strerror}; "
                "free some space, or choose a smaller size or fewer blocks."
            ) from error

    def _move_to_files(self, wide: Mapping[str, np.dtype[Any]], end: int) -> None:
        """Move all columns to files; where there is no room for them they stay, as long as memory lasts."""
        before, self._in_files = dict(self._columns), True
        try:
            for name, dtype in wide.items():
                self._enlarge(name, dtype, end)
        except TraceFileError:
            if self._most == self._memory:
                raise
            self._in_files, self._most = False, self._memory
            self._columns.clear()
            self._columns.update(before)
            _close(self._files)


class Region:
    """Room among the rows of columns for some that are expected, which are written to where they will stay.

    What does not fit raises Misfit. Has what a recorder asks of GrowingColumns.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns, self._rows = columns, 0

    def __len__(self) -> int:
        return self._rows

    def room(self, count: int, dtypes: Mapping[str, np.dtype[Any]]) -> Columns:
        """Return the columns, which are as wide as these types and have room for so many more rows."""
        for name, dtype in dtypes.items():
            mine = self._columns[name]
            if self._rows + count > len(mine) or _both(mine.dtype, dtype) != mine.dtype:
                raise Misfit
        return self._columns

    def add(self, count: int) -> None:
        """Take in so many rows, which have been written."""
        self._rows += count

    @property
    def most(self) -> int:
        """How many rows there is room for."""
        return len(self._columns["op"])

    def ready(self) -> tuple[Columns, int]:
        """Return the columns, and how many rows they can have."""
        return self._columns, self.most

    def replaced(self, name: str, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column with other numbers in place of those of the rows so far."""
        mine = self.room(0, {name: column.dtype})[name][: self._rows]
        mine[...] = column
        return mine

    def columns(self) -> Columns:
        """Return the rows so far, which can be written to."""
        return {name: column[: self._rows] for name, column in self._columns.items()}


class Misfit(Exception):
    """Rows were expected to be fewer, or of narrower types."""


def _both(one: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that holds what either does."""
    return one if one == other else np.result_type(one, other)


def _room_from(begin: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    memory: NDArray[np.uint8] = np.empty(begin + count * dtype.itemsize, np.uint8)
    return memory[begin:].view(dtype)


def _close(files: dict[str, IO[bytes]]) -> None:
    with suppress(OSError):
        for file in files.values():
            file.close()
    files.clear()
