"""Red crosses in a timeline: accesses outside arrays."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from ...widgets.theme import Theme
from ..common.drawing import pen
from .timeline_layout import TimelineLayout

ARM, LINE = 3.5, 1.5  # pixels: half of a cross, and the width of the line that replaces it in a narrow moment


def draw_outside(
    painter: QPainter, accesses: Sequence[tuple[int, int]], warps: int, layout: TimelineLayout, theme: Theme
) -> None:
    """Draw a cross in a warp's row for each (warp, moment), or a line if the moment is narrow."""
    if not accesses or not warps:
        return
    height, arm = layout.rows.height() / warps, min(float(theme.px(ARM)), layout.rows.height() / warps / 3)
    red, halo = theme.colour("bad"), theme.colour("panel")
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for warp, moment in accesses:
        left, right = layout.x(moment), layout.x(moment + 1)
        if right < layout.rows.left() or left > layout.rows.right():
            continue
        x, y = (left + right) / 2, layout.rows.top() + (warp + 0.5) * height
        if right - left < 4 * arm:
            painter.fillRect(QRectF(x - LINE / 2, y - height / 2, LINE, height), red)
            continue
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(halo)
        painter.drawEllipse(QPointF(x, y), 1.8 * arm, min(1.8 * arm, height / 2))
        painter.setPen(pen(red, 1.8))
        painter.drawLine(QPointF(x - arm, y - arm), QPointF(x + arm, y + arm))
        painter.drawLine(QPointF(x - arm, y + arm), QPointF(x + arm, y - arm))
