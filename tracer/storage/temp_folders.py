"""Folders of large temporary files, and removal of those that killed processes left."""

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
LOCK = "in-use"  # a file that the process of a folder keeps locked
DAY = 86_400.0  # seconds
_locks: list[int] = []  # descriptors of those files, of this process


@lru_cache
def large_files_folder() -> str:
    """Return the folder of large files: if possible not /tmp, which many systems keep in memory."""
    default = tempfile.gettempdir()
    is_on_disk = default != "/tmp" or not os.access("/var/tmp", os.W_OK)
    return default if is_on_disk else "/var/tmp"


def new_process_folder() -> Path:
    """Create a folder for this process; remove those of processes that have ended."""
    parent = Path(large_files_folder())
    for path in parent.glob(f"{PREFIX}*"):
        if _is_left_over(path):
            shutil.rmtree(path, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
    _lock(folder)
    return folder


def _lock(folder: Path) -> None:
    """Lock a folder as long as this process lives; without locks, its age and the process number must do."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        import fcntl

        for unused in [lock for lock in _locks if not os.fstat(lock).st_nlink]:  # whose folders are gone
            _locks.remove(unused)
            os.close(unused)
        new = folder / f"{LOCK}.new"
        lock = os.open(new, os.O_WRONLY | os.O_CREAT)
        _locks.append(lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        new.rename(folder / LOCK)  # already locked when it gets its name


def _is_left_over(folder: Path) -> bool:
    """Return True if a folder's process has ended; its number may belong to another process by now."""
    if sys.platform == "win32":
        return _is_old(folder)
    import fcntl

    try:
        with (folder / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except FileNotFoundError:
        return _is_old(folder)
    except OSError:  # it is locked, another user's, or on a file system without locks
        return False


def _is_old(folder: Path) -> bool:
    try:
        return folder.name[len(PREFIX) :][:1].isdigit() and time.time() - folder.stat().st_mtime > DAY
    except OSError:
        return False
