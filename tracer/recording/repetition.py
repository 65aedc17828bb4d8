"""Detects threads that wait for ever: they and all memory are in the same state as at an earlier look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

TURNS_BETWEEN_LOOKS = 64  # turns of each thread between two looks
# After this many looks one is kept for comparison with later ones; then after twice as many, and so on.
FIRST_KEPT_LOOK = 4
REPEATS_TO_BE_SURE = {
    "lockstep": 1,
    "sequential": 1,
    "random": 8,
    "order": 1,
}  # times that the state must repeat
Threads = TypeVar("Threads")


class RepetitionDetector(Generic[Threads]):
    """Compares the positions of threads and the content of memory (`content`) with an earlier look."""

    def __init__(self, content: Callable[[], bytes], schedule: str) -> None:
        self._content, self._required_repeats = content, REPEATS_TO_BE_SURE[schedule]
        self.reset()

    def reset(self) -> None:
        """Start again after a change."""
        self._looks = self._repeats = 0
        self._keep_at = FIRST_KEPT_LOOK
        self._kept: Threads | None = None
        self._memory: bytes | None = None

    def is_repeating(self, threads: Callable[[], Threads], are_as: Callable[[Threads], bool]) -> bool:
        """Look at the running threads; return True if their state repeats for ever.

        threads: returns their positions. are_as: compares the positions with those of the kept look.
        """
        self._looks += 1
        if self._looks == self._keep_at:
            self._kept, self._memory, self._repeats = threads(), None, 0
            self._keep_at *= 2
            return False
        return self._kept is not None and are_as(self._kept) and self._is_memory_unchanged()

    def _is_memory_unchanged(self) -> bool:
        """Check whether memory was unchanged often enough when the threads returned to the kept positions."""
        previous, self._memory = self._memory, self._content()
        if previous is None:
            return False
        if previous != self._memory:
            self._kept = None
            return False
        self._repeats += 1
        return self._repeats >= self._required_repeats
