"""The playhead of a timeline: everything that moves with the moment, and its area."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPolygonF

from ...widgets.theme import Theme
from .timeline_layout import TimelineLayout

HANDLE = 6  # half the handle's width at the normal text size
COLUMN = 4  # pixels: the smallest width of a moment's column with a bracket
BRACKET = 2  # pixels: the thickness of the bracket


def draw_playhead(painter: QPainter, layout: TimelineLayout, moment: float, end: int, theme: Theme) -> None:
    """Draw the line with its handle, the bracket of the moment's requests, and the line in the strip."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("text"))
    painter.drawRect(
        QRectF(_strip_x(layout, moment, end) - 0.75, layout.strip.top() - 3, 1.5, layout.strip.height() + 6)
    )
    x, size, top = layout.x(moment), theme.px(HANDLE), layout.handle.top() + 1
    if _is_visible(layout, x):
        _frame_column(painter, layout, moment, theme)
        painter.drawRect(QRectF(x - 1, top, 2, layout.rows.bottom() - top + 2))
        corners = [QPointF(x - size, top), QPointF(x + size, top), QPointF(x, top + size * 1.3)]
        painter.drawPolygon(QPolygonF(corners))


def playhead_area(layout: TimelineLayout, moment: float, end: int, theme: Theme) -> QRect:
    """Compute a rectangle around everything that `draw_playhead` draws."""
    x, column, side = layout.x(moment), layout.column(moment), theme.px(HANDLE) + 2
    strip = QRectF(_strip_x(layout, moment, end) - 3, 0, 6, layout.handle.bottom())
    left = max(x - column - side, layout.rows.left() - side)
    right = min(x + column + side, layout.rows.right() + side)
    rows = QRectF(left, layout.handle.top(), right - left, layout.rows.bottom() - layout.handle.top() + 4)
    return (rows.united(strip) if _is_visible(layout, x) else strip).toAlignedRect()


def is_on_handle(layout: TimelineLayout, moment: float, x: float, theme: Theme) -> bool:
    """Check whether an x is on the handle."""
    return abs(x - layout.x(moment)) <= theme.px(HANDLE) + 2


def _is_visible(layout: TimelineLayout, x: float) -> bool:
    return layout.rows.left() - 1 <= x <= layout.rows.right() + 1


def _frame_column(painter: QPainter, layout: TimelineLayout, moment: float, theme: Theme) -> None:
    """Bracket the moment's column above and below the rows, where the current requests keep their colours."""
    left, right = layout.x(int(moment)), min(layout.x(int(moment) + 1), layout.rows.right())
    left, thickness = max(left, layout.rows.left()), theme.px(BRACKET)
    if right - left >= COLUMN and moment >= 1:
        # Antialiasing would cost a millisecond.
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for top in (layout.rows.top() - thickness, layout.rows.bottom()):
            painter.fillRect(QRectF(left, top, right - left, thickness), theme.colour("text"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def _strip_x(layout: TimelineLayout, moment: float, end: int) -> float:
    return layout.strip.left() + layout.strip.width() * min(max((moment - 1) / max(1, end), 0), 1)
