"""A whole figure: title, legend, panels, and below them the origin, the method and the notes."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from ..charts.figure import Bars, Figure, Plane, Series
from ..theme import Theme
from .chart_bars import Hits, beyond, draw_bars, height_of
from .chart_ink import Ink, wrapped
from .chart_plane import draw_plane

MARGIN, SMALL = 18, 11
NARROW, PLANE = 400, 240  # pixels of the narrowest panel beside another one, and of the lowest one
EMPTY = "There is nothing to draw: choose a kernel that was measured like this."


def draw_figure(painter: QPainter, figure: Figure, box: QRectF, theme: Theme) -> Hits:
    """Draw a figure, with its ground, in a box; return the places that have something to tell, and what."""
    ink = Ink(painter, theme)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(box, theme.colour("panel"))
    margin = ink.px(MARGIN)
    inside = box.adjusted(margin, margin, -margin, -margin)
    top = _draw_head(ink, figure, inside)
    bottom = _draw_foot(ink, figure, inside)
    middle = QRectF(inside.left(), top, inside.width(), max(bottom - top, 1.0))
    if figure.is_empty:
        ink.text(QRectF(middle.left(), middle.top(), middle.width(), ink.height()), EMPTY, ink="muted")
        return []
    return _draw_panels(ink, figure, middle)


def wanted_height(figure: Figure, width: float, theme: Theme) -> int:
    """Return the height at which every bar of a figure has room for its name, and every plane for its points."""
    ink, inside = Ink(QPainter(), theme), width - 2 * MARGIN * theme.scale
    bars = sum(height_of(panel, ink) * 0.75 for panel in figure.panels if isinstance(panel, Bars))
    planes = sum(isinstance(panel, Plane) for panel in figure.panels)
    rows = planes if _is_narrow(ink, planes, inside) else min(planes, 1)
    head = len(wrapped(ink, figure.title, inside, 18, bold=True)) * ink.height(18) + 3 * ink.height()
    foot = len(_foot(ink, figure, inside)) * ink.height(SMALL)
    return round(bars + rows * ink.px(PLANE) + head + foot + ink.px(2 * MARGIN + 24))


def _is_narrow(ink: Ink, panels: int, width: float) -> bool:
    """Return whether panels have too little room beside each other."""
    return panels > 1 and width / panels < ink.px(NARROW)


def _draw_head(ink: Ink, figure: Figure, inside: QRectF) -> float:
    """Write title, subtitle and legend; return where they end."""
    y, width = inside.top(), inside.width()
    for text, size, colour, bold in ((figure.title, 18, "text", True), (figure.subtitle, 13, "muted", False)):
        for line in wrapped(ink, text, width, size, bold=bold):
            ink.text(QRectF(inside.left(), y, width + 2, ink.height(size)), line, size, ink=colour, bold=bold)
            y += ink.height(size)
        y += ink.px(3)
    series = [s for panel in figure.panels if isinstance(panel, Plane) for s in panel.series]
    unique = list({(s.name, s.slot, s.style): s for s in series}.values())
    return _draw_legend(ink, unique, QRectF(inside.left(), y + ink.px(4), width, 0)) + ink.px(10)


def _draw_legend(ink: Ink, series: list[Series], box: QRectF) -> float:
    """Write the names of lines with their signs, in rows; return where they end."""
    x, y, row = box.left(), box.top(), ink.height() + ink.px(3)
    for one in series:
        width = ink.width(one.name) + ink.px(40)
        if x > box.left() and x + width > box.right():
            x, y = box.left(), y + row
        ink.sign(QPointF(x + ink.px(8), y + row / 2), one.slot, hollow=one.hollow)
        ink.text(QRectF(x + ink.px(20), y, width - ink.px(22), row), one.name)
        x += width
    return y + row if series else y


def _foot(ink: Ink, figure: Figure, width: float) -> list[str]:
    """Return the lines at the foot of a figure."""
    outside = sum(beyond(panel) for panel in figure.panels if isinstance(panel, Bars))
    notes = [*figure.notes, *([f"Samples beyond the axis: {outside:,}."] if outside else [])]
    texts = [" ".join(notes), figure.method, *figure.origins]
    return [line for text in texts for line in wrapped(ink, text, width, SMALL)]


def _draw_foot(ink: Ink, figure: Figure, inside: QRectF) -> float:
    """Write what a reader must know of the numbers; return where it begins."""
    lines, height = _foot(ink, figure, inside.width()), ink.height(SMALL)
    top = inside.bottom() - height * len(lines)
    for number, line in enumerate(lines):
        ink.text(
            QRectF(inside.left(), top + number * height, inside.width() + 2, height), line, SMALL, ink="muted"
        )
    return top - ink.px(10)


def _draw_panels(ink: Ink, figure: Figure, middle: QRectF) -> Hits:
    """Draw the panels beside each other, or below each other where that is too narrow."""
    hits: Hits = []
    for panel, box in zip(figure.panels, _boxes(ink, len(figure.panels), middle), strict=True):
        hits += draw_bars(ink, panel, box) if isinstance(panel, Bars) else draw_plane(ink, panel, box)
    return hits


def _boxes(ink: Ink, count: int, middle: QRectF) -> list[QRectF]:
    stacked, gap = _is_narrow(ink, count, middle.width()), ink.px(24)
    width, height = (
        (middle.width() - gap * (count - 1)) / count,
        (middle.height() - gap * (count - 1)) / count,
    )
    if stacked:
        return [
            QRectF(middle.left(), middle.top() + n * (height + gap), middle.width(), height)
            for n in range(count)
        ]
    return [
        QRectF(middle.left() + n * (width + gap), middle.top(), width, middle.height()) for n in range(count)
    ]
