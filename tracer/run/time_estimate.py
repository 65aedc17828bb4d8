"""How long a launch will take, from the blocks done so far; and who does not want to wait for it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

LOOKING = 2.0  # seconds until blocks are judged
GLANCE, CLEARLY = 0.25, 10  # seconds after which one is that takes so many times longer than one would wait
ENOUGH, BLOCKS = 20, 400  # blocks; so many of the last ones are judged


class TooSlow(BaseException):
    """A launch would take longer than somebody wants to wait: `seconds` for its `blocks`. No error of the kernel's."""

    def __init__(self, seconds: float, blocks: int) -> None:
        super().__init__(seconds, blocks)
        self.seconds, self.blocks = seconds, blocks


def _median(numbers: Iterable[float]) -> float:
    from statistics import median  # the window starts without it

    return median(numbers)


class TimeEstimate:
    """Hears how many blocks are done and reckons how long the others take: as long as the middle one of the last."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin()

    def _begin(self) -> None:
        self._start = self._last = self._clock()
        self._done = 0
        self._each: deque[float] = deque(maxlen=BLOCKS)  # seconds

    def seconds_left(self, done: int, of: int) -> float | None:
        """Take in that `done` of `of` blocks are done; return the seconds that the others take, None too early."""
        if done < self._done:
            self._begin()  # this is another launch
        now = self._clock()
        if done > self._done:
            self._each.append((now - self._last) / (done - self._done))
        self._last, self._done = now, done
        gone = now - self._start
        if gone < LOOKING or len(self._each) < (ENOUGH if gone < 3 * LOOKING else 3):
            return None
        return _median(self._each) * (of - done)

    def check_patience(self, patience: float, done: int, of: int) -> None:
        """Take in the same; raises TooSlow where all blocks take more than `patience` seconds.

        Not for one that has nearly ended by the time that this is known.
        """
        left, gone = self.seconds_left(done, of), self._last - self._start
        if left is None and gone >= GLANCE and len(self._each) >= ENOUGH:
            glance = _median(self._each) * (of - done)
            left = glance if glance > CLEARLY * patience else None
        if left is not None and gone + left > patience and (gone <= patience or left > patience):
            raise TooSlow(gone + left, of)


def left_text(seconds: float | None) -> str:
    """Return "about 3 minutes left", or "" where that is unknown or next to nothing."""
    return f"about {duration_text(seconds)} left" if seconds is not None and seconds >= 1 else ""


def duration_text(seconds: float) -> str:
    """Return a duration as one says it: "40 seconds", "12 minutes", "3 hours"."""
    size, name = next((s for s in ((3600, "hour"), (60, "minute")) if seconds >= 1.5 * s[0]), (1, "second"))
    count = max(1, round(seconds / size))
    return f"{count:,} {name}{'s' * (count > 1)}"
