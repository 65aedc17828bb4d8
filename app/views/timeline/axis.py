"""The axis of a timeline: numbers of moments, or the cycles that a GPU took."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from ...widgets.theme import Theme
from ..common.drawing import CENTRE, MIDDLE, RIGHT
from ..common.geometry import whole_step
from ..common.wording import count_text
from .places import TimelineLayout


def draw_axis(painter: QPainter, at: TimelineLayout, measured: str, theme: Theme) -> None:
    """Draw the numbers, and at the right what they are where they are not moments.

    measured: on which GPU and when; where there is no clock, why.
    """
    first, last = at.span
    step = whole_step(last - first, at.rows.width() / theme.px(90))
    painter.setFont(theme.font(9.5))
    free = _draw_unit(painter, at, measured, theme)
    for number in range(math.ceil(first / step) * step, math.floor(last) + 1, step):
        x = at.rows.left() + (number - first) / (last - first) * at.rows.width()
        _draw_number(painter, number, x, free, at, theme)


def _draw_unit(painter: QPainter, at: TimelineLayout, measured: str, theme: Theme) -> float:
    """Write what the numbers are, and return where it begins."""
    text = f"cycles \u00b7 measured, {measured}" if at.clock is not None else measured
    if not text:
        return at.axis.right()
    width = min(painter.fontMetrics().horizontalAdvance(text) + 2, at.axis.width())
    box = QRectF(at.axis.right() - width, at.axis.top() + 4, width, at.axis.height() - 4)
    painter.setPen(theme.colour("muted"))
    painter.drawText(box, RIGHT | MIDDLE, text)
    return box.left() - theme.px(8)


def _draw_number(
    painter: QPainter, number: int, x: float, free: float, at: TimelineLayout, theme: Theme
) -> None:
    """Draw a tick, and its number where the text ends before `free`."""
    text, muted, y = count_text(number), theme.colour("muted"), at.axis.top()
    painter.fillRect(QRectF(x, y + 1, 1, 3), muted)
    painter.setPen(muted)
    width = painter.fontMetrics().horizontalAdvance(text) + 2
    left = min(max(x - width / 2, at.axis.left()), at.axis.right() - width)
    if left + width <= free:
        painter.drawText(QRectF(left, y + 4, width, at.axis.height() - 4), CENTRE, text)
