"""Drawing of a request's picture: lanes, sectors, banks, and the lines between them."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from ....tracer.analysis.request_cost import SECTOR
from ...widgets.patterns import mixed
from ...widgets.theme import STRONG, Theme, contrasting
from ..common.drawing import CENTRE, LEFT, MIDDLE, RIGHT, rect
from ..common.geometry import Box
from ..common.wording import buffer_text
from .lanes_text import address_text, index_text
from .scene import MARK, WarpScene, label_step, lanes_label, spread, stripes, write


def paint_scene(painter: QPainter, scene: WarpScene) -> None:
    """Draw everything except captions and legend."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw = _draw_banks if scene.lanes.kind and scene.lanes.buffer.space == "shared" else _draw_sectors
    if scene.layout.targets:
        draw(painter, scene)
        _draw_connections(painter, scene)
    for lane in range(len(scene.layout.chips)):
        _draw_lane(painter, scene, lane)
    painter.setOpacity(1)


def _draw_lane(painter: QPainter, scene: WarpScene, lane: int) -> None:
    """Draw a lane's box and texts: filled if it is active, open if idle, dotted without a thread.

    Its number is in the box, or next to it if rows are too low.
    """
    box, theme, active = scene.layout.chips[lane], scene.theme, bool(scene.lanes.row[lane] >= 0)
    painter.setOpacity(scene.strength(lane))
    crowded = scene.label_step > 1
    mark = box._replace(x=box.right - theme.px(MARK), width=theme.px(MARK)) if crowded else box
    _draw_box(painter, scene, lane, mark)
    painter.setOpacity(1.0)
    if lane in scene.labelled:
        text_theme = scene.words(lane)
        ink = text_theme.colour("muted")
        if active and not crowded:
            ink = contrasting(scene.ink, STRONG) if scene.strength(lane) == 1 else text_theme.colour("text")
        room = spread(
            box._replace(width=box.width - theme.px(MARK + 3)) if crowded else box, scene.label_step
        )
        bold = lane == scene.chosen
        write(painter, scene, room, str(lane), ink, RIGHT if crowded else CENTRE, bold=bold)
        _write_words(painter, scene, lane)


def _draw_box(painter: QPainter, scene: WarpScene, lane: int, box: Box) -> None:
    theme, active, chosen = scene.theme, scene.lanes.row[lane] >= 0, lane == scene.chosen
    style = Qt.PenStyle.SolidLine if scene.lanes.present[lane] else Qt.PenStyle.DotLine
    painter.setPen(QPen(theme.colour("text" if chosen else "muted"), 2.0 if chosen else 0.8, style))
    if active and not chosen:
        painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(scene.ink if active else Qt.BrushStyle.NoBrush)
    inside = rect(box, max(0.5, min(1.0, box.height * 0.06)) + 0.5 * chosen)
    painter.drawRoundedRect(inside, theme.px(2), theme.px(2))
    if lane in scene.lanes.outside:
        painter.setPen(QPen(theme.colour("bad"), 2.0))
        painter.drawLine(inside.topLeft(), inside.bottomRight())
        painter.drawLine(inside.bottomLeft(), inside.topRight())


def _write_words(painter: QPainter, scene: WarpScene, lane: int) -> None:
    """Write the element and the address of a lane."""
    layout, theme, gap = scene.layout, scene.words(lane), scene.theme.px(6)
    box, chosen = spread(layout.chips[lane], scene.label_step), lane == scene.chosen
    if scene.lanes.row[lane] < 0:
        outside = scene.lanes.outside.get(lane, "")
        text = "idle" if scene.lanes.present[lane] else theme.translate("no thread")
        text = outside[outside.find("[") :] if outside else text
        room = QRectF(layout.element[0] + gap, box.y(), max(layout.element[1], theme.px(60)), box.height())
        write(painter, scene, room, text, theme.colour("bad" if outside else "muted"), LEFT)
        return
    for (x, width), text, ink in (
        (layout.element, index_text(scene.lanes, lane), "text"),
        (layout.address, address_text(int(scene.lanes.address[lane])), "muted"),
    ):
        if width:
            room = QRectF(x + gap, box.y(), width, box.height())
            write(painter, scene, room, text, theme.colour(ink), LEFT, bold=chosen, mono=True)


