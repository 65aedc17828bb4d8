"""Complete figures: title, panels with legends, and below them origin, method and notes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen

from ...charts.figure import BarPanel, Figure, PointPanel, Series
from ...widgets.theme import Theme
from .bars import Hits, draw_bars, preferred_height, samples_beyond
from .ink import DASHES, Ink, wrapped
from .points import draw_points

MARGIN, SMALL = 18, 11
NARROW, PLANE = 400, 300  # pixels: the least width of panels side by side, and the height of a plane
SHRINK = 0.95  # the factor of each step that makes the text smaller
GAP = 24  # pixels between panels
# Pixels of a legend's entry besides its name: a piece of its line, and its sign.
SAMPLE, NAMED = 20, 40
EMPTY = "There is nothing to draw: choose a kernel that was measured like this."
Panels = tuple[BarPanel | PointPanel, ...]


def draw_figure(painter: QPainter, figure: Figure, box: QRectF, theme: Theme) -> Hits:
    """Draw a figure in a box; return the tooltips and their boxes."""
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
    """Return the height at which every bar has room for its name, and every plane for its points."""
    ink, inside = Ink(QPainter(), theme), width - 2 * MARGIN * theme.scale
    bars = sum(
        preferred_height(panel, ink, inside) * 0.75 for panel in figure.panels if isinstance(panel, BarPanel)
    )
    planes = [len(_rows(ink, group, inside)) for group in _groups(figure) if isinstance(group[0], PointPanel)]
    legends = sum(_legend_height(ink, group, inside) for group in _groups(figure))
    head = len(wrapped(ink, figure.title, inside, 18, bold=True)) * ink.height(18)
    head += len(wrapped(ink, figure.subtitle, inside, 13)) * ink.height()
    foot = len(_foot(ink, figure, inside)) * ink.height(SMALL)
    return round(bars + sum(planes) * ink.px(PLANE) + legends + head + foot + ink.px(2 * MARGIN + 24))


def fitting_theme(figure: Figure, size: tuple[float, float], theme: Theme, minimum: float) -> Theme:
    """Shrink the text of a theme until a figure fits, but not below the text size `minimum`."""
    scale = theme.scale
    while scale * SHRINK >= minimum and wanted_height(figure, size[0], replace(theme, scale=scale)) > size[1]:
        scale *= SHRINK
    return replace(theme, scale=scale)


def _draw_head(ink: Ink, figure: Figure, inside: QRectF) -> float:
    """Write title and subtitle; return the y coordinate of their end."""
    y, width = inside.top(), inside.width()
    for text, size, colour, bold in ((figure.title, 18, "text", True), (figure.subtitle, 13, "muted", False)):
        for line in wrapped(ink, text, width, size, bold=bold):
            ink.text(QRectF(inside.left(), y, width + 2, ink.height(size)), line, size, ink=colour, bold=bold)
            y += ink.height(size)
        y += ink.px(3)
    return y + ink.px(10)


# Legends.


def _legend(panels: Sequence[BarPanel | PointPanel]) -> list[Series]:
    series = [s for panel in panels if isinstance(panel, PointPanel) for s in panel.series]
    return list({(s.full_name, s.slot, s.style): s for s in series}.values())


def _entry_width(ink: Ink, series: Series) -> float:
    return ink.width(series.full_name) + ink.px(NAMED + SAMPLE * _is_line(series))


def _is_line(series: Series) -> bool:
    """Return True if the dashes of its line distinguish a series."""
    return series.style > 0 and len(series.points) > 1


def _legend_rows(ink: Ink, panels: Sequence[BarPanel | PointPanel], width: float) -> list[list[Series]]:
    rows: list[list[Series]] = []
    for series in _legend(panels):
        used = sum(_entry_width(ink, other) for other in rows[-1]) if rows else width
        if used + _entry_width(ink, series) > width:
            rows.append([])
        rows[-1].append(series)
    return rows


def _legend_height(ink: Ink, panels: Sequence[BarPanel | PointPanel], width: float) -> float:
    rows = len(_legend_rows(ink, panels, width))
    return rows * (ink.height() + ink.px(3)) + ink.px(10) if rows else 0.0


def _draw_legend(ink: Ink, panels: Sequence[BarPanel | PointPanel], box: QRectF) -> None:
    """Write the names and signs of the series, in rows."""
    row_height = ink.height() + ink.px(3)
    for number, row in enumerate(_legend_rows(ink, panels, box.width())):
        x, y = box.left(), box.top() + number * row_height
        for series in row:
            _draw_entry(ink, series, QRectF(x, y, min(_entry_width(ink, series), box.width()), row_height))
            x += _entry_width(ink, series)


def _draw_entry(ink: Ink, series: Series, box: QRectF) -> None:
    reach = ink.px(SAMPLE) * _is_line(series)
    sign = QPointF(box.left() + ink.px(8) + reach / 2, box.center().y())
    if reach:
        ink.painter.setPen(QPen(ink.colour(series.slot), ink.px(2), DASHES[series.style % len(DASHES)]))
        ink.painter.drawLine(
            QPointF(box.left(), sign.y()), QPointF(box.left() + reach + ink.px(16), sign.y())
        )
    ink.sign(sign, series.slot, hollow=series.hollow, style=series.style)
    ink.text(box.adjusted(ink.px(20) + reach, 0, -ink.px(2), 0), series.full_name)


# The notes at the bottom.


def _foot(ink: Ink, figure: Figure, width: float) -> list[str]:
    """Return the lines at the bottom of a figure."""
    outside = sum(samples_beyond(panel) for panel in figure.panels if isinstance(panel, BarPanel))
    notes = [*figure.notes, *([f"Samples beyond the axis: {outside:,}."] if outside else [])]
    texts = [" ".join(notes), figure.method, *figure.origins]
    return [line for text in texts for line in wrapped(ink, text, width, SMALL)]


def _draw_foot(ink: Ink, figure: Figure, inside: QRectF) -> float:
    """Write the notes on the numbers; return the y coordinate of their start."""
    lines, height = _foot(ink, figure, inside.width()), ink.height(SMALL)
    top = inside.bottom() - height * len(lines)
    for number, line in enumerate(lines):
        ink.text(
            QRectF(inside.left(), top + number * height, inside.width() + 2, height), line, SMALL, ink="muted"
        )
    return top - ink.px(10)


# Panels.


def _groups(figure: Figure) -> list[Panels]:
    """Group the panels that share an x axis and a legend."""
    return [
        tuple(panels)
        for _, panels in groupby(figure.panels, lambda p: p.x.label if isinstance(p, PointPanel) else "")
    ]


def _rows(ink: Ink, panels: Panels, width: float) -> list[Panels]:
    """Place panels side by side, or one per row if they would be too narrow."""
    is_narrow = len(panels) > 1 and width / len(panels) < ink.px(NARROW)
    return [(panel,) for panel in panels] if is_narrow else [panels]


def _draw_panels(ink: Ink, figure: Figure, middle: QRectF) -> Hits:
    """Draw the groups of panels below each other, each below its legend."""
    groups, width, gap = _groups(figure), middle.width(), ink.px(GAP)
    rows = sum(len(_rows(ink, group, width)) for group in groups)
    legends = sum(_legend_height(ink, group, width) for group in groups)
    height = (middle.height() - legends - gap * (rows - 1)) / rows
    hits, y = [], middle.top()
    for group in groups:
        _draw_legend(ink, group, QRectF(middle.left(), y, width, 0))
        y += _legend_height(ink, group, width)
        for row in _rows(ink, group, width):
            hits += _draw_row(ink, row, QRectF(middle.left(), y, width, height))
            y += height + gap
    return hits


def _draw_row(ink: Ink, panels: Panels, box: QRectF) -> Hits:
    hits: Hits = []
    gap = ink.px(GAP)
    width = (box.width() - gap * (len(panels) - 1)) / len(panels)
    for number, panel in enumerate(panels):
        panel_box = QRectF(box.left() + number * (width + gap), box.top(), width, box.height())
        hits += (
            draw_bars(ink, panel, panel_box)
            if isinstance(panel, BarPanel)
            else draw_points(ink, panel, panel_box)
        )
    return hits
