"""Where things stand in a timeline: a moment's place, as wide as all others or as long as a GPU took for it."""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import QRectF

from ....tracer.hardware.moment_clock import MomentClock
from ....tracer.model.array_types import Ints

MomentRange = tuple[float, float]  # the moments at the left and the right edge


class TimelineLayout(Struct, frozen=True):
    """Where things stand in a timeline, in logical pixels."""

    strip: QRectF  # all blocks of the grid
    handle: QRectF  # where the playhead is taken
    bands: QRectF  # names of the phases
    rows: QRectF  # a row for each warp
    axis: QRectF  # numbers of moments
    x_range: MomentRange  # the moments at the left and right edge of the rows
    clock: MomentClock | None = None  # what moments are stretched by, None where all are equally wide

    def x(self, moment: float) -> float:
        """Return where a moment stands."""
        first, last = self.span
        at = moment if self.clock is None else float(self.clock.cycles(moment))
        return self.rows.left() + (at - first) / (last - first) * self.rows.width()

    def all_x(self, moments: Ints) -> NDArray[np.float64]:
        """Return where each of some moments stands."""
        first, last = self.span
        at = moments if self.clock is None else self.clock.cycles(moments.astype(np.float64))
        return np.asarray(self.rows.left() + (at - first) / (last - first) * self.rows.width())

    def moment(self, x: float) -> float:
        """Return the moment that stands at a place."""
        first, last = self.span
        at = first + (x - self.rows.left()) / self.rows.width() * (last - first)
        return at if self.clock is None else float(self.clock.moment(at))

    def column(self, moment: float) -> float:
        """Return how wide a moment is, in logical pixels."""
        return self.x(math.floor(moment) + 1) - self.x(math.floor(moment))

    @property
    def span(self) -> tuple[float, float]:
        """What stands at the edges of the rows: moments, or cycles of the clock."""
        if self.clock is None:
            return self.x_range
        first, last = self.clock.cycles(np.array(self.x_range)).tolist()
        return first, last
