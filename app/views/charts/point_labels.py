"""Values next to the points of a panel, where they cover nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt

from ...charts.figure import PointPanel
from .ink import Ink

SIZE, AWAY, SIGN = 12, 5, 8  # pixels: of the text, between text and sign, of a sign to each side
Places = Sequence[Sequence[QPointF]]  # the points of each series


def draw_labels(ink: Ink, panel: PointPanel, places: Places, taken: Sequence[QRectF], plot: QRectF) -> None:
    """Write the labels next to their points, those at the ends of lines first.

    A point has no label if the label would cover a line, a sign, another label or a `taken` box, or be nearly as
    close to another point.
    """
    reach = ink.px(SIGN)
    signs = [QRectF(p.x() - reach, p.y() - reach, 2 * reach, 2 * reach) for points in places for p in points]
    lines = [QLineF(a, b) for points in places for a, b in pairwise(points)]
    covered, others = [*signs, *taken], [point for points in places for point in points]
    for label, place in _ends_first(panel, places):
        for box in _around(ink, label, place):
            is_free = plot.contains(box) and not any(map(box.intersects, covered))
            if is_free and _is_nearest(place, others, box) and not any(_crosses(line, box) for line in lines):
                covered.append(box)
                ink.painter.fillRect(box, ink.theme.colour("panel"))
                ink.text(box, label, SIZE, align=Qt.AlignmentFlag.AlignHCenter)
                break


def _ends_first(panel: PointPanel, places: Places) -> list[tuple[str, QPointF]]:
    """List the labels with their points, the first and the last of each series before the others."""
    labels: list[tuple[bool, str, QPointF]] = []
    for series, points in zip(panel.series, places, strict=True):
        last = len(points) - 1
        named = zip(series.points, points, strict=True)
        labels += [(n not in (0, last), p.label, place) for n, (p, place) in enumerate(named) if p.label]
    return [(label, place) for _, label, place in sorted(labels, key=lambda entry: entry[0])]


def _around(ink: Ink, label: str, place: QPointF) -> list[QRectF]:
    """List the possible boxes of a label, the best first: above, below, right, left of its point, at its corners."""
    width, height = ink.width(label, SIZE) + 2, ink.height(SIZE)
    distance = ink.px(SIGN + AWAY)
    middles = (
        (0, -distance - height / 2 + 2),
        (0, distance + height / 2 - 2),
        (distance + width / 2, 0),
        (-distance - width / 2, 0),
    )
    corners = (
        (x, y) for x in (distance + width / 2, -distance - width / 2) for y in (-height * 0.7, height * 0.7)
    )
    return [
        QRectF(place.x() + x - width / 2, place.y() + y - height / 2, width, height)
        for x, y in (*middles, *corners)
    ]


def _is_nearest(place: QPointF, others: Sequence[QPointF], box: QRectF) -> bool:
    """Return True if every other point is at least 1.5 times as far from a box as this one."""

    def squared_distance(point: QPointF) -> float:
        dx = max(box.left() - point.x(), 0.0, point.x() - box.right())
        dy = max(box.top() - point.y(), 0.0, point.y() - box.bottom())
        return dx * dx + dy * dy

    own = squared_distance(place)
    return all(other is place or squared_distance(other) > 2.25 * own for other in others)


def _crosses(line: QLineF, box: QRectF) -> bool:
    """Return True if a line crosses a box or ends in it."""
    if box.contains(line.p1()) or box.contains(line.p2()):
        return True
    corners = (box.topLeft(), box.topRight(), box.bottomRight(), box.bottomLeft())
    sides = (QLineF(a, b) for a, b in zip(corners, (*corners[1:], corners[0]), strict=True))
    return any(line.intersects(side)[0] == QLineF.IntersectionType.BoundedIntersection for side in sides)
