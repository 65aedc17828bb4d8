"""Columns that grow: in memory up to a number of bytes, then in memory-mapped files, which other processes can map."""

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

# Minimum room of a column, in rows. Unwritten rows take no memory, and in a file no room on the disk unless it is
# reserved; but Windows charges for them.
ROOM = 1 << (24 if sys.platform == "win32" else 27)
REDUCED_ROOM = 1 << 20  # the same if memory is short
COLUMN_SHIFT = 192  # bytes between the starts of columns
DISK_STEP = 1 << 22  # rows for which disk space is reserved at once


class GrowingColumns:
    """Columns of equal length, which are written to in place.

    memory: bytes that they may take before they go to files, or fewer where files are shared (`column_files`). If there
    is no room for files, they stay in memory up to that limit. The files have no name, so they disappear however the
    process ends. room: rows to begin with. Raises TraceFileError if the disk is full.
    """

    def __init__(self, memory: int, room: int = ROOM) -> None:
        self._memory, self._max_in_memory = memory, most_in_memory(memory)
        self._room = room
        self._columns: Columns = {}  # with their room
        self._files: dict[str, IO[bytes]] = {}
        self._disk_ends: dict[str, int] = {}  # bytes reserved on the disk, by column
        self._begins: dict[str, int] = {}  # byte of its memory or file at which a column begins
        self._in_files = False
        self._rows = 0
        weakref.finalize(self, _close, self._files)  # a mapping of a file stays valid

    def __len__(self) -> int:
        return self._rows

    def append(self, columns: Columns) -> None:
        """Add rows; a column whose type is too narrow for them is widened."""
        count = len(next(iter(columns.values())))
        room = self.room(count, {name: column.dtype for name, column in columns.items()})
        for name, values in columns.items():
            room[name][self._rows : self._rows + count] = values
        self.add(count)

    def room(self, count: int, dtypes: Mapping[str, np.dtype[Any]]) -> Columns:
        """Return the columns with room for more rows, to be written from row `len(self)` on.

        Each is at least as wide as its type in `dtypes`.
        """
        end = self._rows + count
        columns = self._columns
        types = {n: _common_type(columns[n].dtype, d) if n in columns else d for n, d in dtypes.items()}
        types = {n: column.dtype for n, column in columns.items()} | types
        if not self._in_files and end * sum(d.itemsize for d in types.values()) > self._max_in_memory:
            self._move_to_files(types, end)
        for name, dtype in types.items():
            if name not in columns or columns[name].dtype != dtype or len(columns[name]) < end:
                self._enlarge(name, dtype, end)
            elif self._in_files and self._disk_ends[name] < self._begin(name) + end * dtype.itemsize:
                self._make_room(name, end)
        return columns

    def add(self, count: int) -> None:
        """Count rows that have been written."""
        self._rows += count

    def reserve_copy(self, columns: Columns) -> Columns | None:
        """Add rows that the caller writes into the returned columns; None if columns must be moved."""
        dtypes = {name: column.dtype for name, column in columns.items()}
        return self.reserve_rows(len(next(iter(columns.values()))), dtypes)

    def reserve_rows(self, count: int, dtypes: Mapping[str, np.dtype[Any]] | None = None) -> Columns | None:
        """Add rows that the caller writes into the returned columns; None if columns must be moved for them.

        dtypes: of the values to write; by default those of the columns.
        """
        begin, end = self._rows, self._rows + count
        own_types = {name: column.dtype for name, column in self._columns.items()}
        dtypes = own_types if dtypes is None else dtypes
        for name, dtype in dtypes.items():
            own_column = self._columns.get(name)
            if (
                own_column is None
                or len(own_column) < end
                or _common_type(own_column.dtype, dtype) != own_column.dtype
            ):
                return None
        if not self._in_files and end * sum(c.itemsize for c in self._columns.values()) > self._max_in_memory:
            return None
        self.room(count, dtypes)
        self._rows = end
        return {name: self._columns[name][begin:end] for name in dtypes}

    def current_capacity(self) -> tuple[Columns, int]:
        """Return the columns, with their room, and the number of rows that fit without a move."""
        if not self._columns:
            return {}, 0
        max_rows = min(map(len, self._columns.values()))
        if not self._in_files:
            return self._columns, min(
                max_rows, self._max_in_memory // sum(c.itemsize for c in self._columns.values())
            )
        disk_rows = (
            (self._disk_ends[name] - self._begin(name)) // column.itemsize
            for name, column in self._columns.items()
        )
        return self._columns, min(max_rows, *disk_rows)

    def expect(self, rows: int, dtypes: Mapping[str, np.dtype[Any]]) -> bool:
        """Widen columns to these types, and move them to files if so many rows need that; return whether they fit."""
        types = {
            name: _common_type(column.dtype, dtypes.get(name, column.dtype))
            for name, column in self._columns.items()
        }
        if (
            not self._in_files
            and rows * sum(dtype.itemsize for dtype in types.values()) > self._max_in_memory
        ):
            self._move_to_files(types, self._rows)
        self.room(0, types)
        return all(len(column) >= rows for column in self._columns.values())

    def close_gaps(self, spans: Sequence[tuple[int, int]]) -> None:
        """Keep only the rows in these spans, from begin to end each, in order; those after a gap are moved."""
        self._rows = 0
        for begin, end in spans:
            count = end - begin
            if begin != self._rows:
                for column in self._columns.values():
                    column[self._rows : self._rows + count] = column[begin:end]
            self._rows += count

    def clear(self) -> bool:
        """Drop all rows to reuse the columns; return False if they are in files and can't be reused."""
        self._rows = 0
        return not self._in_files

    def columns(self) -> Columns:
        """Return the rows so far without a copy; those in files are read-only."""
        columns = {name: column[: self._rows] for name, column in self._columns.items()}
        for column in columns.values():
            column.flags.writeable = not self._in_files
        return columns

    def _enlarge(self, name: str, dtype: np.dtype[Any], end: int) -> None:
        """Give a column room for `end` rows of a type; rows up to `end` may be written already, before `add`."""
        old = self._columns.get(name)
        new = self._new_in_file(name, dtype, end) if self._in_files else self._new_in_memory(name, dtype, end)
        if old is not None:
            written = min(len(old), end)
            new[:written] = old[:written]
        self._columns[name] = new

    def _new_in_memory(self, name: str, dtype: np.dtype[Any], end: int) -> NDArray[Any]:
        """Allocate a new column with room for `end` rows; unwritten rows take no memory."""
        begin = self._begin(name)
        try:
            return _allocate(begin, max(self._room, 2 * end), dtype)
        except MemoryError:
            return _allocate(begin, max(min(self._room, REDUCED_ROOM), end + end // 2), dtype)

    def _begin(self, name: str) -> int:
        """Return the byte of its memory or file at which a column begins, different for each column.

        It avoids 4K aliasing: processors confuse stores at the same offset in several pages, and wait.
        """
        return self._begins.setdefault(name, COLUMN_SHIFT * len(self._begins))

    def _new_in_file(self, name: str, dtype: np.dtype[Any], end: int) -> NDArray[Any]:
        """Create a column with room for `end` rows, in a new file that replaces its old one."""
        with self._report_full_disk(end):
            file = tempfile.TemporaryFile(dir=large_files_folder())  # noqa: SIM115  # it lives as long as the columns
        old, self._files[name], self._disk_ends[name] = self._files.get(name), file, 0
        if old:
            old.close()
        begin = self._begin(name)
        with self._report_full_disk(end):
            mapping = mapped(file, begin + max(ROOM, 2 * end) * dtype.itemsize)
        self._make_room(name, end, dtype.itemsize)
        return np.frombuffer(mapping, dtype, offset=begin)

    def _make_room(self, name: str, end: int, itemsize: int = 0) -> None:
        """Reserve disk space for `end` rows of a column."""
        size, rows = itemsize or self._columns[name].itemsize, -(-end // DISK_STEP) * DISK_STEP
        end_byte = rows * size + self._begin(name)
        with self._report_full_disk(end):
            make_room(self._files[name], self._disk_ends[name], end_byte)
        self._disk_ends[name] = end_byte

    @contextmanager
    def _report_full_disk(self, end: int) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise TraceFileError(
                f"Can't keep {end:,} accesses in {large_files_folder()}: {error.strerror}; "
                "free some space, or choose a smaller size or fewer blocks."
            ) from error

    def _move_to_files(self, types: Mapping[str, np.dtype[Any]], end: int) -> None:
        """Move all columns to files; if these have no room, the columns stay in memory as long as it lasts."""
        old_columns, self._in_files = dict(self._columns), True
        try:
            for name, dtype in types.items():
                self._enlarge(name, dtype, end)
        except TraceFileError:
            if self._max_in_memory == self._memory:
                raise
            self._in_files, self._max_in_memory = False, self._memory
            self._columns.clear()
            self._columns.update(old_columns)
            _close(self._files)


class ReservedRows:
    """A reserved range of rows in columns, whose rows are written to their final place.

    Rows that do not fit raise Misfit. It has the methods of GrowingColumns that a recorder uses.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns, self._rows = columns, 0

    def __len__(self) -> int:
        return self._rows

    def room(self, count: int, dtypes: Mapping[str, np.dtype[Any]]) -> Columns:
        """Return the columns, if they are wide enough for these types and have room for more rows."""
        for name, dtype in dtypes.items():
            column = self._columns[name]
            if self._rows + count > len(column) or _common_type(column.dtype, dtype) != column.dtype:
                raise MisfitError
        return self._columns

    def add(self, count: int) -> None:
        """Count rows that have been written."""
        self._rows += count

    @property
    def most(self) -> int:
        """The number of rows that fit."""
        return len(self._columns["op"])

    def current_capacity(self) -> tuple[Columns, int]:
        """Return the columns, and the number of rows that fit."""
        return self._columns, self.most

    def replace_column(self, name: str, column: NDArray[Any]) -> NDArray[Any]:
        """Overwrite the rows so far of a column with other numbers."""
        own_column = self.room(0, {name: column.dtype})[name][: self._rows]
        own_column[...] = column
        return own_column

    def columns(self) -> Columns:
        """Return the rows so far, which can be written to."""
        return {name: column[: self._rows] for name, column in self._columns.items()}


class MisfitError(Exception):
    """There are more rows than expected, or their types are wider."""


def _common_type(first: np.dtype[Any], second: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that holds the values of both."""
    return first if first == second else np.result_type(first, second)


def _allocate(begin: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    memory: NDArray[np.uint8] = np.empty(begin + count * dtype.itemsize, np.uint8)
    return memory[begin:].view(dtype)


def _close(files: dict[str, IO[bytes]]) -> None:
    with suppress(OSError):
        for file in files.values():
            file.close()
    files.clear()
