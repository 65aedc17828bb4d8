"""Files that somebody names: whether a word is the name of one, and what a small one holds."""

from __future__ import annotations

import errno
from pathlib import Path


def is_file(word: str) -> bool:
    """Return whether a word names a file; what has too many characters for a name names none."""
    try:
        return Path(word).is_file()
    except OSError:
        return False


def bytes_of(path: Path, most: int) -> bytes:
    """Return what a file holds, of one with more than `most` bytes one more than these; raises OSError.

    A pipe or a device, which might never end, is refused.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no file")
    with path.open("rb") as file:
        return file.read(most + 1)
