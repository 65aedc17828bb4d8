"""Whether the threads of a compiled launch wait for ever: they and all memory are as they were at an earlier look.

The rules are those of tracer/simulator/livelock.py: what a thread is, is said by its stack.
"""

from __future__ import annotations

from collections.abc import Callable

FIRST_KEPT_LOOK = 4  # looks after which one is kept; then twice as many, and so on


class Looks:
    """Compares digests of the threads, and of memory (`content`), with what was kept of an earlier look.

    sure: how often all must be as it was.
    """

    def __init__(self, content: Callable[[], bytes], sure: int) -> None:
        self._content, self._sure, self._news = content, sure, -1
        self.reset()

    def reset(self) -> None:
        """Begin again, since something has changed."""
        self._looks = self._times = 0
        self._keep_at = FIRST_KEPT_LOOK
        self._kept: int | None = None
        self._memory: bytes | None = None

    def is_repeating(self, threads: int, news: int) -> bool:
        """Look at the threads, given by a digest; return whether they will be as they are again and again.

        news: how often threads have begun, ended or met.
        """
        if news != self._news:
            self.reset()
            self._news = news
        self._looks += 1
        if self._looks == self._keep_at:
            self._kept, self._memory, self._times = threads, None, 0
            self._keep_at *= 2
            return False
        return threads == self._kept and self._unchanged()

    def _unchanged(self) -> bool:
        before, self._memory = self._memory, self._content()
        if before is None:
            return False
        if before != self._memory:
            self._kept = None
            return False
        self._times += 1
        return self._times >= self._sure
