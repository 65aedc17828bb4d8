"""A panel of points: lines over a size, or points below the roofs of a device with their names."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

from msgspec import Struct
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPen, QPolygonF, QTransform

from ...charts.figure import Level, PointPanel, Roof, Series
from ...charts.wording import number_text
from ..common.geometry import Scale, log_range
from .axis import axis_height, draw_axis, draw_upright_axis, draw_upright_label, label_height, number_width
from .bars import Hits
from .ink import DASHES, Ink
from .point_labels import draw_labels

RING = 4  # pixels: the radius of a ring
NEAR = 9  # pixels around a point in which its tooltip is shown
ROOF_DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DashDotLine)
MOST_BEYOND = 64  # how many times farther right than everything else a ring may be; then an arrow replaces it
SAMPLE = 26  # pixels of the piece of a line next to its name
WHERE = (0.5, 0.38, 0.62, 0.28, 0.72)  # shares of a slope where its name may be, the best first
RoofLine = tuple[str, Qt.PenStyle, str]  # a name, the dashes of its line, and the colour


def draw_points(ink: Ink, panel: PointPanel, box: QRectF) -> Hits:
    """Draw a panel in a box; return the tooltips and their boxes."""
    label = label_height(ink, panel.y, box.width()) + ink.px(4)
    below = axis_height(ink, panel.x, box.width())
    label += names_height(ink, panel.roofs)
    plot = QRectF(box.left(), box.top() + label, box.width(), box.height() - label - below)
    upright = Scale(*_height(panel), plot.bottom(), plot.top(), panel.y.log)
    plot.setLeft(box.left() + number_width(ink, panel.y, upright))
    plot.setRight(box.right() - ink.px(14))
    across = Scale(*_width(panel), plot.left(), plot.right(), panel.x.log)
    draw_upright_label(ink, panel.y, QRectF(box.left(), box.top(), box.width(), 0))
    draw_upright_axis(ink, panel.y, upright, plot)
    draw_axis(ink, panel.x, across, plot, box)
    for roof in panel.roofs:
        _draw_roof(ink, roof, across, upright)
    levels = [_draw_level(ink, level, upright, plot) for level in panel.levels]
    signs = [
        _around(ink, _point(p.x, p.y, across, upright)) for series in panel.series for p in series.points
    ]
    signs += [
        _offset_box(_point(p.x, p.y, across, upright), across, p.measured_x)
        for series in panel.series
        for p in series.points
        if p.measured_x is not None
    ]
    name_roofs(
        ink,
        panel.roofs,
        across,
        upright,
        NameRoom(box.left(), plot.top() - names_height(ink, panel.roofs), signs),
    )
    hits = [
        hit for series in panel.series for hit in _draw_series(ink, series, panel.joined, across, upright)
    ]
    places = [[_point(p.x, p.y, across, upright) for p in series.points] for series in panel.series]
    draw_labels(ink, panel, places, levels, plot)
    return hits


def _point(x: float, y: float, across: Scale, upright: Scale) -> QPointF:
    return QPointF(across.to_pixel(x), upright.to_pixel(y))


def _around(ink: Ink, place: QPointF) -> QRectF:
    """Return the box of a point's tooltip."""
    near = ink.px(NEAR)
    return QRectF(place.x() - near, place.y() - near, 2 * near, 2 * near)


def _roof_heights(panel: PointPanel) -> list[float]:
    return [
        rate for roof in panel.roofs for rate in (roof.gflop_per_s, *(rate for _, rate in roof.other_rates))
    ]


def _height(panel: PointPanel) -> tuple[float, float]:
    """Return the range of y: the intervals, and the top of every roof and level; linear axes begin at 0."""
    ys = [v for s in panel.series for p in s.points for v in (p.low, p.high)] or [1.0]
    ys += [*_roof_heights(panel), *(level.value for level in panel.levels)]
    return log_range(ys) if panel.y.log else (0.0, 1.12 * max(ys))


