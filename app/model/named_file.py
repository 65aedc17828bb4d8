"""Whether a word of a command line names a file, or something else that may be longer than any name of a file."""

from __future__ import annotations

from pathlib import Path


def is_file(word: str) -> bool:
    """Return whether a word names a file; what has too many characters for a name names none."""
    try:
        return Path(word).is_file()
    except OSError:
        return False
