"""Files that columns lie in: room is made before it is written to, and another process may map them too."""

from __future__ import annotations

import errno
import mmap
import os
import weakref
from typing import IO

PIECE = bytes(1 << 20)
_UNKNOWN = (errno.EINVAL, errno.EOPNOTSUPP, errno.ENODEV, errno.ENOSYS)  # of a file system that can't do it
_descriptors: weakref.WeakKeyDictionary[mmap.mmap, int] = weakref.WeakKeyDictionary()


def make_room(file: IO[bytes], size: int) -> None:
    """Make a file as large as this; raises OSError where the disk is full.

    Else a process that writes to what it has mapped of a file dies where there is no room for it.
    """
    begin = os.fstat(file.fileno()).st_size
    if size <= begin:
        return
    try:
        os.posix_fallocate(file.fileno(), begin, size - begin)
    except AttributeError:  # systems other than Linux
        _write_zeros(file, begin, size)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        _write_zeros(file, begin, size)


def _write_zeros(file: IO[bytes], begin: int, size: int) -> None:
    file.seek(begin)
    for low in range(begin, size, len(PIECE)):
        file.write(PIECE[: size - low])
    file.flush()


def mapped(file: IO[bytes], size: int) -> mmap.mmap:
    """Return a file mapped for writing; it stays open as long as that."""
    mapping = mmap.mmap(file.fileno(), size)
    descriptor = _descriptors[mapping] = os.dup(file.fileno())
    weakref.finalize(mapping, os.close, descriptor)
    return mapping
