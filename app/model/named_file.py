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


class UnreadableFileError(ValueError):
    """A file that can't be taken; the text says why and goes after its name, without a full stop."""


def small_content(path: Path, most: int, user: str) -> bytes:
    """Return what a file holds; raises UnreadableFileError for one with more than `most` bytes, as no `user` needs."""
    try:
        content = bytes_of(path, most)
    except OSError as error:
        raise UnreadableFileError(f"can't be read: {error.strerror}") from None
    if len(content) > most:
        raise UnreadableFileError(f"has more than {most:,} bytes, which no {user} needs")
    return content


def small_text(path: Path, most: int, user: str) -> str:
    """Return the text of a file in UTF-8; raises UnreadableFileError as `small_content` does, and for no text."""
    try:
        return small_content(path, most, user).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFileError(f"is no text in UTF-8 (byte {error.start:,})") from None
