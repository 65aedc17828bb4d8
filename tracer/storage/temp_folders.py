"""Where large temporary files go, and what a process that was killed left there."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from functools import lru_cache
from pathlib import Path

PREFIX = "tilescope-worker-"
DAY = 86_400.0  # seconds


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
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))


def _is_left_over(folder: Path) -> bool:
    """Return whether the process that a folder is named after has ended."""
    owner = folder.name.removeprefix(PREFIX).partition("-")[0]
    if sys.platform == "win32":  # where to ask for a process may end it
        try:
            return time.time() - folder.stat().st_mtime > DAY
        except OSError:
            return False
    try:
        os.kill(int(owner), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, OverflowError):
        pass
    return False
