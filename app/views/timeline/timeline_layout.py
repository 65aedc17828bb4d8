"""The layout of a timeline, with moments of equal width or as long as a GPU took for them."""

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
    """The layout of a timeline, in logical pixels."""

    strip: QRectF  # all blocks of the grid
    handle: QRectF  # the drag handle of the playhead
    bands: QRectF  # names of the phases
    rows: QRectF  # a row for each warp
    axis: QRectF  # numbers of moments
    x_range: MomentRange  # the moments at the left and right edge of the rows
    clock: MomentClock | None = None  # stretches the moments; None makes all equally wide

    def x(self, moment: float) -> float:
        """Compute the x of a moment."""
        first, last = self.span
        value = moment if self.clock is None else float(self.clock.cycles(moment))
        return self.rows.left() + (value - first) / (last - first) * self.rows.width()

    def all_x(self, moments: Ints) -> NDArray[np.float64]:
        """Compute the x of each of several moments."""
        first, last = self.span
        values = moments if self.clock is None else self.clock.cycles(moments.astype(np.float64))
        return np.asarray(self.rows.left() + (values - first) / (last - first) * self.rows.width())

    def moment(self, x: float) -> float:
        """Compute the moment at an x."""
        first, last = self.span
        value = first + (x - self.rows.left()) / self.rows.width() * (last - first)
        return value if self.clock is None else float(self.clock.moment(value))

    def column(self, moment: float) -> float:
        """Compute the width of a moment, in logical pixels."""
        return self.x(math.floor(moment) + 1) - self.x(math.floor(moment))

    @property
    def span(self) -> tuple[float, float]:
        """The values at the edges of the rows: moments, or cycles of the clock."""
        if self.clock is None:
            return self.x_range
        first, last = self.clock.cycles(np.array(self.x_range)).tolist()
        return first, last
