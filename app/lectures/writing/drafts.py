"""Drafts of unsaved lectures on disk, which outlive a crash of the program."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import msgspec
from PySide6.QtCore import QLockFile

from ....tracer.storage.atomic_write import write_atomically

SUFFIX, LOCK = ".json", ".lock"
MOST_BYTES = 10_000_000  # of a draft


class Draft(msgspec.Struct, frozen=True):
    """An unsaved lecture."""

    path: str  # the file that it was meant for; relative names in it start there
    text: str


class Drafts:
    """Keeps one draft in a folder. A lock marks it as that of a running program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._own: tuple[Path, QLockFile] | None = None  # the draft of this program

    def keep(self, draft: Draft) -> None:
        """Write the draft; a folder that cannot be written keeps none."""
        with suppress(OSError):
            if self._own is None:
                self.folder.mkdir(parents=True, exist_ok=True)
                path = self.folder / f"{uuid4().hex}{SUFFIX}"
                lock = _lock_of(path)
                lock.tryLock(0)
                self._own = path, lock
            write_atomically(self._own[0], msgspec.json.encode(draft))

    def remove(self) -> None:
        """Remove the draft, since it is saved or discarded."""
        if self._own is not None:
            path, lock = self._own
            self._own = None
            with suppress(OSError):
                path.unlink(missing_ok=True)
            lock.unlock()

    def recover(self) -> Draft | None:
        """Take over the draft of a program that was killed; None without one."""
        with suppress(OSError):
            for path in sorted(self.folder.glob(f"*{SUFFIX}")):
                lock = _lock_of(path)
                if self._own is None and path.stat().st_size <= MOST_BYTES and lock.tryLock(0):
                    try:
                        draft = msgspec.json.decode(path.read_bytes(), type=Draft)
                    except (OSError, msgspec.DecodeError):
                        lock.unlock()
                        continue
                    self._own = path, lock
                    return draft
        return None


def _lock_of(path: Path) -> QLockFile:
    lock = QLockFile(str(path.with_suffix(LOCK)))
    lock.setStaleLockTime(0)  # only the end of its program frees it
    return lock
