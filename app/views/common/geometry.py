"""Rectangles in pixels, from values to pixels, and where the ticks of an axis stand. No Qt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct


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


class Scale(Struct, frozen=True):
    """From the values of an axis to pixels."""

    low: float  # the least value, above 0 on a logarithmic axis
    high: float  # the largest value
    start: float  # pixel of the least value
    end: float  # pixel of the largest value, before `start` on an upright axis
    log: bool = False  # whether the axis is logarithmic

    def at(self, value: float) -> float:
        """Return the pixel of a value; on a logarithmic axis the value is positive."""
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def round_step(minimum: float) -> float:
    """Return 1, 2 or 5 times a power of ten, the first of them that is no less than `least` (above 0)."""
    power = 10.0 ** math.floor(math.log10(minimum))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= minimum)


def whole_step(span: float, pieces: float) -> int:
    """Return the round step of whole numbers that cuts a span into at most so many pieces."""
    return int(round_step(max(1.0, span / max(1.0, pieces))))


def ticks(low: float, high: float, log: bool, count: int) -> list[float]:
    """Return about `count` values between two others, at most: 1, 2 or 5 times a power of ten."""
    return _log_ticks(low, high, max(count, 2)) if log else _linear_ticks(low, high, max(count, 2))


def _linear_ticks(low: float, high: float, count: int) -> list[float]:
    step = round_step((high - low) / count * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [n * step for n in range(first, last + 1)]


def _log_ticks(low: float, high: float, count: int) -> list[float]:
    """Return powers of ten, with 3 or 2 and 5 times them where there is room; in less than a decade even steps."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    choices = [
        [10.0**n * f for n in decades for f in factors if low <= 10.0**n * f <= high]
        for factors in ((1, 2, 5), (1, 3), (1,))
    ]
    several = [found for found in choices if len(found) > 1]
    if not several:
        return _linear_ticks(low, high, count)
    fewest = several[-1]
    return next(
        (found for found in several if len(found) <= count), fewest[:: math.ceil(len(fewest) / count)]
    )


def powers_of_two(low: float, high: float) -> list[float]:
    """Return the powers of two between two values: the sizes that matrices have."""
    return [2.0**n for n in range(math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9) + 1)]


def log_range(values: Sequence[float], room: float = 1.25) -> tuple[float, float]:
    """Return a range around positive values with room at both ends; at least a factor of four."""
    low, high = min(values) / room, max(values) * room
    middle = math.sqrt(low * high)
    return min(low, middle / 2), max(high, middle * 2)


def tick_text(value: float) -> str:
    """Return a tick's number of up to six digits: 1,500 or 0.25 or 1,000,000; never 1e+06, which is no word."""
    digits = max(0, 5 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
