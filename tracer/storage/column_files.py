"""Files that columns lie in: room is made before it is written to, and another process may map them too."""

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
_UNKNOWN = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENODEV, errno.ENOSYS)  # of a file system that can't do it
SMALL = 1 << 26  # bytes of columns that are not worth files of their own
_shares = False  # whether another process maps what this one records
_named: list[int] = []  # descriptors of files that another process was told of
_descriptors: weakref.WeakKeyDictionary[mmap.mmap, int] = weakref.WeakKeyDictionary()


def share_columns() -> None:
    """Let large columns that are recorded from now on lie in files, which another process can map."""
    global _shares
    _shares = True


def most_in_memory(most: int) -> int:
    """Return how many bytes of columns stay in memory, of those that may."""
    return min(most, SMALL) if _shares else most


def make_room(file: IO[bytes], begin: int, end: int) -> None:
    """Give a file room on the disk for these bytes of it; raises OSError where the disk is full.

    Else a process that writes to what it has mapped of a file dies where there is no room for it.
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
    """Return a file of this size mapped for writing; it stays open as long as that."""
    file.truncate(size)
    mapping = mmap.mmap(file.fileno(), size)
    descriptor = _descriptors[mapping] = os.dup(file.fileno())
    weakref.finalize(mapping, os.close, descriptor)
    return mapping


def new_column(count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return room for a column, in a file where it is large and another process maps such, else in memory."""
    size = count * dtype.itemsize
    if not _shares or size < SMALL // 16:
        return np.empty(count, dtype)
    try:
        with tempfile.TemporaryFile(dir=large_files_folder()) as file:
            make_room(file, 0, size)
            return np.frombuffer(mapped(file, size), dtype)
    except OSError:  # there is no room for it
        return np.empty(count, dtype)


class ColumnFile(msgspec.Struct, frozen=True):
    """A column that lies in a file of another process, or is known without one."""

    path: str  # as long as that process has it open; "" for one that lies nowhere
    dtype: str  # of its entries, as NumPy writes it
    count: int  # of its entries
    same: str = ""  # of one that lies nowhere the bytes of all entries, hexadecimal; "" for 0 1 2 ...
    begin: int = 0  # byte of the file at which it begins


def file_of(column: NDArray[Any]) -> ColumnFile | None:
    """Return where a column lies, None where that is no file that another process could open.

    The file stays open until `close_named`.
    """
    if column.strides == (0,) and column.dtype.kind in "biufc":
        return ColumnFile("", column.dtype.str, len(column), column[:1].tobytes().hex())
    found = _place(column)
    if found is None or not Path(f"/proc/self/fd/{found[0]}").exists():
        return None
    _named.append(os.dup(found[0]))
    path = f"/proc/{os.getpid()}/fd/{_named[-1]}"
    return ColumnFile(path, column.dtype.str, len(column), begin=found[1])


def close_named() -> None:
    """Close the files that `file_of` returned: who was told of them has mapped them by now."""
    while _named:
        os.close(_named.pop())


def counted(count: int) -> ColumnFile:
    """Return where 0 1 2 ... lie: nowhere."""
    return ColumnFile("", np.min_scalar_type(max(0, count - 1)).str, count)


def is_counted(file: ColumnFile) -> bool:
    """Return whether a column is 0 1 2 ..."""
    return not file.path and not file.same


def column_in(file: ColumnFile) -> NDArray[Any]:
    """Return a column, mapped for reading; raises OSError and ValueError."""
    dtype = np.dtype(file.dtype)
    if file.same:
        return np.broadcast_to(np.frombuffer(bytes.fromhex(file.same), dtype)[0], file.count)
    return np.memmap(file.path, dtype, "r", file.begin, (file.count,))


def own_copy(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with the same entries that others do not see change; of one in a file pages that are written to.

    The file may not change any more.
    """
    place = _place(array)
    if place is None or not array.size:
        return array.copy()
    mapping = mmap.mmap(place[0], 0, access=mmap.ACCESS_COPY)
    return np.frombuffer(mapping, array.dtype, array.size, place[1]).reshape(array.shape)


def forget_pages(*columns: NDArray[Any]) -> None:
    """Free the memory that holds parts of mapped columns; they are read from their files again where they are used."""
    for mapping in filter(None, map(_mapping, columns)):
        if hasattr(mmap, "MADV_DONTNEED"):  # elsewhere the system takes them back where it needs the memory
            mapping.madvise(mmap.MADV_DONTNEED)


def _mapping(column: NDArray[Any]) -> mmap.mmap | None:
    """Return what maps the file in which a column lies, None for one that lies in memory."""
    base: Any = column
    while isinstance(base, np.ndarray):
        base = base.base
    mapping = base.obj if isinstance(base, memoryview) else base
    return mapping if isinstance(mapping, mmap.mmap) else None


def _place(column: NDArray[Any]) -> tuple[int, int] | None:
    """Return the descriptor of the file in which a column lies, and the byte at which it begins."""
    mapping = _mapping(column)
    if mapping is None or mapping not in _descriptors or not column.flags.c_contiguous:
        return None
    begin = np.frombuffer(mapping, np.uint8).__array_interface__["data"][0]
    return _descriptors[mapping], column.__array_interface__["data"][0] - begin
