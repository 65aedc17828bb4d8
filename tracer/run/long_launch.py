"""Progress notices of long launches: the first after some seconds, then at growing intervals."""

from __future__ import annotations

import _thread
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .time_estimate import duration_text, left_text

STOP_TIMEOUT = 1.0  # seconds to wait for the end of the thread before a fork
PERIOD = 0.1  # seconds between two checks of a launch
MEMORY_A_SECOND = 100_000_000  # bytes of memory that a launch may take for each permitted second
# Seconds of CPU time after which a block counts as endless, by default.
CHECK_PATIENCE, RUN_PATIENCE = 6.0, 20.0
LARGE = 500_000_000  # bytes of arrays that take seconds to copy
FIRST_NOTICE = 5.0  # seconds; each further notice comes after twice as long


class InterruptedLaunch(KeyboardInterrupt):
    """The user pressed Ctrl+C while a kernel ran: one sentence with the line."""


class LaunchTimeoutError(RuntimeError):
    """A launch was stopped because a block took too long: one sentence with the line."""

    __module__ = RuntimeError.__module__  # what Python prints before the name


class LongLaunch:
    """A running launch: its run time and progress. nbytes: of its arrays."""

    def __init__(
        self, kernel: str, first: float, clock: Callable[[], float] = time.monotonic, nbytes: int = 0
    ) -> None:
        self._kernel, self._notice_after, self._clock, self._nbytes = kernel, first, clock, nbytes
        self._done = self._total = 0
        self._restarted = False
        self._start = self._attempt_start = self._reported = clock()

    def report(self, done: int, total: int) -> None:
        """Note that `done` of `total` blocks are done; a smaller `done` than before starts another attempt."""
        self._reported, previous = self._clock(), self._reported
        if done < self._done:
            self._attempt_start, self._restarted = previous, True
        self._done, self._total = done, total

    def seconds_to_notice(self) -> float:
        """Return the seconds until the next notice is due."""
        return self._start + self._notice_after - self._clock()

    def _seconds_left(self) -> float | None:
        """Estimate the time for the remaining blocks; None if unknown, or if they should be done by now.

        The time since the last report counts for the running blocks, not for the finished ones.
        """
        if not self._done:
            return None
        seconds_per_block = (self._reported - self._attempt_start) / self._done
        left = seconds_per_block * (self._total - self._done) - (self._clock() - self._reported)
        return left if left > 0 else None

    def notice(self) -> str:
        """Write the notice that is due; the next one comes after twice as long."""
        self._notice_after *= 2
        elapsed = self._clock() - self._start
        text = f"{self._kernel} has run for {duration_text(elapsed)}"
        if self._total > 1:
            text += (
                f": {self._done:,} of {self._total:,} blocks{' since a restart' if self._restarted else ''}"
            )
        if left := left_text(self._seconds_left()):
            text += f", {left}"
        elif self._nbytes >= LARGE:
            text += f", with {self._nbytes // 10**6:,} MB of arrays to copy and record"
        return f"{text}; Ctrl+C ends it."


class LongLaunches:
    """Watches a program's launches, one at a time; `notify` gets a sentence from time to time if one takes long.

    One thread serves all launches, because starting a thread takes longer than a small launch. The program does not see
    the thread among its threads, and a fork does not inherit it.
    """

    def __init__(self, notify: Callable[[str], None], first: float = FIRST_NOTICE) -> None:
        self._notify, self._first = notify, first
        self._running: LongLaunch | None = None
        self._check: Callable[[], None] | None = None
        self._stop, self._stopped = threading.Event(), threading.Event()
        self._stopped.set()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.stop)

    @contextmanager
    def watch(
        self, kernel: str, look: Callable[[], None] | None = None, nbytes: int = 0
    ) -> Iterator[LongLaunch]:
        """Watch a launch of this kernel while the context lasts; the thread calls `look` periodically.

        nbytes: of its arrays.
        """
        self._running = launch = LongLaunch(kernel, self._first, nbytes=nbytes)
        self._check = look
        if self._stopped.is_set():
            self._start_thread()
        try:
            yield launch
        finally:
            self._running = self._check = None

    def stop(self) -> None:
        """End the thread; the next launch starts a new one."""
        self._stop.set()
        self._stopped.wait(STOP_TIMEOUT)

    def _start_thread(self) -> None:
        self._stop.clear()
        self._stopped.clear()
        try:
            _thread.start_new_thread(self._watch, ())
        except RuntimeError:  # no thread is available: there will be no notices
            self._stopped.set()

    def _watch(self) -> None:
        wait = min(self._first, PERIOD)
        while not self._stop.wait(wait):
            launch, check = self._running, self._check
            if launch is not None and launch.seconds_to_notice() <= 0:
                self._notify(launch.notice())
            if check is not None:
                check()
            wait = self._first if launch is None else min(self._first, max(0, launch.seconds_to_notice()))
            wait = min(wait, PERIOD)
        self._stopped.set()
