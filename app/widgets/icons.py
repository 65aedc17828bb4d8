"""Icons drawn as polygons and lines, in the theme's colours and sharp at any scale, independent of fonts."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

Points = list[tuple[float, float]]
DENSITY = 3  # pixels per point: as sharp as the densest screens

# Filled polygons in a square of 16 x 16.
SHAPES: dict[str, list[Points]] = {
    "play": [[(4, 2), (14, 8), (4, 14)]],
    "pause": [[(3, 2), (7, 2), (7, 14), (3, 14)], [(9, 2), (13, 2), (13, 14), (9, 14)]],
    "next": [[(5, 3), (12, 8), (5, 13)]],
    "previous": [[(11, 3), (4, 8), (11, 13)]],
    "last": [[(3, 3), (10, 8), (3, 13)], [(11, 3), (13, 3), (13, 13), (11, 13)]],
    "first": [[(13, 3), (6, 8), (13, 13)], [(3, 3), (5, 3), (5, 13), (3, 13)]],
    "next-phase": [[(2, 3), (8, 8), (2, 13)], [(8, 3), (14, 8), (8, 13)]],
    "previous-phase": [[(14, 3), (8, 8), (14, 13)], [(8, 3), (2, 8), (8, 13)]],
    "menu": [[(2, y), (14, y), (14, y + 2), (2, y + 2)] for y in (3, 7, 11)],
    "down": [[(3, 6), (13, 6), (8, 11)]],
}


def icon(name: str, colour: QColor) -> QIcon:
    """Return the icon of this name: one of SHAPES, or one that `_stroke` draws with lines."""
    pixmap = QPixmap(16 * DENSITY, 16 * DENSITY)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(DENSITY, DENSITY)
    if name in SHAPES:
        _fill(painter, SHAPES[name], colour)
    else:
        _stroke(painter, name, colour)
    painter.end()
    return QIcon(pixmap)


def _fill(painter: QPainter, shapes: list[Points], colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    for points in shapes:
        painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in points]))


def _stroke(painter: QPainter, name: str, colour: QColor) -> None:
    painter.setPen(QPen(colour, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    path = QPainterPath()
    if name == "loop":
        path.arcMoveTo(QRectF(2.5, 3, 11, 11), 60)
        path.arcTo(QRectF(2.5, 3, 11, 11), 60, 290)
        path.addPolygon(QPolygonF([QPointF(8, 0.8), QPointF(11.2, 3.8), QPointF(8, 6.6)]))
    elif name == "share":  # an arrow out of a box
        path.addPolygon(QPolygonF([QPointF(4.5, 7), QPointF(2.5, 7), QPointF(2.5, 14), QPointF(13.5, 14)]))
        path.addPolygon(QPolygonF([QPointF(13.5, 14), QPointF(13.5, 7), QPointF(11.5, 7)]))
        path.addPolygon(QPolygonF([QPointF(8, 10.5), QPointF(8, 2)]))
        path.addPolygon(QPolygonF([QPointF(5, 4.8), QPointF(8, 1.8), QPointF(11, 4.8)]))
    elif name == "check":
        path.addPolygon(QPolygonF([QPointF(2.5, 8.5), QPointF(6.5, 12.5), QPointF(13.5, 4)]))
    elif name == "info":
        path.addEllipse(QRectF(1.5, 1.5, 13, 13))
        path.addPolygon(QPolygonF([QPointF(8, 7.5), QPointF(8, 11)]))
        path.addPolygon(QPolygonF([QPointF(8, 4.8), QPointF(8, 4.9)]))
    elif name == "warning":
        path.addPolygon(QPolygonF([QPointF(8, 2), QPointF(14.5, 14), QPointF(1.5, 14), QPointF(8, 2)]))
        path.addPolygon(QPolygonF([QPointF(8, 6.5), QPointF(8, 10)]))
    else:
        path.addPolygon(QPolygonF([QPointF(3.5, 3.5), QPointF(12.5, 12.5)]))
        path.addPolygon(QPolygonF([QPointF(12.5, 3.5), QPointF(3.5, 12.5)]))
    painter.drawPath(path)
