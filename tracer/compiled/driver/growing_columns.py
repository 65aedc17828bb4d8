"""Columns that grow: in memory up to a number of bytes, from there on in files, so that memory is left for others."""

from __future__ import annotations

import tempfile
import weakref
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...model.array_types import Columns
from ...storage.temp_folders import large_files_folder
from ...storage.trace_file import TraceFileError

ROOM = 1 << 24
BATCH = 1 << 20  # rows that are moved at once


class GrowingColumns:
    """Columns of equal length.

    memory: bytes that they may take before they go to files. The files have no name, so that nothing is left of
    them, however the process ends. Raises TraceFileError where the disk is full.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._columns: Columns = {}
        self._files: dict[str, IO[bytes]] = {}
        self._dtypes: dict[str, np.dtype[Any]] = {}
        self._in_files = False
        weakref.finalize(self, _close, self._files)  # what is mapped of a file stays
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, columns: Columns) -> None:
        """Add rows; a column whose type is too narrow for them is made wider."""
        count = len(next(iter(columns.values())))
        if not self._in_files and self._bytes(columns, self._rows + count) > self._memory:
            self._move_to_files()
        for name, values in columns.items():
            self._fit(name, values.dtype)
            if self._in_files:
                self._write(name, values, self._dtypes[name])
            else:
                self._column(name, self._rows + count)[self._rows : self._rows + count] = values
        self._rows += count

    def columns(self) -> Columns:
        """Return the rows so far, which are not copied; those in files can't be written to."""
        if not self._in_files:
            return {name: column[: self._rows] for name, column in self._columns.items()}
        return {name: self._mapped(name) for name in self._files}

    def _column(self, name: str, end: int) -> NDArray[Any]:
        """Return a column in memory with room for `end` rows.

        The memory that `numpy.empty` returns is not taken from the machine before it is written to.
        """
        column = self._columns.get(name)
        if column is None or len(column) < end:
            larger = np.empty(max(ROOM, 2 * end), self._dtypes[name])
            larger[: self._rows] = column[: self._rows] if column is not None else 0
            self._columns[name] = column = larger
        return column

    def _fit(self, name: str, dtype: np.dtype[Any]) -> None:
        """Make a column wide enough for values of a type."""
        known = self._dtypes.get(name)
        if known is not None and known == dtype:  # NumPy takes None for float64
            return
        wide = dtype if known is None else np.result_type(known, dtype)
        if known is not None and wide != known:
            if name in self._files:
                old = self._mapped(name)
                self._files.pop(name).close()
                self._write(name, old, wide)
            else:
                old = self._columns[name]
                self._columns[name] = np.empty(len(old), wide)
                self._columns[name][: self._rows] = old[: self._rows]
        self._dtypes[name] = wide

    def _bytes(self, columns: Columns, rows: int) -> int:
        """Return the bytes that so many rows take with these at their end."""
        return rows * sum(
            max(c.dtype.itemsize, self._dtypes.get(n, c.dtype).itemsize) for n, c in columns.items()
        )

    def _move_to_files(self) -> None:
        self._in_files = True
        for name in list(self._columns):
            column = self._columns.pop(name)
            self._write(name, column[: self._rows], column.dtype)

    def _write(self, name: str, column: NDArray[Any], dtype: np.dtype[Any]) -> None:
        if name not in self._files:
            self._files[name] = tempfile.TemporaryFile(dir=large_files_folder())  # noqa: SIM115  # as long as the columns
        try:
            for begin in range(0, len(column), BATCH):
                self._files[name].write(np.ascontiguousarray(column[begin : begin + BATCH], dtype).data)
            self._files[name].flush()
        except OSError as error:
            where = large_files_folder()
            raise TraceFileError(
                f"Can't keep {self._rows:,} accesses in {where}: {error.strerror}; "
                "free some space, or choose a smaller size or fewer blocks."
            ) from error

    def _mapped(self, name: str) -> NDArray[Any]:
        if not self._rows:
            return np.empty(0, self._dtypes[name])
        return np.memmap(self._files[name], self._dtypes[name], "r", shape=(self._rows,))


def _close(files: dict[str, IO[bytes]]) -> None:
    for file in files.values():
        file.close()
