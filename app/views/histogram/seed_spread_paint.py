"""The results of a racing counter under random schedules and on GPUs: dots over an axis, and explanations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPolygonF

from ....tracer.hardware.times.recorded_outcomes import Spread
from ....tracer.model.grouping import group_starts, positions_in_group
from ...widgets.theme import Theme
from ..common.drawing import LEFT, MIDDLE, RIGHT, WRAP, draw_text, text_width
from ..common.geometry import integer_step
from ..common.wording import count_text
from .counter import measured_text, regular_text, seeds_text

SMALL, DOTS_HEIGHT = 10.5, 48  # size of small text; the smallest height of the dots
GAP = 6  # pixels between the heading and the highest dot


def text_line(theme: Theme) -> float:
    """Compute the height of a line of text in these pictures."""
    return QFontMetricsF(theme.font(12)).height() + 1


def wrapped_height(text: str, width: float, theme: Theme) -> float:
    """Compute the height of a wrapped text."""
    room = QRectF(0, 0, max(width, 1), 10_000)
    return QFontMetricsF(theme.font(12)).boundingRect(room, int(WRAP), theme.translate(text)).height()


def write_wrapped(painter: QPainter, box: QRectF, text: str, theme: Theme, colour: str) -> float:
    """Write a wrapped text and return its lower edge."""
    height = wrapped_height(text, box.width(), theme)
    room = QRectF(box.left(), box.top(), box.width(), height + 1)
    draw_text(painter, room, theme.translate(text), theme.font(12), theme.colour(colour), WRAP)
    return room.bottom()


def write_bold(painter: QPainter, box: QRectF, text: str, theme: Theme, colour: str = "text") -> None:
    """Write a bold line at the top of a box."""
    row = QRectF(box.left(), box.top(), box.width(), text_line(theme))
    draw_text(painter, row, theme.translate(text), theme.font(12, bold=True), theme.colour(colour), MIDDLE)


def spread_height(spread: Spread, width: float, theme: Theme, *, with_reason: bool) -> float:
    """Compute the smallest height of the picture, with or without the reason."""
    lines = (2 + len(spread.measured)) * text_line(theme) + theme.px(DOTS_HEIGHT)
    reason = regular_text(spread) if with_reason else ""
    return lines + (wrapped_height(reason, width, theme) if reason else 0)


def draw_spread(
    painter: QPainter, box: QRectF, spread: Spread, expected: int, theme: Theme, *, with_reason: bool
) -> None:
    """Draw a dot for the result of each random schedule, and below the results of GPUs with the reason."""
    line = text_line(theme)
    write_bold(painter, box, seeds_text(spread), theme)
    foot = box.bottom()
    if reason := regular_text(spread) if with_reason else "":
        foot -= wrapped_height(reason, box.width(), theme)
        write_wrapped(painter, QRectF(box.left(), foot, box.width(), line), reason, theme, "muted")
    for measured in reversed(spread.measured):
        foot -= line
        row = QRectF(box.left(), foot, box.width(), line)
        _write_measured(painter, row, f"▲ {measured_text(measured)}", theme)
    side = theme.px(6)
    field = QRectF(
        box.left() + side, box.top() + line, box.width() - 2 * side, foot - box.top() - 2 * line - side
    )
    if field.height() >= theme.px(16) and (spread.totals or spread.measured):
        _draw_plot(painter, field, spread, expected, theme)


def _write_measured(painter: QPainter, row: QRectF, text: str, theme: Theme) -> None:
    """Write the results of a GPU, and the mark "measured" if it fits."""
    write_bold(painter, row, text, theme, "accent")
    x = row.left() + text_width(text, theme.font(12, bold=True)) + theme.px(8)
    rest = QRectF(x, row.top(), row.right() - x, row.height())
    if rest.width() >= text_width("measured", theme.font(SMALL)):
        draw_text(painter, rest, "measured", theme.font(SMALL), theme.colour("muted"), LEFT | MIDDLE)


def _draw_plot(painter: QPainter, field: QRectF, spread: Spread, expected: int, theme: Theme) -> None:
    outcomes = sorted({n for measured in spread.measured for n in measured.outcomes})
    top = max([1, *spread.totals, *outcomes])
    expected_text = f"expected {count_text(expected)} →" if expected > top else ""
    room = text_width(expected_text, theme.font(SMALL)) + theme.px(16) if expected_text else theme.px(4)
    unit = max(field.width() - room, 1.0) / top
    _draw_dots(painter, field, spread.totals, unit, theme)
    _draw_axis(painter, field, top, unit, expected_text, theme)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("accent"))
    half, low = theme.px(4), field.bottom()
    for total in outcomes:
        x = field.left() + total * unit
        corners = ((x, low + 1), (x - half, low + 2 * half), (x + half, low + 2 * half))
        painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))


def _draw_dots(painter: QPainter, field: QRectF, totals: Sequence[int], unit: float, theme: Theme) -> None:
    """Draw a dot for each seed over its result."""
    ordered = np.sort(np.array(totals, np.int64))
    level = positions_in_group(group_starts(ordered), len(ordered)) if len(ordered) else ordered
    levels = int(level.max(initial=0)) + 1
    side = min(theme.px(12), max(unit * 0.9, 3.0), (field.height() - theme.px(GAP)) / levels)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("muted"))
    for total, height in zip(ordered.tolist(), level.tolist(), strict=True):
        x, y = field.left() + total * unit - side / 2, field.bottom() - (height + 1) * side
        painter.drawEllipse(QRectF(x, y, side - 1, side - 1))


def _draw_axis(
    painter: QPainter, field: QRectF, top: int, unit: float, expected_text: str, theme: Theme
) -> None:
    """Draw the axis of results, and the direction of the expected one."""
    small, muted = theme.font(SMALL), theme.colour("muted")
    line, y = QFontMetricsF(small).height(), field.bottom() + theme.px(9)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillRect(QRectF(field.left(), field.bottom(), field.width(), 1), muted)
    for total in range(0, top + 1, integer_step(top, max(2.0, top * unit / theme.px(36)))):
        width = text_width(count_text(total), small) + 2
        box = QRectF(field.left() + total * unit - width / 2, y, width, line)
        draw_text(painter, box, count_text(total), small, muted, Qt.AlignmentFlag.AlignHCenter)
    draw_text(painter, QRectF(field.left(), y, field.width(), line), expected_text, small, muted, RIGHT)
