"""Estimates the duration of a launch from the blocks done so far, and stops it beyond a given patience."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

ESTIMATE_AFTER = 2.0  # seconds before the first estimate
GLANCE = 0.25  # seconds before a first look at obviously slow launches
GLANCE_FACTOR = 10  # times the patience that count as obviously slow
ENOUGH, BLOCKS = 20, 400  # fewest blocks for an estimate; latest blocks that it uses


class PatienceExceededError(BaseException):
    """A launch would exceed the patience: `seconds` for its `blocks`. Not an error of the kernel."""

    def __init__(self, seconds: float, blocks: int) -> None:
        super().__init__(seconds, blocks)
        self.seconds, self.blocks = seconds, blocks


def _median(numbers: Iterable[float]) -> float:
    from statistics import median  # lazy, for a faster start of the window

    return median(numbers)


class TimeEstimate:
    """Estimates the time for the remaining blocks from the median of the latest blocks."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._reset()

    def _reset(self) -> None:
        self._start = self._last = self._clock()
        self._done = 0
        self._durations: deque[float] = deque(maxlen=BLOCKS)  # seconds

    def seconds_left(self, done: int, total: int) -> float | None:
        """Note that `done` of `total` blocks are done; return the seconds for the others, None if it is too early."""
        if done < self._done:
            self._reset()  # another launch
        now = self._clock()
        if done > self._done:
            self._durations.append((now - self._last) / (done - self._done))
        self._last, self._done = now, done
        elapsed = now - self._start
        if elapsed < ESTIMATE_AFTER or len(self._durations) < (ENOUGH if elapsed < 3 * ESTIMATE_AFTER else 3):
            return None
        return _median(self._durations) * (total - done)

    def check_patience(self, patience: float, done: int, total: int) -> None:
        """Note the same as `seconds_left`; raises PatienceExceededError if all blocks need over `patience` seconds.

        A launch that has nearly ended when this becomes clear is not stopped.
        """
        left, elapsed = self.seconds_left(done, total), self._last - self._start
        if left is None and elapsed >= GLANCE and len(self._durations) >= ENOUGH:
            glance = _median(self._durations) * (total - done)
            left = glance if glance > GLANCE_FACTOR * patience else None
        if left is not None and elapsed + left > patience and (elapsed <= patience or left > patience):
            raise PatienceExceededError(elapsed + left, total)


def left_text(seconds: float | None) -> str:
    """Format "about 3 minutes left", or "" if the time is unknown or below a second."""
    return f"about {duration_text(seconds)} left" if seconds is not None and seconds >= 1 else ""


def duration_text(seconds: float) -> str:
    """Format a duration: "40 seconds", "12 minutes", "3 hours"."""
    size, name = next(
        (unit for unit in ((3600, "hour"), (60, "minute")) if seconds >= 1.5 * unit[0]), (1, "second")
    )
    count = max(1, round(seconds / size))
    return f"{count:,} {name}{'s' * (count > 1)}"
