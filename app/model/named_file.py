"""Files named by the user: existence checks and bounded reads."""

from __future__ import annotations

import errno
from pathlib import Path


def is_file(word: str) -> bool:
    """Check whether a word names a file; False for words too long to be a name."""
    try:
        return Path(word).is_file()
    except OSError:
        return False


def read_at_most(path: Path, limit: int) -> bytes:
    """Read at most `most` + 1 bytes of a file, so that a longer file is noticed; raises OSError.

    Pipes and devices, which might never end, are refused.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no file")
    with path.open("rb") as file:
        return file.read(limit + 1)


class UnreadableFileError(ValueError):
    """A file that can't be used; the text gives the reason, follows the file's name and has no full stop."""


def read_small_file(path: Path, limit: int, user: str) -> bytes:
    """Read a file; raises UnreadableFileError if it has more than `limit` bytes, which no `user` needs."""
    try:
        content = read_at_most(path, limit)
    except OSError as error:
        raise UnreadableFileError(f"can't be read: {error.strerror}") from None
    if len(content) > limit:
        raise UnreadableFileError(f"has more than {limit:,} bytes, which no {user} needs")
    return content


def read_small_text(path: Path, limit: int, user: str) -> str:
    """Read a text in UTF-8; raises UnreadableFileError as `small_content` does, and for other encodings."""
    try:
        return read_small_file(path, limit, user).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFileError(f"is no text in UTF-8 (byte {error.start:,})") from None
