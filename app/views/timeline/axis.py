"""The axis of a timeline: moments, or cycles measured on a GPU."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from ...widgets.theme import Theme
from ..common.drawing import CENTRE, MIDDLE, RIGHT
from ..common.geometry import integer_step
from ..common.wording import count_text
from .timeline_layout import TimelineLayout


def draw_axis(painter: QPainter, layout: TimelineLayout, measured: str, theme: Theme) -> None:
    """Draw the numbers, and at the right their unit if they are not moments.

    measured: the GPU and date of the measurement; without a clock, the reason.
    """
    first, last = layout.span
    step = integer_step(last - first, layout.rows.width() / theme.px(90))
    painter.setFont(theme.font(9.5))
    free = _draw_unit(painter, layout, measured, theme)
    for number in range(math.ceil(first / step) * step, math.floor(last) + 1, step):
        x = layout.rows.left() + (number - first) / (last - first) * layout.rows.width()
        _draw_number(painter, number, x, free, layout, theme)


def _draw_unit(painter: QPainter, layout: TimelineLayout, measured: str, theme: Theme) -> float:
    """Write the unit of the numbers, and return its left edge."""
    text = f"cycles \u00b7 measured, {measured}" if layout.clock is not None else measured
    if not text:
        return layout.axis.right()
    width = min(painter.fontMetrics().horizontalAdvance(text) + 2, layout.axis.width())
    box = QRectF(layout.axis.right() - width, layout.axis.top() + 4, width, layout.axis.height() - 4)
    painter.setPen(theme.colour("muted"))
    painter.drawText(box, RIGHT | MIDDLE, text)
    return box.left() - theme.px(8)


def _draw_number(
    painter: QPainter, number: int, x: float, free: float, layout: TimelineLayout, theme: Theme
) -> None:
    """Draw a tick, and its number if the text ends before `free`."""
    text, muted, y = count_text(number), theme.colour("muted"), layout.axis.top()
    painter.fillRect(QRectF(x, y + 1, 1, 3), muted)
    painter.setPen(muted)
    width = painter.fontMetrics().horizontalAdvance(text) + 2
    left = min(max(x - width / 2, layout.axis.left()), layout.axis.right() - width)
    if left + width <= free:
        painter.drawText(QRectF(left, y + 4, width, layout.axis.height() - 4), CENTRE, text)
