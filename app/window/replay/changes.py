"""Values that hold from one moment to the next in which they change, written in few numbers."""

from __future__ import annotations

from typing import Any

NONE = None  # what holds before the first value


class Changes:
    """One value for every moment: the last that was noted at it or before."""

    def __init__(self) -> None:
        self.moments: list[int] = []
        self.values: list[Any] = []

    def note(self, moment: int, value: Any) -> None:
        """Take a value from a moment on, which is later than those before."""
        if value != (self.values[-1] if self.values else NONE):
            self.moments.append(moment)
            self.values.append(value)

    def written(self) -> list[list[Any]]:
        """Return the moments, each as its distance from the one before, and the values."""
        return [gaps(self.moments), self.values]


def gaps(numbers: list[int]) -> list[int]:
    """Return each number as its distance from the one before it."""
    return [b - a for a, b in zip([0, *numbers], numbers, strict=False)]
