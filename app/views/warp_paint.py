"""Brushes for the picture of a warp's request: lanes, sectors, banks, and which lane touches what."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen

from ...tracer.trace import WARP
from ..theme import Theme
from .lanes import Lanes
from .lanes_text import address_text, index_text
from .patterns import mixed
from .warp_plan import Box, Plan, Widths
from .wording import buffer_text

SMALL, LEAST = 11.5, 8.0  # sizes of the words
CAPTION, FOOT = 18.0, 24.0  # heights above and below the lanes
MARK = 12.0  # width of a lane's box where its number stands beside it
FAINT = 0.3  # how much is left of what the pointer is not on
LEFT, RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
CENTRE, UPRIGHT = Qt.AlignmentFlag.AlignCenter, Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn: a request, where its parts stand, the selected lane, and the lanes under the pointer.

    strong: those whose ways are stressed; lit: those that meet them, all others are drawn faintly. Both are
    empty while the pointer is elsewhere.
    """

    lanes: Lanes
    plan: Plan
    theme: Theme
    chosen: int
    strong: frozenset[int]
    lit: frozenset[int]

    @property
    def ink(self) -> QColor:
        """The colour of the request's kind."""
        return self.theme.colour(self.lanes.kind)

    def strength(self, *lanes: int) -> float:
        """Return how strongly what belongs to some lanes is drawn."""
        return 1.0 if not self.lit or any(lane in self.lit for lane in lanes) else FAINT

    @property
    def every(self) -> int:
        """Of how many lanes one is labelled: all where rows are tall enough for words."""
        return every(self.plan.row, self.theme)

    @cached_property
    def labelled(self) -> frozenset[int]:
        """The lanes that are labelled: the selected one, those under the pointer, and of the others what fits."""
        found: list[int] = []
        for lane in (self.chosen, *sorted(self.strong), *range(0, WARP, self.every)):
            if lane >= 0 and all(abs(lane - other) >= self.every for other in found):
                found.append(lane)
        return frozenset(found)

    @property
    def size(self) -> float:
        """The size of the words beside the lanes."""
        return min(SMALL, max(LEAST, 0.78 * self.plan.row * self.every / self.theme.scale))


def every(row: float, theme: Theme) -> int:
    """Return of how many rows of this height one has room for words: 1, 2, 4 ..."""
    return 1 << max(0, math.ceil(math.log2(theme.px(LEAST) * 1.25 / row)))


def widths_of(lanes: Lanes, row: float, theme: Theme) -> Widths:
    """Return what the words need in pixels."""
    small, mono = QFontMetricsF(theme.font(SMALL)), QFontMetricsF(theme.font(SMALL, mono=True))
    active = lanes.active
    longest = max((index_text(lanes, lane) for lane in active), key=len, default="")
    last = address_text(int(lanes.address.max(initial=0)))
    gap = float(theme.px(12))
    addressed = bool(active) and lanes.buffer.space != "local"
    chip = max(small.horizontalAdvance("31") + theme.px(10), min(row * 1.6, theme.px(30)))
    return Widths(
        chip if every(row, theme) == 1 else small.horizontalAdvance("31") + theme.px(MARK + 3),
        max(small.horizontalAdvance("element"), mono.horizontalAdvance(longest)) + gap if active else 0.0,
        mono.horizontalAdvance(last) + gap if addressed else 0.0,
        small.horizontalAdvance("32 B") + gap / 2,
        gap,
    )


