"""Whether the threads of a launch wait for ever: they, and all memory, are as they were at an earlier look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

TURNS_BETWEEN_LOOKS = 64  # turns of each thread from one look to the next
# After so many looks one is kept, to compare those after it with; then after twice as many, and so on.
FIRST_KEPT_LOOK = 4
REPEATS_TO_BE_SURE = {"lockstep": 1, "sequential": 1, "random": 8}  # times that all must be as it was
Threads = TypeVar("Threads")


class Looks(Generic[Threads]):
    """Compares where threads are, and what memory holds (`content`), with what was kept of an earlier look."""

    def __init__(self, content: Callable[[], bytes], schedule: str) -> None:
        self._content, self._sure = content, REPEATS_TO_BE_SURE[schedule]
        self.reset()

    def reset(self) -> None:
        """Begin again, since something has changed."""
        self._looks = self._times = 0
        self._keep_at = FIRST_KEPT_LOOK
        self._kept: Threads | None = None
        self._memory: bytes | None = None

    def is_repeating(self, threads: Callable[[], Threads], are_as: Callable[[Threads], bool]) -> bool:
        """Look at the threads that run; return whether they will be as they are again and again.

        threads: says where they are. are_as: whether they are where they were at the look that is kept.
        """
        self._looks += 1
        if self._looks == self._keep_at:
            self._kept, self._memory, self._times = threads(), None, 0
            self._keep_at *= 2
            return False
        return self._kept is not None and are_as(self._kept) and self._unchanged()

    def _unchanged(self) -> bool:
        """Return whether memory is what it was when the threads were last here, often enough to be sure."""
        before, self._memory = self._memory, self._content()
        if before is None:
            return False
        if before != self._memory:
            self._kept = None
            return False
        self._times += 1
        return self._times >= self._sure