def _draw_sectors(painter: QPainter, scene: WarpScene) -> None:
    """Draw the accessed sectors: striped, and solid where lanes use them; brackets join 128-byte lines."""
    theme, layout = scene.theme, scene.layout
    for number, box in layout.targets.items():
        painter.setOpacity(scene.strength(*scene.users(number)))
        draw_wasted(painter, rect(box), theme)
        for piece, part in zip(scene.lanes.touched, layout.slices, strict=True):
            if piece.target == number:
                _draw_used(painter, scene, part, piece.lanes)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.colour("muted"), 1))
        painter.drawRect(rect(box, 0.5))
    painter.setOpacity(1)
    _write_used(painter, scene)
    _draw_lines(painter, scene)


def _draw_used(painter: QPainter, scene: WarpScene, box: Box, lanes: tuple[int, ...]) -> None:
    """Fill the used bytes of a sector, and write the lane or the number of lanes that use them."""
    inset = min(0.5, box.width * 0.06)
    painter.fillRect(rect(box).adjusted(inset, 0, -inset, 0), scene.ink)
    _write_lanes(painter, scene, box, lanes)


def draw_wasted(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Fill a box as bytes that are moved but not used."""
    painter.fillRect(box, theme.colour("badge"))
    stripes(painter, box, mixed(theme.colour("muted"), theme.palette.badge, 0.4), theme.px(5))


def _write_used(painter: QPainter, scene: WarpScene) -> None:
    """Write the used bytes of each sector, if there is room."""
    x, width = scene.layout.note
    line = 1.1 * scene.theme.px(scene.size)
    for number in scene.noted if width else ():
        used = sum(piece.end - piece.first for piece in scene.lanes.touched if piece.target == number)
        room = QRectF(x, scene.layout.targets[number].middle - line / 2, width, line)
        ink = "text" if scene.chosen in scene.users(number) else "muted"
        write(painter, scene, room, f"{used} of {SECTOR}", scene.theme.colour(ink), RIGHT)


def _draw_lines(painter: QPainter, scene: WarpScene) -> None:
    painter.setPen(QPen(scene.theme.colour("muted"), max(1.0, scene.theme.scale * 1.5)))
    for first, last in scene.layout.lines:
        top, bottom = scene.layout.targets[first], scene.layout.targets[last]
        x = top.right + scene.theme.px(3)
        painter.drawLine(QPointF(x, top.y + 1), QPointF(x, bottom.y + bottom.height - 1))


def _draw_banks(painter: QPainter, scene: WarpScene) -> None:
    """Draw the banks; each requested word is a cell, striped if it costs another pass."""
    theme, layout, depth = scene.theme, scene.layout, dict.fromkeys(scene.layout.targets, 0)
    step = label_step(min(layout.targets[0].height, layout.row), theme)
    for bank, box in layout.targets.items():
        painter.setOpacity(1)
        painter.fillRect(rect(box, 0.5), theme.colour("badge"))
        if bank % step == 0 and layout.note[1]:
            room = QRectF(layout.note[0], spread(box, step).y(), layout.note[1], spread(box, step).height())
            write(painter, scene, room, str(bank), theme.colour("muted"), RIGHT)
    for piece, part in zip(scene.lanes.touched, layout.slices, strict=True):
        depth[piece.target] += 1
        painter.setOpacity(scene.strength(*piece.lanes))
        inside = rect(part, min(0.75, part.width * 0.12))
        painter.fillRect(inside, scene.ink)
        if depth[piece.target] > scene.lanes.minimum:
            stripes(painter, inside, mixed(scene.ink, "#000000", 0.5), theme.px(4))
        _write_lanes(painter, scene, part, piece.lanes)
        if scene.chosen in piece.lanes:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour("text"), max(1.5, 1.5 * theme.scale)))
            painter.drawRect(inside)


def _write_lanes(painter: QPainter, scene: WarpScene, box: Box, lanes: tuple[int, ...]) -> None:
    """Write the lane or the number of lanes that access a box, if all such texts fit."""
    if scene.numbers_fit:
        write(
            painter,
            scene,
            rect(box),
            lanes_label(lanes),
            contrasting(scene.ink, STRONG),
            CENTRE,
            bold=len(lanes) > 1,
        )


def _draw_connections(painter: QPainter, scene: WarpScene) -> None:
    """Connect each lane with its accesses; the selected lane and those under the pointer are drawn last."""
    connections = [(lane, index) for index, piece in enumerate(scene.lanes.touched) for lane in piece.lanes]
    for lane, index in sorted(
        connections, key=lambda way: (way[0] in scene.pointed_lanes, way[0] == scene.chosen)
    ):
        is_strong = lane in scene.pointed_lanes or (not scene.highlighted and lane == scene.chosen)
        painter.setOpacity(1.0 if is_strong else 0.8 * scene.strength(lane))
        ink = scene.theme.colour("text") if is_strong else scene.ink
        painter.setPen(QPen(ink, scene.theme.scale * (2.0 if is_strong else 1.0)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(_connection(scene, lane, index))


def _connection(scene: WarpScene, lane: int, index: int) -> QPainterPath:
    """Return the line from a lane's texts to its bank, or into its sector up to its bytes."""
    layout, piece = scene.layout, scene.lanes.touched[index]
    x = layout.address[0] + layout.address[1] + scene.theme.px(4)
    start, stop = (
        QPointF(x, layout.chips[lane].middle),
        QPointF(layout.targets[piece.target].x, scene.height(index)),
    )
    middle = (start.x() + stop.x()) / 2
    path = QPainterPath(start)
    path.cubicTo(QPointF(middle, start.y()), QPointF(middle, stop.y()), stop)
    if scene.lanes.buffer.space == "global":
        path.lineTo(QPointF(layout.slices[index].x, stop.y()))
    return path


def paint_captions(painter: QPainter, scene: WarpScene) -> None:
    """Write the captions above the columns."""
    layout, theme = scene.layout, scene.theme
    caption_height, gap = layout.chips[0].y, theme.px(6)
    names = [(0.0, layout.chips[0].width, "lane", CENTRE)]
    if scene.lanes.kind:
        names.append((layout.element[0] + gap, layout.element[1], buffer_text(scene.lanes.buffer), LEFT))
        names.append((layout.address[0] + gap, layout.address[1], "address", LEFT))
    if layout.targets:
        box = next(iter(layout.targets.values()))
        shared = scene.lanes.buffer.space == "shared"
        names.append((box.x, box.width, "words per bank" if shared else "32-byte sectors", LEFT))
        names.append((*layout.note, "bank" if shared else "used", RIGHT))
    painter.setFont(theme.font(10.5))
    painter.setPen(theme.colour("muted"))
    for x, width, text, side in names:
        if width:
            text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, round(width) + 1)
            painter.drawText(QRectF(x, 0, width, caption_height), side | MIDDLE, text)


