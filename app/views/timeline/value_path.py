"""The accesses on the path of a value, in a timeline: a mark below each moment of a warp's row."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from ...widgets.theme import Theme
from ..common.value_marks import TimelineMark
from .timeline_layout import TimelineLayout

SHARE = 0.36  # of the height of a row that a mark takes
NARROWEST = 2.5  # pixels


def draw_value_path(
    painter: QPainter, marks: Sequence[TimelineMark], warps: int, layout: TimelineLayout, theme: Theme
) -> None:
    """Draw a bar at the lower edge of the row for each access; faults have a taller bar in another colour."""
    if not marks or not warps:
        return
    height = layout.rows.height() / warps
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setPen(Qt.PenStyle.NoPen)
    for mark in sorted(marks, key=lambda mark: mark.has_fault):
        left, right = layout.x(mark.moment), layout.x(mark.moment + 1)
        if right < layout.rows.left() or left > layout.rows.right():
            continue
        width = max(NARROWEST, (right - left) * 0.8)
        tall = min(height, max(2.0, height * (0.8 if mark.has_fault else SHARE)))
        bottom = layout.rows.top() + (mark.warp + 1) * height
        bar = QRectF((left + right - width) / 2, bottom - tall, width, tall)
        painter.fillRect(bar.adjusted(-1, -1, 1, 0), theme.colour("panel"))
        painter.fillRect(bar, theme.colour("bad" if mark.has_fault else "text"))
