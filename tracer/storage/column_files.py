"""Files that columns lie in: room is made before it is written to, and another process may map them too."""

from __future__ import annotations

import errno
import mmap
import os
import weakref
from typing import IO

PIECE = bytes(1 << 20)
_UNKNOWN = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENODEV, errno.ENOSYS)  # of a file system that can't do it
SMALL = 1 << 26  # bytes of columns that are not worth files of their own
_shares = False  # whether another process maps what this one records
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