def paint_scene(painter: QPainter, scene: Scene) -> None:
    """Draw everything but captions and legend."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw = _draw_banks if scene.lanes.kind and scene.lanes.buffer.space == "shared" else _draw_sectors
    if scene.plan.tracks:
        draw(painter, scene)
        _draw_ways(painter, scene)
    for lane in range(WARP):
        _draw_lane(painter, scene, lane)
    painter.setOpacity(1)


def _rect(box: Box, inset: float = 0.0) -> QRectF:
    return QRectF(box.x, box.y, box.width, box.height).adjusted(inset, inset, -inset, -inset)


def _draw_lane(painter: QPainter, scene: Scene, lane: int) -> None:
    """Draw a lane's box: filled if it takes part, open if it is idle, dotted if it has no thread; and its words.

    Its number stands in the box, or beside it where rows are too low for all the numbers.
    """
    box, theme, active = scene.plan.chips[lane], scene.theme, bool(scene.lanes.row[lane] >= 0)
    painter.setOpacity(scene.strength(lane))
    crowded = scene.every > 1
    mark = box._replace(x=box.right - theme.px(MARK), width=theme.px(MARK)) if crowded else box
    _draw_box(painter, scene, lane, mark)
    if lane in scene.labelled:
        ink = contrasting(scene.ink) if active and not crowded else theme.colour("muted")
        room = _spread(box._replace(width=box.width - theme.px(MARK + 3)) if crowded else box, scene)
        bold = lane == scene.chosen
        _write(painter, scene, room, str(lane), ink, RIGHT if crowded else CENTRE, bold=bold)
        _write_words(painter, scene, lane)


def _draw_box(painter: QPainter, scene: Scene, lane: int, box: Box) -> None:
    theme, active, chosen = scene.theme, scene.lanes.row[lane] >= 0, lane == scene.chosen
    style = Qt.PenStyle.SolidLine if scene.lanes.present[lane] else Qt.PenStyle.DotLine
    painter.setPen(QPen(theme.colour("text" if chosen else "muted"), 2.0 if chosen else 0.8, style))
    if active and not chosen:
        painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(scene.ink if active else Qt.BrushStyle.NoBrush)
    inside = _rect(box, max(0.5, min(1.0, box.height * 0.06)) + 0.5 * chosen)
    painter.drawRoundedRect(inside, theme.px(2), theme.px(2))


def _spread(box: Box, scene: Scene) -> QRectF:
    """Return a box as tall as the rows that its words may cover."""
    return QRectF(box.x, box.middle - 0.5 * scene.plan.row * scene.every, box.width, box.height * scene.every)


def _write_words(painter: QPainter, scene: Scene, lane: int) -> None:
    """Write which element a lane touches and its address."""
    plan, theme, gap = scene.plan, scene.theme, scene.theme.px(6)
    box, chosen = _spread(plan.chips[lane], scene), lane == scene.chosen
    if scene.lanes.row[lane] < 0:
        text = "idle" if scene.lanes.present[lane] else "no thread"
        room = QRectF(plan.element[0] + gap, box.y(), max(plan.element[1], theme.px(60)), box.height())
        _write(painter, scene, room, text, theme.colour("muted"), LEFT)
        return
    for (x, width), text, ink in (
        (plan.element, index_text(scene.lanes, lane), "text"),
        (plan.address, address_text(int(scene.lanes.address[lane])), "muted"),
    ):
        if width:
            room = QRectF(x + gap, box.y(), width, box.height())
            _write(painter, scene, room, text, theme.colour(ink), LEFT, bold=chosen, mono=True)


def _write(
    painter: QPainter, scene: Scene, box: QRectF, text: str, ink: QColor, side: Qt.AlignmentFlag, *,
    bold: bool = False, mono: bool = False,
) -> None:  # fmt: skip
    painter.setFont(scene.theme.font(scene.size, bold=bold, mono=mono))
    painter.setPen(ink)
    painter.drawText(box, side | UPRIGHT | Qt.TextFlag.TextDontClip, text)


def contrasting(colour: QColor) -> QColor:
    """Return black or white, whichever reads better on a colour (relative luminance of WCAG 2.1)."""
    channels = [colour.redF(), colour.greenF(), colour.blueF()]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return QColor("#000000" if light > 0.22 else "#FFFFFF")


def stripes(painter: QPainter, box: QRectF, colour: QColor, step: float) -> None:
    """Draw thin diagonals into a box, `step` pixels apart."""
    painter.save()
    painter.setClipRect(box, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(colour, max(1.0, step / 5)))
    tall = box.height()
    # Lines follow a common grid, so that the pattern of a box does not depend on where its neighbours end.
    begin = math.floor((box.left() - tall) / step) * step + (box.bottom() % step)
    count = int((box.width() + 2 * tall) / step) + 2
    starts = [begin + i * step for i in range(count)]
    painter.drawLines([QLineF(x, box.bottom(), x + tall, box.top()) for x in starts])
    painter.restore()


def _draw_sectors(painter: QPainter, scene: Scene) -> None:
    """Draw the touched sectors: striped, and solid where lanes use them; brackets hold a 128-byte line together."""
    theme, plan = scene.theme, scene.plan
    for number, box in plan.tracks.items():
        users = [lane for p in scene.lanes.pieces if p.place == number for lane in p.lanes]
        painter.setOpacity(scene.strength(*users))
        draw_wasted(painter, _rect(box), theme)
        used = 0
        for piece, part in zip(scene.lanes.pieces, plan.slices, strict=True):
            if piece.place == number:
                used += piece.end - piece.first
                painter.fillRect(_rect(part._replace(height=max(part.height, 1.2))), scene.ink)
                _count_lanes(painter, scene, part, len(piece.lanes))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.colour("muted"), 1))
        painter.drawRect(_rect(box, 0.5))
        _write_used(painter, scene, box, used)
    painter.setOpacity(1)
    _draw_lines(painter, scene)


def draw_wasted(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Fill a box as bytes that are moved but not used."""
    painter.fillRect(box, theme.colour("badge"))
    stripes(painter, box, mixed(theme.colour("muted"), theme.palette.badge, 0.4), theme.px(5))


