"""Columns that grow: while they are small in memory, from there on in mapped files, which others can map too."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...model.array_types import Columns
from ...storage.column_files import make_room, mapped
from ...storage.temp_folders import large_files_folder
from ...storage.trace_file import TraceFileError

ROOM = 1 << 24  # rows for which a column has room at least, and by which it grows in a file
SMALL = 1 << 26  # bytes of columns that stay in memory: a copy of those costs next to nothing


class GrowingColumns:
    """Columns of equal length, which are written to where they are.

    memory: bytes that they may take where there is no room for files. These have no name, so that nothing is left of
    them, however the process ends. room: rows to begin with. Raises TraceFileError where the disk is full.
    """

    def __init__(self, memory: int, room: int = ROOM) -> None:
        self._memory, self._most = memory, min(memory, SMALL)
        self._room = room
        self._columns: Columns = {}  # with their room
        self._files: dict[str, IO[bytes]] = {}
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
        return known

    def add(self, count: int) -> None:
        """Take in so many rows, which have been written."""
        self._rows += count

    def columns(self) -> Columns:
        """Return the rows so far, which are not copied; those in files can't be written to."""
        found = {name: column[: self._rows] for name, column in self._columns.items()}
        for column in found.values():
            column.flags.writeable = not self._in_files
        return found

    def _enlarge(self, name: str, dtype: np.dtype[Any], end: int) -> None:
        """Give a column room for `end` rows of a type."""
        old = self._columns.get(name)
        if old is not None and old.dtype == dtype and name in self._files:
            self._columns[name] = self._mapped(self._files[name], dtype, end)
            return
        # What is not written to takes no memory.
        new = (
            self._in_a_file(name, dtype, end) if self._in_files else np.empty(max(self._room, 2 * end), dtype)
        )
        if old is not None:
            new[: self._rows] = old[: self._rows]
        self._columns[name] = new

    def _in_a_file(self, name: str, dtype: np.dtype[Any], end: int) -> NDArray[Any]:
        """Return a new column with room for `end` rows, in a file that takes the place of the one before."""
        file = tempfile.TemporaryFile(dir=large_files_folder())  # noqa: SIM115  # as long as the columns
        try:
            column = self._mapped(file, dtype, end)
        except BaseException:
            file.close()
            raise
        if name in self._files:
            self._files[name].close()
        self._files[name] = file
        return column

    def _mapped(self, file: IO[bytes], dtype: np.dtype[Any], end: int) -> NDArray[Any]:
        """Return a file's column with room for `end` rows."""
        room = -(-end // ROOM) * ROOM
        try:
            make_room(file, room * dtype.itemsize)
            mapping = mapped(file, room * dtype.itemsize)
        except OSError as error:
            raise TraceFileError(
                f"Can't keep {end:,} accesses in {large_files_folder()}: {error.strerror}; "
                "free some space, or choose a smaller size or fewer blocks."
            ) from error
        return np.frombuffer(mapping, dtype)

    def _move_to_files(self, wide: Mapping[str, np.dtype[Any]], end: int) -> None:
        """Move all columns to files; where there is no room for them they stay, as long as memory lasts."""
        before, self._in_files = dict(self._columns), True
        try:
            for name, dtype in wide.items():
                self._enlarge(name, dtype, end)
        except (OSError, TraceFileError):
            if self._most == self._memory:
                raise
            self._in_files, self._most = False, self._memory
            self._columns.clear()
            self._columns.update(before)
            _close(self._files)


def _both(one: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that holds what either does."""
    return one if one == other else np.result_type(one, other)


def _close(files: dict[str, IO[bytes]]) -> None:
    with suppress(OSError):
        for file in files.values():
            file.close()
    files.clear()
