"""The icons of findings: an octagon with a cross, a triangle with an exclamation mark, a ring with an i."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QIcon, QPainter, QPen, QPixmap, QPolygonF

from ...widgets.theme import Theme

DENSITY = 3  # pixels per point: as sharp as the densest screens


def draw_sign(painter: QPainter, box: QRectF, severity: str, theme: Theme) -> None:
    """Draw the icon of a severity (in SEVERITIES) into a square."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(box.topLeft())
    painter.scale(box.width() / 16, box.height() / 16)
    {"error": _draw_error, "warning": _draw_warning, "note": _draw_note}[severity](painter, theme)
    painter.restore()


def sign_icon(severity: str, theme: Theme, size: int) -> QIcon:
    """Return the icon of a severity in `size` pixels."""
    picture = QPixmap(size * DENSITY, size * DENSITY)
    picture.setDevicePixelRatio(DENSITY)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    draw_sign(painter, QRectF(0, 0, size, size), severity, theme)
    painter.end()
    return QIcon(picture)


def counts_picture(counts: Mapping[str, int], theme: Theme, size: float, ratio: float) -> QPixmap:
    """Draw an icon with its count for each severity with findings, side by side."""
    shown = [(severity, f"{number:,}") for severity, number in counts.items() if number]
    font = theme.font(size)
    sign, gap = theme.px(size), theme.px(3)
    widths = [sign + gap + QFontMetrics(font).horizontalAdvance(text) + 2 * gap for _, text in shown]
    picture = QPixmap(max(1, round(sum(widths) * ratio)), max(1, round(theme.px(size + 4) * ratio)))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter, x, height = QPainter(picture), 0.0, theme.px(size + 4)
    painter.setFont(font)
    for (severity, text), width in zip(shown, widths, strict=True):
        draw_sign(painter, QRectF(x, (height - sign) / 2, sign, sign), severity, theme)
        painter.setPen(theme.colour("text"))
        box = QRectF(x + sign + gap, 0, width, height)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter), text)
        x += width
    painter.end()
    return picture


def _pen(colour: QColor) -> QPen:
    return QPen(colour, 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)


def _draw_error(painter: QPainter, theme: Theme) -> None:
    angles = [math.pi * (2 * corner + 1) / 8 for corner in range(8)]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("bad"))
    painter.drawPolygon(QPolygonF([QPointF(8 + 7.6 * math.cos(a), 8 + 7.6 * math.sin(a)) for a in angles]))
    painter.setPen(_pen(theme.colour("panel")))
    painter.drawLine(QPointF(5.4, 5.4), QPointF(10.6, 10.6))
    painter.drawLine(QPointF(10.6, 5.4), QPointF(5.4, 10.6))


def _draw_warning(painter: QPainter, theme: Theme) -> None:
    painter.setPen(_pen(theme.colour("bad")))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolygon(QPolygonF([QPointF(8, 1.8), QPointF(14.8, 14), QPointF(1.2, 14)]))
    painter.drawLine(QPointF(8, 6.4), QPointF(8, 9.4))
    painter.drawPoint(QPointF(8, 11.8))


def _draw_note(painter: QPainter, theme: Theme) -> None:
    painter.setPen(_pen(theme.colour("muted")))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(QRectF(1.5, 1.5, 13, 13))
    painter.drawLine(QPointF(8, 7.6), QPointF(8, 11))
    painter.drawPoint(QPointF(8, 4.9))