def paint_legend(painter: QPainter, scene: WarpScene, box: QRectF) -> None:
    """Draw the legend below the picture."""
    painter.setFont(scene.theme.font(10.5))
    x, side = box.x(), float(scene.theme.px(11))
    for sign, text in _legend(scene):
        sign_box = QRectF(x, box.center().y() - side / 2, side, side)
        width = painter.fontMetrics().horizontalAdvance(text)
        if sign_box.right() + scene.theme.px(5) + width > box.right() + 1:
            return
        _draw_sign(painter, scene, sign, sign_box)
        painter.setPen(scene.theme.colour("muted"))
        text_box = QRectF(sign_box.right() + scene.theme.px(5), box.y(), width + 1, box.height())
        painter.drawText(text_box, MIDDLE | Qt.TextFlag.TextDontClip, text)
        x = text_box.right() + scene.theme.px(12)


def _legend(scene: WarpScene) -> list[tuple[str, str]]:
    """List the signs of the picture with their meanings."""
    if not scene.layout.targets:
        return []
    if scene.lanes.buffer.space == "shared":
        more = [("again", "a word that costs another pass")] if scene.lanes.cost > scene.lanes.minimum else []
        return [("used", "a word"), *more]
    return [("used", "used"), ("wasted", "moved, not used"), ("line", "128-byte line")]


def _draw_sign(painter: QPainter, scene: WarpScene, sign: str, box: QRectF) -> None:
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
