"""A process that goes on in a child of its own, so that something is left to tell how it ended; where there is fork."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from mmap import mmap

from .parent_death import die_with_parent

ROOM = 1 << 22  # bytes of a note, of which those that are used take memory
LENGTH = 8  # bytes of a note's length, before it
FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
HEARD_WITHIN = 0.3  # seconds after which a process knows of a signal


class SharedNote:
    """Some bytes that a process shares with those that it forks: what one wrote last, the others read."""

    def __init__(self) -> None:
        self._memory = mmap(-1, ROOM)

    def write(self, content: bytes) -> None:
        """Replace what is there; what is too long is left out."""
        if len(content) <= ROOM - LENGTH:
            self._memory[LENGTH : LENGTH + len(content)] = content
            self._memory[:LENGTH] = len(content).to_bytes(LENGTH, "little")

    def read(self) -> bytes:
        """Return what was written last, nothing where nothing was."""
        return self._memory[LENGTH : LENGTH + int.from_bytes(self._memory[:LENGTH], "little")]


def go_on_in_child(judge: Callable[[int], int | None]) -> None:
    """Return in a child process only; this one waits for it and ends as it does.

    judge: gets the child's status (see `json_process.cause_of_death`) and returns that of this process, None to end by
    the same signal. What signals ask of this process is asked of the child. Without fork it goes on itself.
    """
    if not hasattr(os, "fork"):
        return
    sys.stdout.flush() if sys.stdout else None
    own = os.getpid()
    try:
        heard, hears = os.pipe()
        child = os.fork()
    except OSError:  # as many processes as there may be: it can do without
        return
    if not child:
        os.close(heard)
        os.set_blocking(hears, False)
        signal.set_wakeup_fd(hears, warn_on_full_buffer=False)  # which no handler of the program's changes
        die_with_parent(own)
        return
    os.close(hears)
    signal.signal(signal.SIGINT, lambda number, _: _interrupt(child, heard))
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)  # the terminal's goes to the child too
    for name in FORWARDED:
        signal.signal(getattr(signal, name), lambda number, _: os.kill(child, number))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    judged = judge(status)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    if judged is None:
        _end_by(-status)
    os._exit(status if judged is None else judged)


def _interrupt(child: int, heard: int) -> None:
    """Pass Ctrl+C on to the child, unless it went to both, as the terminal's does."""
    deadline = time.monotonic() + HEARD_WITHIN
    while select.select([heard], [], [], max(0, deadline - time.monotonic()))[0]:
        numbers = os.read(heard, 1 << 16)
        if signal.SIGINT in numbers:
            return
        if not numbers:
            break
    with suppress(OSError):
        os.kill(child, signal.SIGINT)


def _end_by(number: int) -> None:
    """End this process by a signal, which a child that has ended by it has left a core for."""
    import resource  # not everywhere

    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
