"""A panel of points: lines over a size, or points under the roofs of a device."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPen, QPolygonF

from ..charts.figure import Plane, Roof, Series
from ..charts.wording import number_text
from .chart_axis import axis_height, draw_axis, draw_upright_axis, draw_upright_label, number_width
from .chart_bars import Hits
from .chart_ink import DASHES, Ink
from .chart_ticks import Scale, log_range

NEAR = 9  # pixels around a point in which it is told


def draw_plane(ink: Ink, panel: Plane, box: QRectF) -> Hits:
    """Draw a panel in a box and return what is to be told where."""
    label = ink.height() + ink.px(8)
    plot = QRectF(box.left(), box.top() + label, box.width(), box.height() - label - axis_height(ink))
    ys = [v for s in panel.series for p in s.points for v in (p.low, p.high)] or [1.0]
    low, high = log_range([*ys, *_roof_heights(panel)])
    upright = Scale(low, high, plot.bottom(), plot.top(), True)
    plot.setLeft(box.left() + number_width(ink, panel.y, upright))
    plot.setRight(box.right() - ink.px(14))
    across = Scale(*_width(panel), plot.left(), plot.right(), True)
    draw_upright_label(ink, panel.y, QRectF(box.left(), box.top(), box.width(), ink.height()))
    draw_upright_axis(ink, panel.y, upright, plot)
    draw_axis(ink, panel.x, across, plot, box)
    for roof in panel.roofs:
        _draw_roof(ink, roof, across, upright)
    return [hit for series in panel.series for hit in _draw_series(ink, series, across, upright)]


def _roof_heights(panel: Plane) -> list[float]:
    return [roof.gflop_per_s for roof in panel.roofs]


def _width(panel: Plane) -> tuple[float, float]:
    """Return the range of x: that of the points, with the ridge of every roof in sight."""
    xs = [point.x for series in panel.series for point in series.points] or [1.0]
    ridges = [roof.gflop_per_s / roof.gb_per_s for roof in panel.roofs]
    return log_range([*xs, *(4 * ridge for ridge in ridges)], 1.6 if ridges else 1.15)


def _draw_roof(ink: Ink, roof: Roof, across: Scale, upright: Scale) -> None:
    """Draw min(bandwidth * intensity, peak) and write on its two parts what they are."""
    ridge = roof.gflop_per_s / roof.gb_per_s
    start = max(across.low, upright.low / roof.gb_per_s)
    corners = [(start, start * roof.gb_per_s), (ridge, roof.gflop_per_s), (across.high, roof.gflop_per_s)]
    places = [QPointF(across.at(x), upright.at(y)) for x, y in corners]
    ink.painter.setPen(QPen(ink.theme.colour("text"), ink.px(2), DASHES[roof.style % len(DASHES)]))
    ink.painter.drawPolyline(QPolygonF(places))
    flat = f"float32 {number_text(roof.gflop_per_s)} GFLOP/s"
    width = ink.width(flat, 12) + 2
    top = places[2].y() - ink.height(12) - ink.px(3)
    ink.text(QRectF(places[2].x() - width, top, width, ink.height(12)), flat, 12)
    _draw_slope_text(ink, f"copy {number_text(roof.gb_per_s)} GB/s, {roof.name}", places[0], places[1])


def _draw_slope_text(ink: Ink, text: str, start: QPointF, end: QPointF) -> None:
    """Write along a slope, above its middle."""
    way = end - start
    middle, width = start + way * 0.5, ink.width(text, 12) + 2
    painter = ink.painter
    painter.save()
    painter.translate(middle)
    painter.rotate(_degrees(way))
    ink.text(QRectF(-width / 2, -ink.height(12) - ink.px(4), width, ink.height(12)), text, 12)
    painter.restore()


def _degrees(way: QPointF) -> float:
    from math import atan2, degrees

    return degrees(atan2(way.y(), way.x()))


def _draw_series(ink: Ink, series: Series, across: Scale, upright: Scale) -> Hits:
    places = [QPointF(across.at(p.x), upright.at(p.y)) for p in series.points]
    ink.painter.setPen(QPen(ink.colour(series.slot), ink.px(2), DASHES[series.style % len(DASHES)]))
    if len(places) > 1:
        ink.painter.drawPolyline(QPolygonF(places))
    for place, point in zip(places, series.points, strict=True):
        ink.painter.setPen(QPen(ink.theme.colour("text"), ink.px(1.2)))
        ends = [QPointF(place.x(), upright.at(end)) for end in (point.low, point.high)]
        ink.painter.drawLine(*ends)
        ink.sign(place, series.slot, hollow=series.hollow)
    near = ink.px(NEAR)
    boxes = [QRectF(p.x() - near, p.y() - near, 2 * near, 2 * near) for p in places]
    told = [f"{p.told}\n{p.datum.origin}" for p in series.points]
    return list(zip(boxes, told, strict=True))
