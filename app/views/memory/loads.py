"""Loads on their way: where each is at a fraction of its moment, and how they are drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from ....tracer.model.array_types import Floats, Mask
from ...widgets.theme import Theme
from ..common.drawing import on_panel, pen
from .view_data import LoadsInFlight

BEND = 0.14  # how far an arc leaves the straight line, as a share of its length
MOST_ARCS = 12
LOOKS = ((False, 2.0, 0.3), (True, 4.0, 0.6))  # of others and of the selected warp: size, opacity


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


def merged(start: Floats, end: Floats, most: int = MOST_ARCS) -> tuple[Floats, Floats]:
    """Return each (start, end) once; if there are more than `most`, that many of them, evenly picked."""
    pairs = np.concatenate([start, end], axis=1).round(1)
    pairs = pairs[np.lexsort(pairs.T[::-1])]  # as np.unique orders them, in a third of the time
    fresh = np.ones(len(pairs), bool)
    fresh[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    pairs = pairs[fresh]
    if len(pairs) > most:
        pairs = pairs[np.linspace(0, len(pairs) - 1, most).round().astype(int)]
    return pairs[:, :2], pairs[:, 2:]


class DrawnLoads(NamedTuple):
    """Loads of one kind as they are drawn while time stands: thin dashed arcs."""

    kind: str  # of the requests
    usual: QPainterPath  # the ways of the selected warp's
    chosen: QPainterPath  # those of the selected thread's, which are drawn stronger

    @property
    def box(self) -> QRectF:
        """A box around all of it."""
        found = QRectF()
        for path in (self.usual, self.chosen):
            found = (
                found.united(path.controlPointRect().adjusted(-2, -2, 2, 2)) if not path.isEmpty() else found
            )
        return found

    def draw(self, painter: QPainter, theme: Theme) -> None:
        """Draw where the loads of the selected warp go."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for path, width, alpha in ((self.usual, 1.0, 150), (self.chosen, 2.0, 255)):
            if not path.isEmpty():
                style = QPen(pen(on_panel(self.kind, theme), width, alpha))
                style.setDashPattern([4, 3])
                painter.strokePath(path, style)


class MovingLoads(NamedTuple):
    """Loads of one kind at a fraction of their moment: translucent squares, those of the selected warp larger."""

    kind: str  # of the requests
    points: NDArray[np.float64]  # (n, 2), pixels
    own: Mask  # (n,)
    unit: float  # how large a pixel is at the size of the text

    @property
    def box(self) -> QRectF:
        """A box around all of it."""
        if not len(self.points):
            return QRectF()
        (left, top), (right, bottom) = self.points.min(axis=0).tolist(), self.points.max(axis=0).tolist()
        around = 4.0 * self.unit
        return QRectF(left, top, right - left, bottom - top).adjusted(-around, -around, around, around)

    def draw(self, painter: QPainter, theme: Theme) -> None:
        """Draw where the loads are."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour, strength = on_panel(self.kind, theme), painter.opacity()
        for own, size, opacity in LOOKS:
            # of all of them together: where many pass, what is below stays in sight
            painter.setOpacity(opacity * strength)
            x, y = np.ascontiguousarray(self.points[self.own == own].T)
            if len(x):
                painter.setPen(pen(colour, size * self.unit))
                painter.drawPointsNp(x, y)
        painter.setOpacity(strength)


class Ways:
    """The ways of loads of one kind; what is drawn of them is kept while it is the same."""

    def __init__(self, loads: LoadsInFlight) -> None:
        self.loads = loads
        self._arcs: Arcs | None = None
        self._still: DrawnLoads | None = None
        self._moving: tuple[object, MovingLoads] | None = None

    def still(self) -> DrawnLoads:
        """Return what is drawn while time stands."""
        if self._still is None:
            loads = self.loads
            wanted = (loads.own & ~loads.chosen, loads.own & loads.chosen)
            self._still = DrawnLoads(
                loads.kind, *(_curves(*merged(loads.start[some], loads.end[some])) for some in wanted)
            )
        return self._still

    def moving(self, fraction: float, theme: Theme) -> MovingLoads:
        """Return what is drawn at a fraction of the moment, 0 to 1."""
        loads = self.loads
        if self._arcs is None:
            self._arcs = arcs(loads.start, loads.end)
        if self._moving is None or self._moving[0] != fraction:
            points = self._arcs.at(fraction)
            self._moving = fraction, MovingLoads(loads.kind, points, loads.own, theme.px(10) / 10)
        return self._moving[1]


def _curves(start: NDArray[np.float64], end: NDArray[np.float64]) -> QPainterPath:
    path, curves = QPainterPath(), arcs(start, end)
    for begin, middle, stop in zip(
        curves.start.tolist(), curves.control.tolist(), curves.end.tolist(), strict=True
    ):
        path.moveTo(*begin)
        path.quadTo(*middle, *stop)
    return path
