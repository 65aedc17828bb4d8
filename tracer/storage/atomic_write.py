"""Files written whole or not at all: under a temporary name beside the file, which then takes the file's name."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

TEMPORARY = ".tilescope-*.tmp"  # how glob finds what a killed process left half-written


@contextlib.contextmanager
def atomic_file(path: Path, durable: bool = True) -> Iterator[IO[bytes]]:
    """Lend a file whose content becomes that of `path` at the end of a `with`, unless something is raised in it.

    durable: it is on the disk before the name is given to it, so that not even a power cut leaves half a file. What
    is no file, as a pipe or a device, is written to as it is. Raises OSError, and leaves then what was there before
    and nothing beside it.
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
        with contextlib.suppress(OSError):  # what went wrong before is what is reported
            temporary.unlink()
        raise


def write_atomically(path: Path, content: bytes, durable: bool = True) -> None:
    """Write a file, and leave the old one where that fails; see `atomic_file`."""
    with atomic_file(path, durable) as file:
        file.write(content)
