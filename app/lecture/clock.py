"""The time that a lecture has taken: it can be stopped, and started anew."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """A stopwatch that runs from the beginning. now: the time in seconds, from whenever on."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._before = 0.0  # seconds up to when it was started last
        self._since: float | None = now()  # None while it stands

    @property
    def is_running(self) -> bool:
        """Whether it counts on."""
        return self._since is not None

    def seconds(self) -> float:
        """Return how much time has gone."""
        return self._before + (0.0 if self._since is None else self._now() - self._since)

    def toggle(self) -> None:
        """Stop it, or let it go on."""
        self._before, self._since = self.seconds(), None if self.is_running else self._now()

    def restart(self) -> None:
        """Count from zero on, running."""
        self._before, self._since = 0.0, self._now()


def time_text(seconds: float) -> str:
    """Return a time in words for a clock: "7:05", from an hour on "1:02:33"."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
