"""A disk cache of the compiler's answers by question and versions, so that repeated questions start no process."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from functools import lru_cache
from pathlib import Path

import msgspec

from ... import __version__
from ..storage.atomic_write import write_atomically
from .question import ANSWER, Answer

FORMAT = 4  # version of questions and answers; a new one ignores old answers
PACKAGES = ("numba", "numba-cuda", "llvmlite", "numpy")
MAX_ANSWERS = 2000  # answers that are kept, of a few hundred bytes each
SUFFIX = ".types"


class AnswerCache:
    """A folder of answers; a folder that can't be read or written acts as empty."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, key: str) -> Answer | None:
        """Return the cached answer to the question with this key, None if there is none."""
        if self._folder is None:
            return None
        try:
            return ANSWER.decode(self._path(self._folder, key).read_bytes())
        except (OSError, msgspec.MsgspecError, ValueError):
            return None

    def put(self, key: str, answer: Answer) -> None:
        """Store an answer."""
        if self._folder is None:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(self._folder, key), msgspec.json.encode(answer))
            self._trim(self._folder)

    @staticmethod
    def _trim(folder: Path) -> None:
        """Remove the oldest answers."""
        files = list(folder.glob(f"*{SUFFIX}"))
        if len(files) > MAX_ANSWERS:
            for path in sorted(files, key=lambda file: file.stat().st_mtime_ns)[
                : len(files) - MAX_ANSWERS // 2
            ]:
                path.unlink(missing_ok=True)

    @staticmethod
    def _path(folder: Path, key: str) -> Path:
        name = hashlib.sha256(f"{versions()} {key}".encode()).hexdigest()
        return folder / f"{name}{SUFFIX}"


@lru_cache(maxsize=1)
def versions() -> str:
    """Describe everything except the question that may change an answer."""
    from importlib import metadata  # lazy: it imports the email package, which would slow the window's start

    lines = [f"{FORMAT} {__version__} {sys.version} {sys.executable}"]
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            lines.append(f"{package} {metadata.version(package)}")
    lines += sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name.startswith("NUMBA_") and name != "NUMBA_ENABLE_CUDASIM"
    )
    return "\n".join(lines)
