"""The segments of an explicit order, in a timeline: a bracket over the moments in which chosen threads ran."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from ...widgets.theme import Theme
from ..common.drawing import CENTRE
from ..common.order_spans import OrderSpan
from .timeline_layout import TimelineLayout

FOOT, LINE = 5.0, 2.0  # pixels: the height of a bracket's ends, and its thickness
LOWEST = 9.0  # pixels: the lowest row with names of threads


def draw_order(
    painter: QPainter, spans: Sequence[OrderSpan], warps: int, layout: TimelineLayout, theme: Theme
) -> None:
    """Draw a bracket at the upper edge of a warp's row for each span, with its threads' name where it fits."""
    if not spans or not warps:
        return
    height = layout.rows.height() / warps
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setFont(theme.font(8.5, bold=True))
    metrics = QFontMetricsF(painter.font())
    ink, panel = theme.colour("text"), theme.colour("panel")
    for span in spans:
        left = max(layout.x(span.first), layout.rows.left())
        right = min(layout.x(span.last + 1), layout.rows.right())
        if right - left < 1:
            continue
        top, foot = layout.rows.top() + span.warp * height, min(FOOT, height)
        width = right - left - 1
        parts = [
            QRectF(left, top, width, LINE),
            QRectF(left, top, LINE, foot),
            QRectF(left + width - LINE, top, LINE, foot),
        ]
        for part in parts:
            painter.fillRect(part.adjusted(0, 0, 1, 1), panel)
        for part in parts:
            painter.fillRect(part, ink)
        text = metrics.horizontalAdvance(span.name) + 4
        if height >= LOWEST and text <= width - 2 * LINE:
            box = QRectF((left + right - text) / 2, top + LINE, text, min(height - LINE, metrics.height()))
            painter.fillRect(box, panel)
            painter.setPen(ink)
            painter.drawText(box, CENTRE | Qt.TextFlag.TextDontClip, span.name)
