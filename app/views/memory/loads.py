"""Loads on their way: the position of each at a fraction of its moment, and their drawing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from ....tracer.model.array_types import Floats, Mask
from ...widgets.theme import Theme
from ..common.drawing import panel_line_colour, pen
from .view_data import LoadsInFlight

BEND = 0.14  # the distance of an arc from the straight line, as a share of its length
MOST_ARCS = 12
LOOKS = ((False, 2.0, 0.3), (True, 4.0, 0.6))  # (is of the selected warp, size, opacity)


class Arcs(NamedTuple):
    """Quadratic Bezier curves: start, control and end points, each of shape (n, 2), in pixels."""

    start: Floats
    control: Floats
    end: Floats

    def points_at(self, fraction: float) -> Floats:
        """Compute the points at this progress (0 to 1), with ease-in and ease-out."""
        t = fraction * fraction * (3 - 2 * fraction)
        return (1 - t) ** 2 * self.start + 2 * t * (1 - t) * self.control + t * t * self.end


def bend_arcs(start: Floats, end: Floats) -> Arcs:
    """Compute gentle arcs between points (n, 2), all bent upwards."""
    direction = end - start
    offset = np.stack([-direction[:, 1], direction[:, 0]], axis=1) * BEND
    # Upwards whatever the direction, so that adjacent arcs do not cross.
    offset[offset[:, 1] > 0] *= -1
    return Arcs(start, (start + end) / 2 + offset, end)


def distinct_pairs(start: Floats, end: Floats, limit: int = MOST_ARCS) -> tuple[Floats, Floats]:
    """Return the distinct (start, end) pairs; if there are more than `limit`, an even sample of that size."""
    pairs = np.concatenate([start, end], axis=1).round(1)
    pairs = pairs[np.lexsort(pairs.T[::-1])]  # the order of np.unique, in a third of the time
    is_first = np.ones(len(pairs), bool)
    is_first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    pairs = pairs[is_first]
    if len(pairs) > limit:
        pairs = pairs[np.linspace(0, len(pairs) - 1, limit).round().astype(int)]
    return pairs[:, :2], pairs[:, 2:]


class DrawnLoads(NamedTuple):
    """Loads of one kind while time stands: thin dashed arcs."""

    kind: str  # of the requests
    usual: QPainterPath  # the arcs of the selected warp
    chosen: QPainterPath  # the arcs of the selected thread, which are bolder

    @property
    def box(self) -> QRectF:
        """A box around all of it."""
        box = QRectF()
        for path in (self.usual, self.chosen):
            box = box.united(path.controlPointRect().adjusted(-2, -2, 2, 2)) if not path.isEmpty() else box
        return box

    def draw(self, painter: QPainter, theme: Theme) -> None:
        """Draw the arcs of the selected warp's loads."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for path, width, alpha in ((self.usual, 1.0, 150), (self.chosen, 2.0, 255)):
            if not path.isEmpty():
                style = QPen(pen(panel_line_colour(self.kind, theme), width, alpha))
                style.setDashPattern([4, 3])
                painter.strokePath(path, style)


class MovingLoads(NamedTuple):
    """Loads of one kind at a fraction of their moment: translucent squares, those of the selected warp larger."""

    kind: str  # of the requests
    points: NDArray[np.float64]  # (n, 2), pixels
    own: Mask  # (n,)
    unit: float  # the length of a pixel at the size of the text

    @property
    def box(self) -> QRectF:
        """A box around all of it."""
        if not len(self.points):
            return QRectF()
        (left, top), (right, bottom) = self.points.min(axis=0).tolist(), self.points.max(axis=0).tolist()
        margin = 4.0 * self.unit
        return QRectF(left, top, right - left, bottom - top).adjusted(-margin, -margin, margin, margin)

    def draw(self, painter: QPainter, theme: Theme) -> None:
        """Draw the loads at their positions."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour, full_opacity = panel_line_colour(self.kind, theme), painter.opacity()
        for own, size, opacity in LOOKS:
            # All points share one opacity, so that the cells below many points stay visible.
            painter.setOpacity(opacity * full_opacity)
            x, y = np.ascontiguousarray(self.points[self.own == own].T)
            if len(x):
                painter.setPen(pen(colour, size * self.unit))
                painter.drawPointsNp(x, y)
        painter.setOpacity(full_opacity)


class LoadPaths:
    """The paths of loads of one kind; their drawings are memoised."""

    def __init__(self, loads: LoadsInFlight) -> None:
        self.loads = loads
        self._arcs: Arcs | None = None
        self._static: DrawnLoads | None = None
        self._moving: tuple[object, MovingLoads] | None = None

    def still(self) -> DrawnLoads:
        """Compute the drawing while time stands."""
        if self._static is None:
            loads = self.loads
            masks = (loads.own & ~loads.chosen, loads.own & loads.chosen)
            self._static = DrawnLoads(
                loads.kind,
                *(_curve_path(*distinct_pairs(loads.start[mask], loads.end[mask])) for mask in masks),
            )
        return self._static

    def moving(self, fraction: float, theme: Theme) -> MovingLoads:
        """Compute the drawing at a fraction of the moment, 0 to 1."""
        loads = self.loads
        if self._arcs is None:
            self._arcs = bend_arcs(loads.start, loads.end)
        if self._moving is None or self._moving[0] != fraction:
            points = self._arcs.points_at(fraction)
            self._moving = fraction, MovingLoads(loads.kind, points, loads.own, theme.px(10) / 10)
        return self._moving[1]


def _curve_path(start: NDArray[np.float64], end: NDArray[np.float64]) -> QPainterPath:
    path, curves = QPainterPath(), bend_arcs(start, end)
    for begin, middle, stop in zip(
        curves.start.tolist(), curves.control.tolist(), curves.end.tolist(), strict=True
    ):
        path.moveTo(*begin)
        path.quadTo(*middle, *stop)
    return path
