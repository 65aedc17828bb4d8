"""The way an element takes when it is loaded: pure functions of where it starts and ends. No Qt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....tracer.model.array_types import Floats

BEND = 0.14  # how far an arc leaves the straight line, as a share of its length


class Arcs(NamedTuple):
    """Quadratic Bezier curves: start, control and end points, each of shape (n, 2), in pixels."""

    start: Floats
    control: Floats
    end: Floats

    def at(self, fraction: float) -> Floats:
        """Return the points that are this far (0 to 1) on their way, slow at both ends."""
        t = fraction * fraction * (3 - 2 * fraction)
        return (1 - t) ** 2 * self.start + 2 * t * (1 - t) * self.control + t * t * self.end


def arcs(start: Floats, end: Floats) -> Arcs:
    """Return gentle arcs between points (n, 2): all bend to the same side of their direction."""
    way = end - start
    aside = np.stack([-way[:, 1], way[:, 0]], axis=1) * BEND
    # Upwards on the page, whichever way the element goes: arcs side by side then do not cross.
    aside[aside[:, 1] > 0] *= -1
    return Arcs(start, (start + end) / 2 + aside, end)


def merged(start: Floats, end: Floats, most: int = 12) -> tuple[Floats, Floats]:
    """Return each (start, end) once; if there are more than `most`, that many of them, evenly picked."""
    pairs = np.unique(np.concatenate([start, end], axis=1).round(1), axis=0)
    if len(pairs) > most:
        pairs = pairs[np.linspace(0, len(pairs) - 1, most).round().astype(int)]
    return pairs[:, :2], pairs[:, 2:]
