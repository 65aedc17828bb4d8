"""A launch that takes long: how far it is, said after some seconds and then at growing intervals."""

from __future__ import annotations

import _thread
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .time_estimate import duration_text, left_text

LAST_WORD = 1.0  # seconds that a notice may take to be written before a fork
LOOKING = 0.1  # seconds from one look at a launch to the next
MEMORY_A_SECOND = 100_000_000  # bytes that a launch may take for each second that it may
FIRST_NOTICE = 5.0  # seconds; each further one comes after twice as long


class InterruptedLaunch(KeyboardInterrupt):
    """The user pressed Ctrl+C while a kernel ran: one sentence, which says where it was."""


class LaunchTimeoutError(RuntimeError):
    """A launch was ended, since a block of it took longer than it may: one sentence, which says where it was."""


class LongLaunch:
    """A launch under way: how long it has run, and how much of it is done."""

    def __init__(self, kernel: str, first: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._kernel, self._after, self._clock = kernel, first, clock
        self._done = self._of = 0
        self._start = self._begun = self._reported = clock()

    def report(self, done: int, of: int) -> None:
        """Take in that `done` of `of` blocks are done; fewer than before are those of another attempt."""
        self._reported, before = self._clock(), self._reported
        if done < self._done:
            self._begun = before
        self._done, self._of = done, of

    def seconds_to_notice(self) -> float:
        """Return in how many seconds something is to be said of it."""
        return self._start + self._after - self._clock()

    def _seconds_left(self) -> float | None:
        """Return how long the other blocks take; None where that is unknown, or they should be done by now.

        The time since the last report counts as spent on blocks that are under way, not as time of those that are done.
        """
        if not self._done:
            return None
        each = (self._reported - self._begun) / self._done
        left = each * (self._of - self._done) - (self._clock() - self._reported)
        return left if left > 0 else None

    def notice(self) -> str:
        """Return what is to be said; the next notice comes after twice as long."""
        self._after *= 2
        gone = self._clock() - self._start
        text = f"{self._kernel} has run for {duration_text(gone)}"
        if self._of > 1:
            text += f": {self._done:,} of {self._of:,} blocks"
        if left := left_text(self._seconds_left()):
            text += f", {left}"
        return f"{text}; Ctrl+C ends it."


class LongLaunches:
    """Watches a program's launches, one at a time: of one that takes long, `tell` gets a sentence now and then.

    One thread serves them all: to start one takes longer than a small launch does. The program does not see it among
    its own, and if it forks finds none of ours.
    """

    def __init__(self, tell: Callable[[str], None], first: float = FIRST_NOTICE) -> None:
        self._tell, self._first = tell, first
        self._under_way: LongLaunch | None = None
        self._look: Callable[[], None] | None = None
        self._stop, self._stopped = threading.Event(), threading.Event()
        self._stopped.set()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.stop)

    @contextmanager
    def watched(self, kernel: str, look: Callable[[], None] | None = None) -> Iterator[LongLaunch]:
        """Watch a launch of this kernel while the context lasts; `look` is called in the thread now and then."""
        self._under_way = launch = LongLaunch(kernel, self._first)
        self._look = look
        if self._stopped.is_set():
            self._begin()
        try:
            yield launch
        finally:
            self._under_way = self._look = None

    def stop(self) -> None:
        """End the thread; the next launch starts another."""
        self._stop.set()
        self._stopped.wait(LAST_WORD)

    def _begin(self) -> None:
        self._stop.clear()
        self._stopped.clear()
        try:
            _thread.start_new_thread(self._watch, ())
        except RuntimeError:  # no thread is to be had: nothing is told then
            self._stopped.set()

    def _watch(self) -> None:
        wait = min(self._first, LOOKING)
        while not self._stop.wait(wait):
            launch, look = self._under_way, self._look
            if launch is not None and launch.seconds_to_notice() <= 0:
                self._tell(launch.notice())
            if look is not None:
                look()
            wait = self._first if launch is None else min(self._first, max(0, launch.seconds_to_notice()))
            wait = min(wait, LOOKING)
        self._stopped.set()