def _count_lanes(painter: QPainter, scene: Scene, box: Box, lanes: int) -> None:
    """Write how many lanes share a place, where more than one does and there is room."""
    if lanes > 1 and box.height >= scene.theme.px(scene.size) and box.width >= scene.theme.px(26):
        _write(painter, scene, _rect(box), f"×{lanes}", contrasting(scene.ink), CENTRE, bold=True)


def _write_used(painter: QPainter, scene: Scene, box: Box, used: int) -> None:
    x, width = scene.plan.note
    if width and box.height >= 0.9 * scene.theme.px(scene.size):
        room = QRectF(x, box.y, width, box.height)
        _write(painter, scene, room, f"{used} B", scene.theme.colour("muted"), RIGHT)


def _draw_lines(painter: QPainter, scene: Scene) -> None:
    painter.setPen(QPen(scene.theme.colour("muted"), max(1.0, scene.theme.scale * 1.5)))
    for first, last in scene.plan.lines:
        top, bottom = scene.plan.tracks[first], scene.plan.tracks[last]
        x = top.right + scene.theme.px(3)
        painter.drawLine(QPointF(x, top.y + 1), QPointF(x, bottom.y + bottom.height - 1))


def _draw_banks(painter: QPainter, scene: Scene) -> None:
    """Draw the banks; each word that lanes want is a cell, striped from the first that costs another pass on."""
    theme, plan, depth = scene.theme, scene.plan, dict.fromkeys(scene.plan.tracks, 0)
    for bank, box in plan.tracks.items():
        painter.setOpacity(1)
        painter.fillRect(_rect(box, 0.5), theme.colour("badge"))
        if bank % scene.every == 0 and plan.note[1]:
            room = QRectF(plan.note[0], _spread(box, scene).y(), plan.note[1], _spread(box, scene).height())
            _write(painter, scene, room, str(bank), theme.colour("muted"), RIGHT)
    for piece, part in zip(scene.lanes.pieces, plan.slices, strict=True):
        depth[piece.place] += 1
        painter.setOpacity(scene.strength(*piece.lanes))
        inside = _rect(part, min(0.75, part.width * 0.12))
        painter.fillRect(inside, scene.ink)
        if depth[piece.place] > scene.lanes.least:
            stripes(painter, inside, mixed(scene.ink, "#000000", 0.5), theme.px(4))
        _write_word(painter, scene, part, piece.lanes)
        if scene.chosen in piece.lanes:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour("text"), max(1.5, 1.5 * theme.scale)))
            painter.drawRect(inside)


def _write_word(painter: QPainter, scene: Scene, box: Box, lanes: tuple[int, ...]) -> None:
    """Write which lane wants a word, or how many do, where there is room."""
    text = str(lanes[0]) if len(lanes) == 1 else f"×{len(lanes)}"
    metrics = QFontMetricsF(scene.theme.font(scene.size, bold=True))
    if scene.every == 1 and metrics.horizontalAdvance(text) + 2 <= box.width:
        _write(painter, scene, _rect(box), text, contrasting(scene.ink), CENTRE, bold=len(lanes) > 1)


