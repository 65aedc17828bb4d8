"""Processes that end with their parent, however it ends: on Linux by a signal, on Windows by a job object."""

from __future__ import annotations

import os
import signal
import sys
from functools import lru_cache
from typing import Any

PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int | None = None) -> None:
    """On Linux, ask the kernel for SIGKILL when the thread that started this process ends.

    Call it only in a process whose starting thread waits for it. parent: the expected parent's process ID, if known.
    If that process has ended already, this one exits immediately.
    """
    if sys.platform == "linux":
        _libc().prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if parent is not None and os.getppid() != parent:
            os._exit(0)


@lru_cache
def _libc() -> Any:
    import ctypes  # lazy: takes a few milliseconds, and most processes don't need it

    return ctypes.CDLL(None)


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    KILL_ON_JOB_CLOSE, EXTENDED_LIMITS = 0x2000, 9
    SET_QUOTA_AND_TERMINATE = 0x0101

    class _ExtendedLimits(ctypes.Structure):
        """JOBOBJECT_EXTENDED_LIMIT_INFORMATION; only LimitFlags is set."""

        _fields_ = (
            ("times", ctypes.c_int64 * 2),
            ("flags", wintypes.DWORD),
            ("sizes", ctypes.c_size_t * 2),
            ("processes", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("classes", wintypes.DWORD * 2),
            ("transfers", ctypes.c_uint64 * 6),
            ("memory", ctypes.c_size_t * 4),
        )

    @lru_cache
    def _job() -> Any:
        """Return a job whose processes end with this one, which holds its only handle; 0 if there is none."""
        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel32.CreateJobObjectW.restype = wintypes.HANDLE
        job = kernel32.CreateJobObjectW(None, None)
        limits = _ExtendedLimits(flags=KILL_ON_JOB_CLOSE)
        size = ctypes.sizeof(limits)
        kernel32.SetInformationJobObject(wintypes.HANDLE(job), EXTENDED_LIMITS, ctypes.byref(limits), size)
        return job

    def tie_to_this_process(child: int) -> None:
        """Make a child, and the processes it starts from now on, end with this process."""
        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel32.OpenProcess.restype = wintypes.HANDLE
        handle = kernel32.OpenProcess(SET_QUOTA_AND_TERMINATE, False, child)
        if handle and _job():
            kernel32.AssignProcessToJobObject(wintypes.HANDLE(_job()), wintypes.HANDLE(handle))
            kernel32.CloseHandle(wintypes.HANDLE(handle))

else:

    def tie_to_this_process(child: int) -> None:
        """Do nothing: here a child ends by itself (`die_with_parent`, or its input closes)."""
