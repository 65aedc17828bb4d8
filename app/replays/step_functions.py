"""Step functions of the moment, in a compact form."""

from __future__ import annotations

from typing import Any

NONE = None  # the value before the first one


class Changes:
    """A value for every moment: the last one noted at that moment or before."""

    def __init__(self) -> None:
        self.moments: list[int] = []
        self.values: list[Any] = []

    def note(self, moment: int, value: Any) -> None:
        """Set the value from a moment on; moments must increase."""
        if value != (self.values[-1] if self.values else NONE):
            self.moments.append(moment)
            self.values.append(value)

    def written(self) -> list[list[Any]]:
        """Return the moments as differences, and the values."""
        return [gaps(self.moments), self.values]


def gaps(numbers: list[int]) -> list[int]:
    """Compute the differences between consecutive numbers, starting from 0."""
    return [b - a for a, b in zip([0, *numbers], numbers, strict=False)]