def _width(panel: PointPanel) -> tuple[float, float]:
    """Return the range of x: the points, and the ridge of every roof."""
    xs = [point.x for series in panel.series for point in series.points] or [1.0]
    if not panel.x.log:
        margin = 0.04 * (max(xs) - min(xs)) or 1.0
        return min(xs) - margin, max(xs) + margin
    ridges = [roof.gflop_per_s / roof.gb_per_s for roof in panel.roofs]
    most = MOST_BEYOND * max([*xs, *ridges])
    rings = [p.measured_x for s in panel.series for p in s.points if p.measured_x and p.measured_x <= most]
    return log_range([*xs, *rings, *(4 * ridge for ridge in ridges)], 1.6 if ridges else 1.15)


def _draw_roof(ink: Ink, roof: Roof, across: Scale, upright: Scale) -> None:
    """Draw min(bandwidth * intensity, peak), and other rates as dotted lines."""
    places = roof_corners(roof, across, upright)
    ink.painter.setPen(QPen(ink.theme.colour("text"), ink.px(2), roof_dash(roof)))
    ink.painter.drawPolyline(QPolygonF(places))
    for _, rate in roof.other_rates:
        line = QLineF(
            across.to_pixel(rate / roof.gb_per_s),
            upright.to_pixel(rate),
            places[2].x(),
            upright.to_pixel(rate),
        )
        ink.painter.setPen(QPen(ink.theme.colour("muted"), ink.px(1.5), Qt.PenStyle.DotLine))
        ink.painter.drawLine(line)


def _draw_level(ink: Ink, level: Level, upright: Scale, plot: QRectF) -> QRectF:
    """Draw a line across the plot with its text; return the box of both."""
    y, height = upright.to_pixel(level.value), ink.height(12)
    ink.painter.setPen(QPen(ink.theme.colour("muted"), ink.px(1.5), Qt.PenStyle.DashLine))
    ink.painter.drawLine(QLineF(plot.left(), y, plot.right(), y))
    width = min(ink.width(level.text, 12) + ink.px(4), plot.width())
    box = QRectF(plot.right() - width, y - height - ink.px(3), width, height)
    ink.painter.fillRect(box, ink.theme.colour("panel"))
    ink.text(box, level.text, 12, ink="muted", align=Qt.AlignmentFlag.AlignRight)
    return box.united(QRectF(plot.left(), y - 1, plot.width(), 2))


def _draw_series(ink: Ink, series: Series, joined: float, across: Scale, upright: Scale) -> Hits:
    places = [_point(p.x, p.y, across, upright) for p in series.points]
    ink.painter.setPen(QPen(ink.colour(series.slot), ink.px(2), DASHES[series.style % len(DASHES)]))
    for run in _runs(series, joined):
        ink.painter.drawPolyline(QPolygonF([places[n] for n in run]))
    texts = [f"{p.text}\n{p.datum.origin}" for p in series.points]
    hits: Hits = []
    for place, point, text in zip(places, series.points, texts, strict=True):
        if point.measured_x is not None:
            hits.append((_around(ink, _draw_offset(ink, place, across, point.measured_x, series.slot)), text))
        ink.painter.setPen(QPen(ink.theme.colour("text"), ink.px(1.2)))
        ends = [QPointF(place.x(), upright.to_pixel(end)) for end in (point.low, point.high)]
        ink.painter.drawLine(*ends)
        ink.sign(place, series.slot, hollow=series.hollow, style=series.style)
    return hits + list(zip([_around(ink, place) for place in places], texts, strict=True))


def _offset_box(place: QPointF, across: Scale, measured_x: float) -> QRectF:
    """Return the box of the line from a point to its measured x."""
    end = QPointF(_end_of_offset(across, measured_x), place.y())
    return QRectF(place, end).normalized().adjusted(0, -1, 0, 1)


