"""Atomic file writes: into a temporary file in the same folder, which then replaces the target."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

TEMPORARY = ".tilescope-*.tmp"  # glob pattern of unfinished files of killed processes


@contextlib.contextmanager
def atomic_file(path: Path, durable: bool = True) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces `path` at the end of the `with`, unless an exception is raised in it.

    durable: sync to the disk before the replacement, so that not even a power cut leaves half a file. Devices
    and pipes are written to directly. Raises OSError, and then leaves the old file and no temporary one.
    """
    if not path.name:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if path.exists() and not (path.is_file() or path.is_dir()):
        with path.open("wb") as device:
            yield device
        return
    temporary = path.with_name(TEMPORARY.replace("*", secrets.token_hex(8)))
    try:
        with temporary.open("xb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):  # the first error is the one to report
            temporary.unlink()
        raise


def write_atomically(path: Path, content: bytes, durable: bool = True) -> None:
    """Write a file, and leave the old one if that fails; see `atomic_file`."""
    with atomic_file(path, durable) as file:
        file.write(content)
