"""The playhead of a timeline: all that moves with the moment, and where it is drawn."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPolygonF

from ...widgets.theme import Theme
from .places import TimelineLayout

HANDLE = 6  # half the handle's width at the normal text size
COLUMN = 4  # pixels from which a moment's column is wide enough to be bracketed
BRACKET = 2  # pixels that the bracket is thick


def draw_playhead(painter: QPainter, at: TimelineLayout, moment: float, end: int, theme: Theme) -> None:
    """Draw the line with its handle, the bracket of the moment's requests, and the mark in the strip."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("text"))
    painter.drawRect(QRectF(_strip_x(at, moment, end) - 0.75, at.strip.top() - 3, 1.5, at.strip.height() + 6))
    x, size, top = at.x(moment), theme.px(HANDLE), at.handle.top() + 1
    if _in_sight(at, x):
        _frame_column(painter, at, moment, theme)
        painter.drawRect(QRectF(x - 1, top, 2, at.rows.bottom() - top + 2))
        corners = [QPointF(x - size, top), QPointF(x + size, top), QPointF(x, top + size * 1.3)]
        painter.drawPolygon(QPolygonF(corners))


def playhead_area(at: TimelineLayout, moment: float, end: int, theme: Theme) -> QRect:
    """Return a rectangle around all that `draw_playhead` draws."""
    x, column, side = at.x(moment), at.column(moment), theme.px(HANDLE) + 2
    strip = QRectF(_strip_x(at, moment, end) - 3, 0, 6, at.handle.bottom())
    left = max(x - column - side, at.rows.left() - side)
    right = min(x + column + side, at.rows.right() + side)
    rows = QRectF(left, at.handle.top(), right - left, at.rows.bottom() - at.handle.top() + 4)
    return (rows.united(strip) if _in_sight(at, x) else strip).toAlignedRect()


def grips(at: TimelineLayout, moment: float, x: float, theme: Theme) -> bool:
    """Return whether a place is on the handle."""
    return abs(x - at.x(moment)) <= theme.px(HANDLE) + 2


def _in_sight(at: TimelineLayout, x: float) -> bool:
    return at.rows.left() - 1 <= x <= at.rows.right() + 1


def _frame_column(painter: QPainter, at: TimelineLayout, moment: float, theme: Theme) -> None:
    """Bracket the moment's column above and below the rows: its requests are the current ones, in their colours."""
    left, right = at.x(int(moment)), min(at.x(int(moment) + 1), at.rows.right())
    left, tall = max(left, at.rows.left()), theme.px(BRACKET)
    if right - left >= COLUMN and moment >= 1:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)  # with it, a millisecond
        for top in (at.rows.top() - tall, at.rows.bottom()):
            painter.fillRect(QRectF(left, top, right - left, tall), theme.colour("text"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def _strip_x(at: TimelineLayout, moment: float, end: int) -> float:
    return at.strip.left() + at.strip.width() * min(max((moment - 1) / max(1, end), 0), 1)
