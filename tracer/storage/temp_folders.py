"""Where large temporary files go, and what a process that was killed left there."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

PREFIX = "tilescope-worker-"
LOCK = "in-use"  # a file that whoever owns a folder has locked as long as it lives
DAY = 86_400.0  # seconds
_locks: list[int] = []  # descriptors of those files, of this process


@lru_cache
def large_files_folder() -> str:
    """Return where large files go: not where many systems keep temporary files in memory, if there is a choice."""
    usual = tempfile.gettempdir()
    elsewhere = usual != "/tmp" or not os.access("/var/tmp", os.W_OK)
    return usual if elsewhere else "/var/tmp"


def new_process_folder() -> Path:
    """Return a new folder of this process; those of processes that have ended are removed."""
    parent = Path(large_files_folder())
    for path in parent.glob(f"{PREFIX}*"):
        if _is_left_over(path):
            shutil.rmtree(path, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
    _lock(made)
    return made


def _lock(folder: Path) -> None:
    """Lock a folder as long as this process lives; without locks, its age and the process's number have to do."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        import fcntl

        for old in [lock for lock in _locks if not os.fstat(lock).st_nlink]:  # whose folders are gone
            _locks.remove(old)
            os.close(old)
        new = folder / f"{LOCK}.new"
        lock = os.open(new, os.O_WRONLY | os.O_CREAT)
        _locks.append(lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        new.rename(folder / LOCK)  # locked before anybody looks for it


def _is_left_over(folder: Path) -> bool:
    """Return whether the process that a folder is of has ended: its number alone might be another's by now."""
    if sys.platform == "win32":
        return _is_old(folder)
    import fcntl

    try:
        with (folder / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except FileNotFoundError:
        return _is_old(folder)
    except OSError:  # it is locked, somebody else's, or in a place without locks
        return False


def _is_old(folder: Path) -> bool:
    try:
        return folder.name[len(PREFIX) :][:1].isdigit() and time.time() - folder.stat().st_mtime > DAY
    except OSError:
        return False