def _end_of_offset(across: Scale, measured_x: float) -> float:
    return across.to_pixel(min(max(measured_x, across.low), across.high))


def _draw_offset(ink: Ink, place: QPointF, across: Scale, measured_x: float, slot: int) -> QPointF:
    """Draw a line from a point to its measured x; return its end.

    The end is a ring, or an arrow if it is beyond the plot.
    """
    inside = across.low <= measured_x <= across.high
    end = QPointF(_end_of_offset(across, measured_x), place.y())
    forward = 1 if end.x() > place.x() else -1
    ink.painter.setPen(QPen(ink.colour(slot), ink.px(1.5), Qt.PenStyle.DotLine))
    ink.painter.drawLine(place, end - QPointF(forward * ink.px(RING if inside else 0), 0))
    ink.painter.setPen(QPen(ink.colour(slot), ink.px(1.6)))
    ink.painter.setBrush(Qt.BrushStyle.NoBrush)
    if inside:
        ink.painter.drawEllipse(end, ink.px(RING), ink.px(RING))
    else:
        back, up = -forward * ink.px(8), ink.px(4)
        ink.painter.drawPolyline(QPolygonF([end + QPointF(back, -up), end, end + QPointF(back, up)]))
    return end


def _runs(series: Series, joined: float) -> list[list[int]]:
    """Return the indices of points that lines join; no line crosses a wide gap in x."""
    runs: list[list[int]] = [[]]
    for number, point in enumerate(series.points):
        if number and point.x > joined * series.points[number - 1].x:
            runs.append([])
        runs[-1].append(number)
    return [run for run in runs if len(run) > 1]


class NameRoom(Struct, frozen=True):
    """The room for names: from `left` on, below `top`, and outside the `taken` boxes."""

    left: float
    top: float
    taken: Sequence[QRectF]


def roof_dash(roof: Roof) -> Qt.PenStyle:
    """Return the dashes of a roof; dotted lines are other rates."""
    return ROOF_DASHES[roof.style % len(ROOF_DASHES)]


def roof_corners(roof: Roof, across: Scale, upright: Scale) -> list[QPointF]:
    """Return the start and the end of the slope, and the end of the flat part."""
    start = max(across.low, upright.low / roof.gb_per_s)
    ends = [
        (start, start * roof.gb_per_s),
        (roof.gflop_per_s / roof.gb_per_s, roof.gflop_per_s),
        (across.high, roof.gflop_per_s),
    ]
    return [QPointF(across.to_pixel(x), upright.to_pixel(y)) for x, y in ends]


def names_height(ink: Ink, roofs: Sequence[Roof]) -> float:
    """Return the height above the plot for the names of roofs, one line each."""
    lines = len(_flat_names(roofs)) + len(_slopes(roofs))
    return lines * ink.height(12) + ink.px(6) if roofs else 0.0


def name_roofs(ink: Ink, roofs: Sequence[Roof], across: Scale, upright: Scale, room: NameRoom) -> None:
    """Write the name and the height of every roof."""
    lines = _flat_names(roofs)
    width = max((ink.width(text, 12) for text, *_ in lines), default=0) + ink.px(SAMPLE + 8)
    above = len(lines) * ink.height(12)
    stack = QRectF(across.end - width, room.top, width, above)
    taken = [*room.taken, stack, *(line for roof in roofs for line in _flat_lines(roof, across, upright))]
    for roof in _slopes(roofs):
        place = _name_transform(ink, roof, across, upright, taken)
        if place is None:
            lines.append((_slope_name(roof), roof_dash(roof), "text"))
        else:
            _write_on_slope(ink, _slope_name(roof), place)
            taken.append(place.mapRect(_name_box(ink, _slope_name(roof))))
    for number, line in enumerate(lines):
        _write_line(ink, line, QPointF(across.end, room.top + (number + 0.5) * ink.height(12)), room.left)


