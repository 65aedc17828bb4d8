"""The duration of a lecture: a stopwatch that can be paused and restarted."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """A stopwatch that runs from the beginning. now: returns the time in seconds, from any origin."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._before = 0.0  # seconds until the last start
        self._since: float | None = now()  # None while it is paused

    @property
    def is_running(self) -> bool:
        """Whether it runs."""
        return self._since is not None

    def seconds(self) -> float:
        """Return the elapsed time."""
        return self._before + (0.0 if self._since is None else self._now() - self._since)

    def toggle(self) -> None:
        """Pause or resume."""
        self._before, self._since = self.seconds(), None if self.is_running else self._now()

    def restart(self) -> None:
        """Restart from zero, running."""
        self._before, self._since = 0.0, self._now()


def time_text(seconds: float) -> str:
    """Format a time for a clock: "7:05", from an hour on "1:02:33"."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
