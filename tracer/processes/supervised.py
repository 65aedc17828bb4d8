"""A process that continues in a forked child, so that the parent can report how it ended. Needs fork."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from mmap import mmap

from .parent_death import die_with_parent

NOTE_CAPACITY = 1 << 22  # bytes of a note; only the used pages take memory
LENGTH = 8  # bytes of the length in front of a note
FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
SIGNAL_DELAY = 0.3  # seconds within which the child reports a signal that it received


class SharedNote:
    """Bytes that a process shares with its forked children; each reads the last write of any."""

    def __init__(self) -> None:
        self._memory = mmap(-1, NOTE_CAPACITY)

    def write(self, content: bytes) -> None:
        """Replace the content; content that is too long is ignored."""
        if len(content) <= NOTE_CAPACITY - LENGTH:
            self._memory[LENGTH : LENGTH + len(content)] = content
            self._memory[:LENGTH] = len(content).to_bytes(LENGTH, "little")

    def read(self) -> bytes:
        """Return the last content, empty if there is none."""
        return self._memory[LENGTH : LENGTH + int.from_bytes(self._memory[:LENGTH], "little")]


def continue_in_child(
    judge: Callable[[int], int | None], waiting: AbstractContextManager[None] | None = None
) -> None:
    """Return only in a forked child; this process waits for the child and ends the same way.

    judge: gets the child's status (see `json_process.describe_exit_status`) and returns this process's exit status,
    or None to end by the same signal. waiting: entered by this process while it waits. Signals to this process are
    forwarded to the child. Without fork, return here.
    """
    if not hasattr(os, "fork"):
        return
    sys.stdout.flush() if sys.stdout else None
    own_pid = os.getpid()
    try:
        received, wakeup = os.pipe()
        child = os.fork()
    except OSError:  # too many processes; the child is not essential
        return
    if not child:
        os.close(received)
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)  # no handler of the program changes it
        die_with_parent(own_pid)
        return
    os.close(wakeup)
    signal.signal(signal.SIGINT, lambda number, _: _interrupt(child, received))
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)  # the terminal sends it to the child too
    for name in FORWARDED:
        signal.signal(getattr(signal, name), lambda number, _: os.kill(child, number))
    with waiting or nullcontext():
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    exit_status = judge(status)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    if exit_status is None:
        _end_by(-status)
    os._exit(status if exit_status is None else exit_status)


def _interrupt(child: int, received: int) -> None:
    """Forward Ctrl+C to the child, unless the child received it too, as from the terminal."""
    deadline = time.monotonic() + SIGNAL_DELAY
    while select.select([received], [], [], max(0, deadline - time.monotonic()))[0]:
        numbers = os.read(received, 1 << 16)
        if signal.SIGINT in numbers:
            return
        if not numbers:
            break
    with suppress(OSError):
        os.kill(child, signal.SIGINT)


def _end_by(number: int) -> None:
    """End this process by the signal that ended the child, without a second core dump."""
    import resource  # missing on Windows

    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
