"""Whether a process has ended."""

from __future__ import annotations

import os
import time
from pathlib import Path


def ended(process: int) -> bool:
    """Return whether a process has ended, waiting up to a minute."""
    for _ in range(600):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        about = Path(f"/proc/{process}")
        # Killed, it cannot be waited for before the last of its threads is gone.
        dead = about.exists() and about.joinpath("stat").read_text().split()[2] == "Z"
        if dead and len(list(about.joinpath("task").iterdir())) <= 1:
            return True
        time.sleep(0.1)
    return False