def _draw_ways(painter: QPainter, scene: Scene) -> None:
    """Connect each lane with what it touches, the selected lane and those under the pointer last and strongest."""
    ways = [(lane, place) for place, piece in enumerate(scene.lanes.pieces) for lane in piece.lanes]
    for lane, place in sorted(ways, key=lambda way: (way[0] in scene.strong, way[0] == scene.chosen)):
        strong = lane in scene.strong or (not scene.lit and lane == scene.chosen)
        painter.setOpacity(1.0 if strong else 0.8 * scene.strength(lane))
        ink = scene.theme.colour("text") if strong else scene.ink
        painter.setPen(QPen(ink, scene.theme.scale * (2.0 if strong else 1.0)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(_way(scene, lane, place))


def _way(scene: Scene, lane: int, place: int) -> QPainterPath:
    """Return the line from a lane's words to its piece of a sector, or to its bank."""
    plan, piece = scene.plan, scene.lanes.pieces[place]
    end = plan.tracks[piece.place] if scene.lanes.buffer.space == "shared" else plan.slices[place]
    x = plan.address[0] + plan.address[1] + scene.theme.px(4)
    start, stop = QPointF(x, plan.chips[lane].middle), QPointF(end.x, end.middle)
    middle = (start.x() + stop.x()) / 2
    path = QPainterPath(start)
    path.cubicTo(QPointF(middle, start.y()), QPointF(middle, stop.y()), stop)
    return path


def paint_captions(painter: QPainter, scene: Scene) -> None:
    """Write above the columns what they are."""
    plan, theme = scene.plan, scene.theme
    tall, gap = plan.chips[0].y, theme.px(6)
    names = [(0.0, plan.chips[0].width, "lane", CENTRE)]
    if scene.lanes.kind:
        names.append((plan.element[0] + gap, plan.element[1], buffer_text(scene.lanes.buffer), LEFT))
        names.append((plan.address[0] + gap, plan.address[1], "address", LEFT))
    if plan.tracks:
        track = next(iter(plan.tracks.values()))
        shared = scene.lanes.buffer.space == "shared"
        names.append((track.x, track.width, "words per bank" if shared else "32-byte sectors", LEFT))
        names.append((*plan.note, "bank" if shared else "used", RIGHT))
    painter.setFont(theme.font(10.5))
    painter.setPen(theme.colour("muted"))
    for x, width, text, side in names:
        if width:
            text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, round(width) + 1)
            painter.drawText(QRectF(x, 0, width, tall), side | UPRIGHT, text)


def paint_legend(painter: QPainter, scene: Scene, box: QRectF) -> None:
    """Say below the picture what solid, striped and brackets mean."""
    painter.setFont(scene.theme.font(10.5))
    x, side = box.x(), float(scene.theme.px(11))
    for sign, text in _legend(scene):
        where = QRectF(x, box.center().y() - side / 2, side, side)
        width = painter.fontMetrics().horizontalAdvance(text)
        if where.right() + scene.theme.px(5) + width > box.right() + 1:
            return
        _draw_sign(painter, scene, sign, where)
        painter.setPen(scene.theme.colour("muted"))
        words = QRectF(where.right() + scene.theme.px(5), box.y(), width + 1, box.height())
        painter.drawText(words, UPRIGHT | Qt.TextFlag.TextDontClip, text)
        x = words.right() + scene.theme.px(12)


def _legend(scene: Scene) -> list[tuple[str, str]]:
    """Return the signs that occur in the picture and what they mean."""
    if not scene.plan.tracks:
        return []
    if scene.lanes.buffer.space == "shared":
        more = [("again", "a word that costs another pass")] if scene.lanes.cost > scene.lanes.least else []
        return [("used", "a word"), *more]
    return [("used", "used"), ("wasted", "moved, not used"), ("line", "128-byte line")]


def _draw_sign(painter: QPainter, scene: Scene, sign: str, box: QRectF) -> None:
    theme = scene.theme
    if sign == "line":
        painter.setPen(QPen(theme.colour("muted"), max(1.0, theme.scale * 1.5)))
        painter.drawLine(QLineF(box.center().x(), box.top(), box.center().x(), box.bottom()))
    elif sign == "wasted":
        draw_wasted(painter, box, theme)
    else:
        painter.fillRect(box, scene.ink)
    if sign == "again":
        stripes(painter, box, mixed(scene.ink, "#000000", 0.5), theme.px(4))
