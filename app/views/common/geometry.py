"""Rectangles in pixels, and the ticks of an axis. No Qt."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
        """The y of the centre."""
        return self.y + self.height / 2

    def holds(self, x: float, y: float) -> bool:
        """Check whether a point lies inside."""
        return self.x <= x < self.right and self.y <= y < self.bottom

    def inset(self, left: float = 0, top: float = 0, right: float = 0, bottom: float = 0) -> Box:
        """Return the box with its edges moved inwards; its size is never negative."""
        width, height = max(0.0, self.width - left - right), max(0.0, self.height - top - bottom)
        return Box(self.x + left, self.y + top, width, height)


def round_step(minimum: float) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten that is at least `minimum` (above 0)."""
    power = 10.0 ** math.floor(math.log10(minimum))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= minimum)


def integer_step(span: float, pieces: float) -> int:
    """Compute the round integer step that cuts a span into at most `pieces` pieces."""
    return int(round_step(max(1.0, span / max(1.0, pieces))))


def ticks(low: float, high: float, log: bool, count: int) -> list[float]:
    """Return at most about `count` ticks between two values: multiples of 1, 2 or 5 times a power of ten."""
    return _log_ticks(low, high, max(count, 2)) if log else _linear_ticks(low, high, max(count, 2))


def _linear_ticks(low: float, high: float, count: int) -> list[float]:
    step = round_step((high - low) / count * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [n * step for n in range(first, last + 1)]


def _log_ticks(low: float, high: float, count: int) -> list[float]:
    """Return powers of ten, with 3 or 2 and 5 times them if they fit; below one decade, even steps."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    choices = [
        [10.0**n * f for n in decades for f in multiples if low <= 10.0**n * f <= high]
        for multiples in ((1, 2, 5), (1, 3), (1,))
    ]
    several = [values for values in choices if len(values) > 1]
    if not several:
        return _linear_ticks(low, high, count)
    fewest = several[-1]
    return next(
        (values for values in several if len(values) <= count), fewest[:: math.ceil(len(fewest) / count)]
    )


def powers_of_two(low: float, high: float) -> list[float]:
    """List the powers of two between two values: the usual sizes of matrices."""
    return [2.0**n for n in range(math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9) + 1)]


def log_range(values: Sequence[float], room: float = 1.25) -> tuple[float, float]:
    """Compute a range around positive values with a margin at both ends; it spans at least a factor of four."""
    low, high = min(values) / room, max(values) * room
    middle = math.sqrt(low * high)
    return min(low, middle / 2), max(high, middle * 2)


def tick_text(value: float) -> str:
    """Format a tick with up to six digits: 1,500 or 0.25 or 1,000,000; never 1e+06."""
    digits = max(0, 5 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
