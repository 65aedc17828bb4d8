"""A rectangle in pixels. No Qt."""

from __future__ import annotations

from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle, in pixels."""

    x: float  # its left edge
    y: float  # its upper edge
    width: float  # pixels
    height: float  # pixels

    @property
    def right(self) -> float:
        """The x of the right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of the bottom edge."""
        return self.y + self.height

    @property
    def middle(self) -> float:
        """The y half the way down."""
        return self.y + self.height / 2

    def holds(self, x: float, y: float) -> bool:
        """Return whether a point lies inside."""
        return self.x <= x < self.right and self.y <= y < self.bottom

    def inset(self, left: float = 0, top: float = 0, right: float = 0, bottom: float = 0) -> Box:
        """Return the box with its edges moved inwards, never smaller than nothing."""
        width, height = max(0.0, self.width - left - right), max(0.0, self.height - top - bottom)
        return Box(self.x + left, self.y + top, width, height)
