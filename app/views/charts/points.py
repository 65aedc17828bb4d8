"""A panel of points: lines over a size, or points under the roofs of a device."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPen, QPolygonF

from ...charts.figure import PointPanel, Roof, Series
from ..common.geometry import Scale, log_range
from .axis import axis_height, draw_axis, draw_upright_axis, draw_upright_label, label_height, number_width
from .bars import Hits
from .ink import DASHES, Ink
from .roof_names import Names, corners, dash_of, name_roofs, names_height

NEAR = 9  # pixels around a point in which it is told


def draw_points(ink: Ink, panel: PointPanel, box: QRectF) -> Hits:
    """Draw a panel in a box and return what is to be told where."""
    label = label_height(ink, panel.y, box.width()) + ink.px(4)
    below = axis_height(ink, panel.x, box.width())
    label += names_height(ink, panel.roofs)
    plot = QRectF(box.left(), box.top() + label, box.width(), box.height() - label - below)
    ys = [v for s in panel.series for p in s.points for v in (p.low, p.high)] or [1.0]
    low, high = log_range([*ys, *_roof_heights(panel)])
    upright = Scale(low, high, plot.bottom(), plot.top(), True)
    plot.setLeft(box.left() + number_width(ink, panel.y, upright))
    plot.setRight(box.right() - ink.px(14))
    across = Scale(*_width(panel), plot.left(), plot.right(), True)
    draw_upright_label(ink, panel.y, QRectF(box.left(), box.top(), box.width(), 0))
    draw_upright_axis(ink, panel.y, upright, plot)
    draw_axis(ink, panel.x, across, plot, box)
    for roof in panel.roofs:
        _draw_roof(ink, roof, across, upright)
    signs = [
        _around(ink, _place(p.x, p.y, across, upright)) for series in panel.series for p in series.points
    ]
    name_roofs(
        ink,
        panel.roofs,
        across,
        upright,
        Names(box.left(), plot.top() - names_height(ink, panel.roofs), signs),
    )
    return [
        hit for series in panel.series for hit in _draw_series(ink, series, panel.joined, across, upright)
    ]


def _place(x: float, y: float, across: Scale, upright: Scale) -> QPointF:
    return QPointF(across.at(x), upright.at(y))


def _around(ink: Ink, place: QPointF) -> QRectF:
    """Return the ground of a point."""
    near = ink.px(NEAR)
    return QRectF(place.x() - near, place.y() - near, 2 * near, 2 * near)


def _roof_heights(panel: PointPanel) -> list[float]:
    return [rate for roof in panel.roofs for rate in (roof.gflop_per_s, *(rate for _, rate in roof.beside))]


def _width(panel: PointPanel) -> tuple[float, float]:
    """Return the range of x: that of the points, with the ridge of every roof in sight."""
    xs = [point.x for series in panel.series for point in series.points] or [1.0]
    ridges = [roof.gflop_per_s / roof.gb_per_s for roof in panel.roofs]
    return log_range([*xs, *(4 * ridge for ridge in ridges)], 1.6 if ridges else 1.15)


def _draw_roof(ink: Ink, roof: Roof, across: Scale, upright: Scale) -> None:
    """Draw min(bandwidth * intensity, peak), and dotted what else was reached."""
    places = corners(roof, across, upright)
    ink.painter.setPen(QPen(ink.theme.colour("text"), ink.px(2), dash_of(roof)))
    ink.painter.drawPolyline(QPolygonF(places))
    for _, rate in roof.beside:
        line = QLineF(across.at(rate / roof.gb_per_s), upright.at(rate), places[2].x(), upright.at(rate))
        ink.painter.setPen(QPen(ink.theme.colour("muted"), ink.px(1.5), Qt.PenStyle.DotLine))
        ink.painter.drawLine(line)


def _draw_series(ink: Ink, series: Series, joined: float, across: Scale, upright: Scale) -> Hits:
    places = [_place(p.x, p.y, across, upright) for p in series.points]
    ink.painter.setPen(QPen(ink.colour(series.slot), ink.px(2), DASHES[series.style % len(DASHES)]))
    for run in _runs(series, joined):
        ink.painter.drawPolyline(QPolygonF([places[n] for n in run]))
    for place, point in zip(places, series.points, strict=True):
        ink.painter.setPen(QPen(ink.theme.colour("text"), ink.px(1.2)))
        ends = [QPointF(place.x(), upright.at(end)) for end in (point.low, point.high)]
        ink.painter.drawLine(*ends)
        ink.sign(place, series.slot, hollow=series.hollow, style=series.style)
    texts = [f"{p.text}\n{p.datum.origin}" for p in series.points]
    return list(zip([_around(ink, place) for place in places], texts, strict=True))


def _runs(series: Series, joined: float) -> list[list[int]]:
    """Return the numbers of the points that a line joins; no line goes over a wide gap in x."""
    runs: list[list[int]] = [[]]
    for number, point in enumerate(series.points):
        if number and point.x > joined * series.points[number - 1].x:
            runs.append([])
        runs[-1].append(number)
    return [run for run in runs if len(run) > 1]
