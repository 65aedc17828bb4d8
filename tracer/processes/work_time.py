"""The processor time of a helper process: how long it works, however busy the machine is."""

from __future__ import annotations

import os
import time
from pathlib import Path

_IS_SHOWN = Path("/proc/self/stat").exists()  # Linux
_USER, _SYSTEM = 11, 12  # fields of /proc/PID/stat after the name of the program


def work_seconds(process: int | None) -> float:
    """Return the seconds of processor time of this thread and of a process, or of a clock as `processor_seconds`."""
    own = time.thread_time() if _IS_SHOWN else 0.0
    return own + processor_seconds(process)


def processor_seconds(process: int | None) -> float:
    """Return the seconds of processor time of a process, 0 without one or if it has ended.

    Where the system does not show it, return the seconds of a clock.
    """
    if not _IS_SHOWN:
        return time.monotonic()
    try:
        fields = Path(f"/proc/{process}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[_USER]) + int(fields[_SYSTEM])) / os.sysconf("SC_CLK_TCK")