def _flat_names(roofs: Sequence[Roof]) -> list[RoofLine]:
    """Return the names of the flat parts, with the device if there are several."""
    several = len({roof.name for roof in roofs}) > 1
    lines: list[RoofLine] = []
    for roof in roofs:
        device = f", {roof.name}" if several else ""
        first = f"{roof.dtype} {roof.brief}: {number_text(roof.gflop_per_s)} GFLOP/s{device}"
        lines.append((first, roof_dash(roof), "text"))
        for _, rate in roof.other_rates:
            text = f"{roof.dtype} multiply-adds: {number_text(rate)} GFLOP/s{device}"
            lines.append((text, Qt.PenStyle.DotLine, "muted"))
    return lines


def _flat_lines(roof: Roof, across: Scale, upright: Scale) -> list[QRectF]:
    """Return the boxes of the flat part of a roof and of its dotted lines."""
    rates = (roof.gflop_per_s, *(rate for _, rate in roof.other_rates))
    starts = [QPointF(across.to_pixel(rate / roof.gb_per_s), upright.to_pixel(rate)) for rate in rates]
    return [
        QRectF(start, QPointF(across.end, start.y())).normalized().adjusted(0, -1, 0, 1) for start in starts
    ]


def _slopes(roofs: Sequence[Roof]) -> list[Roof]:
    """Return one roof per slope: the dtypes of a device share it."""
    return list({(roof.name, roof.gb_per_s): roof for roof in reversed(roofs)}.values())[::-1]


def _slope_name(roof: Roof) -> str:
    return f"copy: {number_text(roof.gb_per_s)} GB/s, {roof.name}"


def _name_box(ink: Ink, text: str) -> QRectF:
    """Return the box of a name above the middle of its slope, before the rotation."""
    width, height = ink.width(text, 12) + 2, ink.height(12)
    return QRectF(-width / 2, -height - ink.px(4), width, height)


def _name_transform(
    ink: Ink, roof: Roof, across: Scale, upright: Scale, taken: Sequence[QRectF]
) -> QTransform | None:
    """Return the transform that puts a name on its slope; None if it does not fit or would cover something."""
    start, end = roof_corners(roof, across, upright)[:2]
    direction, box = end - start, _name_box(ink, _slope_name(roof))
    length = hypot(direction.x(), direction.y())
    for share in WHERE:
        middle = start + direction * share
        turn = QTransform(direction.x(), direction.y(), -direction.y(), direction.x(), 0, 0)
        turn = QTransform.fromScale(1 / max(length, 1), 1 / max(length, 1)) * turn
        turn = turn * QTransform.fromTranslate(middle.x(), middle.y())
        shape = QPolygonF(turn.map(QPolygonF(box)))
        fits = box.width() / 2 <= min(share, 1 - share) * length
        if fits and not any(shape.intersects(QPolygonF(other)) for other in taken):
            return turn
    return None


def _write_on_slope(ink: Ink, text: str, place: QTransform) -> None:
    ink.painter.save()
    ink.painter.setTransform(place, True)
    ink.text(_name_box(ink, text), text, 12)
    ink.painter.restore()


def _write_line(ink: Ink, line: RoofLine, end: QPointF, left: float) -> None:
    """Write a name that ends at a point, after a piece of its line; smaller if it would not fit."""
    text, dash, colour = line
    room = end.x() - left - ink.px(SAMPLE + 6)
    size = 12 * min(1.0, 0.98 * room / (ink.width(text, 12) + 2))
    width, height = min(ink.width(text, size) + 2, room), ink.height(12)
    start = end.x() - width
    ink.painter.setPen(QPen(ink.theme.colour(colour), ink.px(2 if colour == "text" else 1.5), dash))
    ink.painter.drawLine(QPointF(start - ink.px(SAMPLE + 6), end.y()), QPointF(start - ink.px(6), end.y()))
    ink.text(QRectF(start, end.y() - height / 2, width, height), text, size)
