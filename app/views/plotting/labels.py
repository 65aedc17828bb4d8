"""Texts in a plot, and where they cover nothing. pyqtgraph has no placement of labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF, QRectF

from ...model.visible_text import escape_controls_in_lines
from ...widgets.theme import Theme
from .library import pg

AWAY, SIGN = 5, 8  # pixels: between a text and its symbol, and of a symbol to each side


class PlotLabel(pg.TextItem):
    """A text at a point of a plot, on the colour of the panel. Lengths are in pixels."""

    def __init__(
        self, text: str, theme: Theme, size: float = 12, *, colour: str = "text", bold: bool = False
    ) -> None:
        super().__init__(escape_controls_in_lines(text), theme.colour(colour), fill=theme.colour("panel"))
        self.textItem.document().setDocumentMargin(1)
        self.setFont(theme.font(size, bold=bold))
        self.setZValue(5)

    def size_in_pixels(self) -> tuple[float, float]:
        """Return width and height."""
        box = self.textItem.boundingRect()
        return box.width(), box.height()

    def put(self, place: QPointF, x: float, y: float) -> None:
        """Put the centre of the text this many pixels right of and below a point of the view."""
        width, height = self.size_in_pixels()
        self.setAnchor((0.5 - x / width, 0.5 - y / height))
        self.setPos(place)


def place_labels(
    labels: Sequence[tuple[PlotLabel, QPointF]],
    lines: Sequence[Sequence[QPointF]],
    taken: Sequence[QRectF],
    view: pg.ViewBox,
    scale: float,
) -> None:
    """Put labels next to their points, the first ones first, and hide those without room.

    lines: points of each series, in coordinates of the view. taken: boxes in pixels of the view. A label has no room
    if it would cover a line, a symbol, another label or a box, or be nearly as close to another point.
    """
    area, reach = view.rect(), SIGN * scale
    pixels = [[view.mapFromView(point) for point in points] for points in lines]
    others = [point for points in pixels for point in points]
    covered = [QRectF(p.x() - reach, p.y() - reach, 2 * reach, 2 * reach) for p in others] + list(taken)
    segments = [QLineF(a, b) for points in pixels for a, b in pairwise(points)]
    for label, point in labels:
        place = view.mapFromView(point)
        width, height = label.size_in_pixels()
        label.setVisible(False)
        for x, y in _around(width, height, (SIGN + AWAY) * scale):
            box = QRectF(place.x() + x - width / 2, place.y() + y - height / 2, width, height)
            is_free = area.contains(box) and not any(map(box.intersects, covered))
            if (
                is_free
                and _is_nearest(place, others, box)
                and not any(crosses(line, box) for line in segments)
            ):
                covered.append(box)
                label.put(point, x, y)
                label.setVisible(True)
                break


def _around(width: float, height: float, distance: float) -> list[tuple[float, float]]:
    """List the offsets of a label's centre, the best first: above, below, right, left, at the corners."""
    across = distance + width / 2
    upright = distance + height / 2 - 2
    corners = [(x, y) for x in (across, -across) for y in (-height * 0.6, height * 0.6)]
    return [(0, -upright), (0, upright), (across, 0), (-across, 0), *corners]


def _is_nearest(place: QPointF, others: Sequence[QPointF], box: QRectF) -> bool:
    """Return True if every other point is at least 1.5 times as far from a box as this one."""

    def squared_distance(point: QPointF) -> float:
        dx = max(box.left() - point.x(), 0.0, point.x() - box.right())
        dy = max(box.top() - point.y(), 0.0, point.y() - box.bottom())
        return dx * dx + dy * dy

    own = squared_distance(place)
    return all(other == place or squared_distance(other) > 2.25 * own for other in others)


def crosses(line: QLineF, box: QRectF) -> bool:
    """Return True if a line crosses a box or ends in it."""
    if box.contains(line.p1()) or box.contains(line.p2()):
        return True
    corners = (box.topLeft(), box.topRight(), box.bottomRight(), box.bottomLeft())
    sides = (QLineF(a, b) for a, b in zip(corners, (*corners[1:], corners[0]), strict=True))
    return any(line.intersects(side)[0] == QLineF.IntersectionType.BoundedIntersection for side in sides)
