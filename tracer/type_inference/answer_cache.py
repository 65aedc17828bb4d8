"""Answers of Numba's compiler on disk, by question and versions: what was asked once starts no process again."""

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

FORMAT = 3  # of questions and answers: another one finds no old answers
PACKAGES = ("numba", "numba-cuda", "llvmlite", "numpy")
MOST = 2000  # answers that are kept, of a few hundred bytes
ENDING = ".types"


class AnswerCache:
    """A folder of answers. One that can't be read or written only means that nothing is found."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, key: str) -> Answer | None:
        """Return the answer to the question of this key, None where none is kept."""
        if self._folder is None:
            return None
        try:
            return ANSWER.decode(self._path(self._folder, key).read_bytes())
        except (OSError, msgspec.MsgspecError, ValueError):
            return None

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer."""
        if self._folder is None:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(self._folder, key), msgspec.json.encode(answer))
            self._trim(self._folder)

    @staticmethod
    def _trim(folder: Path) -> None:
        """Remove the oldest answers."""
        files = list(folder.glob(f"*{ENDING}"))
        if len(files) > MOST:
            for path in sorted(files, key=lambda file: file.stat().st_mtime_ns)[: len(files) - MOST // 2]:
                path.unlink(missing_ok=True)

    @staticmethod
    def _path(folder: Path, key: str) -> Path:
        name = hashlib.sha256(f"{versions()} {key}".encode()).hexdigest()
        return folder / f"{name}{ENDING}"


@lru_cache(maxsize=1)
def versions() -> str:
    """Return all that may change an answer beside the question."""
    from importlib import metadata  # which loads what reads e-mail, and the window is to be there soon

    found = [f"{FORMAT} {__version__} {sys.version} {sys.executable}"]
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found.append(f"{package} {metadata.version(package)}")
    found += sorted(
        f"{name}={value}"
        for name, value in os.environ.items()
        if name.startswith("NUMBA_") and name != "NUMBA_ENABLE_CUDASIM"
    )
    return "\n".join(found)
