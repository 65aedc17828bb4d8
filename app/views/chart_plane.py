"""A panel of points: lines over a size, or points under the roofs of a device."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, degrees

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
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
    _write_roofs(ink, panel.roofs, across, upright)
    return [hit for series in panel.series for hit in _draw_series(ink, series, across, upright)]


def _roof_heights(panel: Plane) -> list[float]:
    return [rate for roof in panel.roofs for rate in (roof.gflop_per_s, *(rate for _, rate in roof.beside))]


def _width(panel: Plane) -> tuple[float, float]:
    """Return the range of x: that of the points, with the ridge of every roof in sight."""
    xs = [point.x for series in panel.series for point in series.points] or [1.0]
    ridges = [roof.gflop_per_s / roof.gb_per_s for roof in panel.roofs]
    return log_range([*xs, *(4 * ridge for ridge in ridges)], 1.6 if ridges else 1.15)


def _corners(roof: Roof, across: Scale, upright: Scale) -> list[QPointF]:
    """Return where the slope begins, where it ends, and where the flat part ends."""
    start = max(across.low, upright.low / roof.gb_per_s)
    corners = [
        (start, start * roof.gb_per_s),
        (roof.gflop_per_s / roof.gb_per_s, roof.gflop_per_s),
        (across.high, roof.gflop_per_s),
    ]
    return [QPointF(across.at(x), upright.at(y)) for x, y in corners]


def _draw_roof(ink: Ink, roof: Roof, across: Scale, upright: Scale) -> None:
    """Draw min(bandwidth * intensity, peak), and dotted what else was reached."""
    places = _corners(roof, across, upright)
    ink.painter.setPen(QPen(ink.theme.colour("text"), ink.px(2), DASHES[roof.style % len(DASHES)]))
    ink.painter.drawPolyline(QPolygonF(places))
    for _, rate in roof.beside:
        line = QLineF(across.at(rate / roof.gb_per_s), upright.at(rate), places[2].x(), upright.at(rate))
        ink.painter.setPen(QPen(ink.theme.colour("muted"), ink.px(1.5), Qt.PenStyle.DotLine))
        ink.painter.drawLine(line)


def _write_roofs(ink: Ink, roofs: Sequence[Roof], across: Scale, upright: Scale) -> None:
    """Write at the roofs what they are, but for those whose words would lie on those of another."""
    written: list[QRectF] = []
    for roof in roofs:
        rates = [
            (roof.gflop_per_s, f"{roof.dtype} product"),
            *((rate, f"{roof.dtype} registers") for _, rate in roof.beside),
        ]
        highest = max(rate for rate, _ in rates)
        for rate, told in rates:
            text = f"{told} {number_text(rate)} GFLOP/s"
            width, high = ink.width(text, 12) + 2, ink.height(12)
            y = upright.at(rate) - high - ink.px(3) if rate == highest else upright.at(rate) + ink.px(3)
            box = QRectF(across.end - width, y, width, high)
            if not any(box.intersects(other) for other in written):
                ink.text(box, text, 12)
                written.append(box)
    _write_slopes(ink, roofs, across, upright)


def _write_slopes(ink: Ink, roofs: Sequence[Roof], across: Scale, upright: Scale) -> None:
    """Write along each slope that is a line of text away from those before."""
    heights: list[float] = []
    for roof in roofs:
        start, end = _corners(roof, across, upright)[:2]
        height = upright.at(roof.gb_per_s * across.low)
        if all(abs(height - other) > 1.5 * ink.height(12) for other in heights):
            _draw_slope_text(ink, f"copy {number_text(roof.gb_per_s)} GB/s, {roof.name}", start, end)
            heights.append(height)


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
