"""The names of a device's roofs: along a slope where there is room, else above all roofs, where nothing is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPen, QPolygonF, QTransform

from ...charts.figure import Roof
from ...charts.wording import number_text
from ..common.geometry import Scale
from .ink import Ink

DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DashDotLine)
SAMPLE = 26  # pixels of the piece of a line beside its name
WHERE = (0.5, 0.38, 0.62, 0.28, 0.72)  # shares of a slope at which its name may stand, the best first
Line = tuple[str, Qt.PenStyle, str]  # a name, how its line is drawn, and in which ink


@dataclass(frozen=True)
class Names:
    """Where names may stand: from `left` on, from `top` down, and on none of the `taken` places."""

    left: float
    top: float
    taken: Sequence[QRectF]


def dash_of(roof: Roof) -> Qt.PenStyle:
    """Return how a roof is drawn; dotted lines are those beside a roof."""
    return DASHES[roof.style % len(DASHES)]


def corners(roof: Roof, across: Scale, upright: Scale) -> list[QPointF]:
    """Return where the slope begins, where it ends, and where the flat part ends."""
    start = max(across.low, upright.low / roof.gb_per_s)
    ends = [
        (start, start * roof.gb_per_s),
        (roof.gflop_per_s / roof.gb_per_s, roof.gflop_per_s),
        (across.high, roof.gflop_per_s),
    ]
    return [QPointF(across.at(x), upright.at(y)) for x, y in ends]


def names_height(ink: Ink, roofs: Sequence[Roof]) -> float:
    """Return the height that is kept free above all roofs, for each name a line."""
    lines = len(_flat(roofs)) + len(_slopes(roofs))
    return lines * ink.height(12) + ink.px(6) if roofs else 0.0


def name_roofs(ink: Ink, roofs: Sequence[Roof], across: Scale, upright: Scale, room: Names) -> None:
    """Write what every roof is, and how high."""
    lines = _flat(roofs)
    width = max((ink.width(text, 12) for text, *_ in lines), default=0) + ink.px(SAMPLE + 8)
    above = len(lines) * ink.height(12)
    stack = QRectF(across.end - width, room.top, width, above)
    taken = [*room.taken, stack]
    for roof in _slopes(roofs):
        place = _along(ink, roof, across, upright, taken)
        if place is None:
            lines.append((_slope_name(roof), dash_of(roof), "text"))
        else:
            _write_along(ink, _slope_name(roof), place)
            taken.append(place.mapRect(_ground(ink, _slope_name(roof))))
    for number, line in enumerate(lines):
        _write_line(ink, line, QPointF(across.end, room.top + (number + 0.5) * ink.height(12)), room.left)


def _flat(roofs: Sequence[Roof]) -> list[Line]:
    """Return the names of the flat parts; with the device's where there are several."""
    several = len({roof.name for roof in roofs}) > 1
    lines: list[Line] = []
    for roof in roofs:
        whose = f", {roof.name}" if several else ""
        first = f"{roof.dtype} {roof.brief}: {number_text(roof.gflop_per_s)} GFLOP/s{whose}"
        lines.append((first, dash_of(roof), "text"))
        for _, rate in roof.beside:
            text = f"{roof.dtype} multiply-adds: {number_text(rate)} GFLOP/s{whose}"
            lines.append((text, Qt.PenStyle.DotLine, "muted"))
    return lines


def _slopes(roofs: Sequence[Roof]) -> list[Roof]:
    """Return a roof for each slope: the dtypes of a device have one in common."""
    return list({(roof.name, roof.gb_per_s): roof for roof in reversed(roofs)}.values())[::-1]


def _slope_name(roof: Roof) -> str:
    return f"copy: {number_text(roof.gb_per_s)} GB/s, {roof.name}"


def _ground(ink: Ink, text: str) -> QRectF:
    """Return the place of a name above the middle of its slope, before it is turned."""
    width, high = ink.width(text, 12) + 2, ink.height(12)
    return QRectF(-width / 2, -high - ink.px(4), width, high)


def _along(ink: Ink, roof: Roof, across: Scale, upright: Scale, taken: Sequence[QRectF]) -> QTransform | None:
    """Return how a name is turned and moved to its slope; None where it would not fit or would cover something."""
    start, end = corners(roof, across, upright)[:2]
    way, ground = end - start, _ground(ink, _slope_name(roof))
    length = hypot(way.x(), way.y())
    for share in WHERE:
        middle = start + way * share
        turn = QTransform(way.x(), way.y(), -way.y(), way.x(), 0, 0)
        turn = QTransform.fromScale(1 / max(length, 1), 1 / max(length, 1)) * turn
        turn = turn * QTransform.fromTranslate(middle.x(), middle.y())
        shape = QPolygonF(turn.map(QPolygonF(ground)))
        fits = ground.width() / 2 <= min(share, 1 - share) * length
        if fits and not any(shape.intersects(QPolygonF(other)) for other in taken):
            return turn
    return None


def _write_along(ink: Ink, text: str, place: QTransform) -> None:
    ink.painter.save()
    ink.painter.setTransform(place, True)
    ink.text(_ground(ink, text), text, 12)
    ink.painter.restore()


def _write_line(ink: Ink, line: Line, end: QPointF, left: float) -> None:
    """Write a name that ends here, behind a piece of its line; in smaller letters where it would not fit."""
    text, dash, colour = line
    room = end.x() - left - ink.px(SAMPLE + 6)
    size = 12 * min(1.0, 0.98 * room / (ink.width(text, 12) + 2))
    width, high = min(ink.width(text, size) + 2, room), ink.height(12)
    start = end.x() - width
    ink.painter.setPen(QPen(ink.theme.colour(colour), ink.px(2 if colour == "text" else 1.5), dash))
    ink.painter.drawLine(QPointF(start - ink.px(SAMPLE + 6), end.y()), QPointF(start - ink.px(6), end.y()))
    ink.text(QRectF(start, end.y() - high / 2, width, high), text, size)
