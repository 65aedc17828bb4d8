"""Files that hold columns: space is allocated before it is written to, and other processes may map them too."""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
import weakref
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from .temp_folders import large_files_folder

PIECE = bytes(1 << 20)
_UNKNOWN = (
    errno.EINVAL,
    errno.EOPNOTSUPP,
    errno.ENODEV,
    errno.ENOSYS,
)  # of a file system that can't preallocate
SMALL = 1 << 26  # bytes of columns that are kept in memory
_shares = False  # whether another process maps the columns that this one records
_named: list[int] = []  # descriptors of files that another process opens by name
_descriptors: weakref.WeakKeyDictionary[mmap.mmap, int] = weakref.WeakKeyDictionary()


def share_columns() -> None:
    """Keep large columns that are recorded from now on in files, which another process can map."""
    global _shares
    _shares = True


def most_in_memory(most: int) -> int:
    """Return the bytes of columns that stay in memory, at most `most`."""
    return min(most, SMALL) if _shares else most


def make_room(file: IO[bytes], begin: int, end: int) -> None:
    """Allocate space on the disk for these bytes of a file; raises OSError if the disk is full.

    Without it, a process that writes to a mapped file dies if there is no space.
    """
    try:
        os.posix_fallocate(file.fileno(), begin, end - begin)
    except AttributeError:  # systems other than Linux
        _write_zeros(file, begin, end)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        _write_zeros(file, begin, end)


def _write_zeros(file: IO[bytes], begin: int, end: int) -> None:
    file.seek(begin)
    for low in range(begin, end, len(PIECE)):
        file.write(PIECE[: end - low])
    file.flush()


def mapped(file: IO[bytes], size: int) -> mmap.mmap:
    """Map a file of this size for writing; the file stays open as long as the mapping."""
    file.truncate(size)
    mapping = mmap.mmap(file.fileno(), size)
    descriptor = _descriptors[mapping] = os.dup(file.fileno())
    weakref.finalize(mapping, os.close, descriptor)
    return mapping


def new_column(count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Allocate a column, in a file if it is large and another process maps such, else in memory."""
    size = count * dtype.itemsize
    if not _shares or size < SMALL // 16:
        return np.empty(count, dtype)
    try:
        with tempfile.TemporaryFile(dir=large_files_folder()) as file:
            make_room(file, 0, size)
            return np.frombuffer(mapped(file, size), dtype)
    except OSError:  # the disk is full
        return np.empty(count, dtype)


class ColumnFile(msgspec.Struct, frozen=True):
    """A column in a file of another process, or a constant or counting column without a file."""

    path: str  # valid as long as that process has it open; "" for a column without a file
    dtype: str  # of its entries, as NumPy writes it
    count: int  # of its entries
    same: str = ""  # without a file: the bytes of every entry, hexadecimal; "" for 0 1 2 ...
    begin: int = 0  # byte of the file at which it begins


def file_of(column: NDArray[Any]) -> ColumnFile | None:
    """Describe the file of a column, None if another process could not open it.

    The file stays open until `close_named`.
    """
    if column.strides == (0,) and column.dtype.kind in "biufc":
        return ColumnFile("", column.dtype.str, len(column), column[:1].tobytes().hex())
    location = _location(column)
    if location is None or not Path(f"/proc/self/fd/{location[0]}").exists():
        return None
    _named.append(os.dup(location[0]))
    path = f"/proc/{os.getpid()}/fd/{_named[-1]}"
    return ColumnFile(path, column.dtype.str, len(column), begin=location[1])


def close_named() -> None:
    """Close the files that `file_of` returned; the other process has mapped them by now."""
    while _named:
        os.close(_named.pop())


def counting_column(count: int) -> ColumnFile:
    """Describe the column 0 1 2 ..., which needs no file."""
    return ColumnFile("", np.min_scalar_type(max(0, count - 1)).str, count)


def is_counting_column(file: ColumnFile) -> bool:
    """Return True if a column is 0 1 2 ..."""
    return not file.path and not file.same


def column_in(file: ColumnFile) -> NDArray[Any]:
    """Map a column for reading; raises OSError and ValueError."""
    dtype = np.dtype(file.dtype)
    if file.same:
        return np.broadcast_to(np.frombuffer(bytes.fromhex(file.same), dtype)[0], file.count)
    return np.memmap(file.path, dtype, "r", file.begin, (file.count,))


def own_copy(array: NDArray[Any]) -> NDArray[Any]:
    """Return a private copy of an array; of one in a file, copied page by page on write.

    The file must not change any more.
    """
    location = _location(array)
    if location is None or not array.size:
        return array.copy()
    mapping = mmap.mmap(location[0], 0, access=mmap.ACCESS_COPY)
    return np.frombuffer(mapping, array.dtype, array.size, location[1]).reshape(array.shape)


def forget_pages(*columns: NDArray[Any]) -> None:
    """Free the memory of mapped columns; they are read from their files again when used."""
    for mapping in filter(None, map(_mapping, columns)):
        if hasattr(mmap, "MADV_DONTNEED"):  # other systems free the pages when they need memory
            mapping.madvise(mmap.MADV_DONTNEED)


def _mapping(column: NDArray[Any]) -> mmap.mmap | None:
    """Return the mapping of the file that holds a column, None for one in memory."""
    base: Any = column
    while isinstance(base, np.ndarray):
        base = base.base
    mapping = base.obj if isinstance(base, memoryview) else base
    return mapping if isinstance(mapping, mmap.mmap) else None


def _location(column: NDArray[Any]) -> tuple[int, int] | None:
    """Return the descriptor of the file that holds a column, and the byte at which it begins."""
    mapping = _mapping(column)
    if mapping is None or mapping not in _descriptors or not column.flags.c_contiguous:
        return None
    begin = np.frombuffer(mapping, np.uint8).__array_interface__["data"][0]
    return _descriptors[mapping], column.__array_interface__["data"][0] - begin
